/* SPDX-License-Identifier: MIT */
/*
 * GDAL asks each driver in turn and stops at the first error, so that names that are not of Zarr
 * version 3 must be declined in silence. Once a document says "zarr_format": 3 the name is ours,
 * and a fault of it is an error with its reason. Version 2 is left to GDAL's own driver, unless
 * that is not there or does not have the codecs.
 */
#include "dataset/open.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "array/attributes.h"
#include "base/errors.h"
#include "dataset/dataset.h"
#include "dataset/gdal_deletions.h"
#include "dataset/own_driver.h"
#include "dataset/subdatasets.h"
#include "dataset/wrong_names.h"
#include "store/unwritten_places.h"
#include "options/creation_options.h"
#include "store/location.h"
#include "store/network.h"
#include "store/open_store.h"
#include "store/vsi_store.h"

#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

namespace zarr3 {

static bool is_there(const std::string &path) {
    VSIStatBufL stat;
    return VSIStatExL(path.c_str(), &stat, VSI_STAT_EXISTS_FLAG) == 0;
}

/* The root first, whose document the opening asks for, too; a store may have none. */
static bool has_document(const char *name) {
    Location location;
    if (!parse_location(name, &location))
        return false;
    if (split_archive(&location.directory, &location.node))
        return true;
    climb_to_root(&location, false);
    if (is_archive(location.directory))
        return is_there(location.directory);
    return is_there(file_in(location.directory, "zarr.json")) ||
           (!location.node.empty() && is_there(file_in(name, "zarr.json"))) ||
           holds_v2(location.directory.c_str());
}

/* A name that leads nowhere for GDAL: on a server, or in an archive. */
static bool may_have_document(const std::string &name) {
    return names_store(name) || archive_end(name, 0) != std::string::npos;
}

/* A URL is known by its words, so that no host is contacted for what may be none of our business; a
   virtual path of a server that lists nothing looks like a missing file. */
static bool is_ours(GDALOpenInfo *info) {
    if (has_prefix(info->pszFilename))
        return true;
    if (is_url(info->pszFilename))
        return names_store(info->pszFilename);
    if (!info->bIsDirectory && info->nHeaderBytes == 0)
        return may_have_document(info->pszFilename) && has_document(info->pszFilename);
    if (info->bIsDirectory)
        return is_there(file_in(info->pszFilename, "zarr.json"));
    if (info->nHeaderBytes > 0 && EQUAL(CPLGetFilename(info->pszFilename), "zarr.json"))
        return true;
    /* It begins with "PK", or with a program in front of it. */
    return info->nHeaderBytes > 4 &&
           zb_name_is_archive(info->pszFilename, strlen(info->pszFilename)) &&
           (names_store(info->pszFilename) || is_zarr_archive(info->pszFilename));
}

int identify(GDALOpenInfo *info) {
    zb_error why;
    const bool ours = is_ours(info);
    if (ours)
        note_identified(info->pszFilename);
    else if (is_wrong_name(info, &why))
        return TRUE;
    const bool is_document = info->nHeaderBytes > 0 && names_document(info->pszFilename);
    if (!ours && (is_document || (info->bIsDirectory && holds_v2(info->pszFilename))))
        return has_own_driver(info) ? GDAL_IDENTIFY_UNKNOWN : TRUE;
    return ours;
}

/* A name without our prefix that leads to version 2. On a network the arrays of a group are not
   opened only to be left to another driver. That one opens no archive by its own name. */
static bool is_for_own_driver(GDALOpenInfo *info, const Hierarchy &hierarchy, const zb_node *node) {
    const bool is_group = zb_node_array(node) == nullptr;
    return zb_node_format(node) == 2 && has_own_driver(info) && !is_archive(hierarchy.root) &&
           ((is_group && STARTS_WITH(hierarchy.root.c_str(), "/vsi")) || own_driver_decodes(node));
}

/* The one form of error for nodes that are readable Zarr but cannot be shown. */
static void refuse(const Hierarchy &hierarchy, const zb_node *node, const std::string &reason) {
    CPLError(CE_Failure, CPLE_NotSupported, "store %s, %s /%s: %s",
             shown_name(hierarchy.root).c_str(), zb_node_array(node) != nullptr ? "array" : "group",
             zb_node_path(node), reason.c_str());
}

/* A group whose children are all coarse or fine versions of one image stands for the finest. So
   does an OME-NGFF group, whatever else it has. Listing reads the document of each node: on a
   network that is left out. */
static NodePtr enter_pyramid(const Hierarchy &hierarchy, const NodePtr &group) {
    NearbyNodes around(group.get());
    const std::vector<std::vector<std::string>> pyramids = group_pyramids(group.get(), around);
    if (pyramids.size() != 1)
        return group;
    const std::string path = join_path(zb_node_path(group.get()), pyramids[0][0]);
    Listing listing;
    if (attribute(group.get(), "ome") == nullptr && is_local_place(hierarchy.root) &&
        list_arrays(group, &listing, nullptr) == ZB_OK && listing.rasters.size() > 1)
        return group;
    const bool is_listed =
        listing.rasters.size() == 1 && zb_node_path(listing.rasters[0].get()) == path;
    const NodePtr finest =
        is_listed ? listing.rasters[0] : open_node(hierarchy.store.get(), path, nullptr);
    return finest != nullptr && zb_node_array(finest.get()) != nullptr ? finest : group;
}

/* Statistics of slices are statistics of different pixels. */
static std::string sidecar_name(const NodePtr &node, const IndexRanges &indices) {
    return slice_name(zb_node_path(node.get()), indices);
}

/* What is set in a dataset is stored when it is closed, which most programs do not see fail. So
   rights that are missing are told before. */
static bool has_rights(const Hierarchy &hierarchy, const std::string &below) {
    zb_error err;
    const std::string path = below.empty() ? hierarchy.root : join_path(hierarchy.root, below);
    if (!is_on_disk(hierarchy.root) || zb_path_may_write(path.c_str(), &err) == ZB_OK)
        return true;
    report(err);
    return false;
}

namespace {

/* The state of one call of open(). */
struct Opening {
    Hierarchy hierarchy;
    ArrayOptions options;
    NodePtr named; /* for whose directory, and the root's, open_name() has asked */
    bool multiband = true;
    bool list_all = false;

    GDALDataset *array(const NodePtr &node, const Listing &listing) const;
    GDALDataset *group(const NodePtr &node) const;
};

} // namespace

GDALDataset *Opening::array(const NodePtr &node, const Listing &listing) const {
    std::string reason;
    if (options.update && node != named && !has_rights(hierarchy, zb_node_path(node.get())))
        return nullptr;
    /* Slices are listed instead of opened; each name leads back here with its indices. */
    if (!multiband && options.pinned.empty() && zb_node_array(node.get())->ndim > 2) {
        auto slices = std::make_unique<Zarr3ListDataset>(hierarchy, node);
        if (describe_slices(hierarchy, node, options, &slices->metadata(), &reason))
            return slices.release();
        refuse(hierarchy, node.get(), reason);
        return nullptr;
    }
    std::unique_ptr<Zarr3Dataset> dataset = Zarr3Dataset::make(hierarchy, node, options, &reason);
    if (dataset == nullptr) {
        refuse(hierarchy, node.get(), reason);
        return nullptr;
    }
    describe_unreadable(listing, &dataset->metadata());
    dataset->use_sidecar(sidecar_name(node, options.pinned));
    return dataset.release();
}

GDALDataset *Opening::group(const NodePtr &node) const {
    Listing listing;
    zb_error err;
    if (list_arrays(node, &listing, &err) != ZB_OK) {
        report(err);
        return nullptr;
    }
    /* A group that has only coordinate arrays shows these. */
    const auto &rasters = listing.rasters.empty() ? listing.helpers : listing.rasters;
    if (rasters.size() == 1 && !list_all)
        return array(rasters[0], listing);
    if (rasters.empty() && (listing.small.empty() || !list_all)) {
        std::string reason = "holds no array of two or more dimensions";
        if (!listing.small.empty())
            reason += " (LIST_ALL_ARRAYS=YES shows smaller ones)";
        if (!listing.unreadable.empty())
            reason += "; /" + listing.unreadable[0].first + ": " + listing.unreadable[0].second;
        refuse(hierarchy, node.get(), reason);
        return nullptr;
    }
    auto container = std::make_unique<Zarr3ListDataset>(hierarchy, node);
    add_attributes(node.get(), "", &container->metadata());
    describe_listing(hierarchy, listing, list_all, &container->metadata());
    if (listing.cut)
        CPLError(CE_Warning, CPLE_AppDefined, "store %s: only a part of its arrays is listed",
                 shown_name(hierarchy.root).c_str());
    return container.release();
}

/* False, with an error, where the core cannot write. The lock that changes of documents take is in
   the root; a group may stand for an array, whose directory is asked for when it is known. */
static bool may_update(const Hierarchy &hierarchy, const zb_node *node, CSLConstList open_options,
                       zb_write_options *write) {
    zb_error err;
    if (zb_node_may_change(node, &err) != ZB_OK) {
        report(err);
        return false;
    }
    std::string reason = kWritablePlaces;
    if (is_writable_place(hierarchy.root) && parse_sync(open_options, write, &reason)) {
        const std::string below = zb_node_path(node);
        return has_rights(hierarchy, "") && (below.empty() || has_rights(hierarchy, below));
    }
    refuse(hierarchy, node, reason);
    return false;
}

/* The numbers behind a node's name as indices. */
static bool parse_slice(const std::vector<std::string> &numbers, IndexRanges *indices,
                        zb_error *err) {
    for (const std::string &number : numbers) {
        IndexRange range(0);
        if (!parse_range(number, &range)) {
            zb_fail(err, ZB_EINVAL,
                    "the index %s in the name: indices count from 0 upwards, ranges of them are "
                    "FIRST-LAST",
                    number.c_str());
            return false;
        }
        indices->push_back(range);
    }
    return true;
}

/* True if the node is an array whose slices have that many indices. */
static bool has_slices(const zb_node *node, size_t count) {
    const zb_array_info *info = zb_node_array(node);
    return info != nullptr && info->ndim == count + 2;
}

/* A server that has not answered a request in all of its tries and its time would not answer the
   next one: an opening waits for it once. */
static bool has_given_up(const zb_error &err) {
    return err.code == ZB_EIO && err.sys_errno == EREMOTEIO;
}

/* "t:1" may be an array of that name, and a slice of the array "t". The one that is there is meant;
   a name for which both are there is an error. */
static NodePtr open_named(zb_hierarchy *hierarchy, const Location &location, IndexRanges *indices,
                          zb_error *err) {
    const std::vector<std::string> &tail = location.tail;
    NodePtr found;
    std::string found_path;
    for (size_t named = location.closed ? 0 : tail.size();; named--) {
        std::string path = location.node;
        for (size_t i = 0; i < named; i++)
            path += ":" + tail[i];
        zb_error missing = {};
        const NodePtr node = open_shown(hierarchy, path, &missing);
        if (found == nullptr && node != nullptr) {
            if (!parse_slice({tail.begin() + static_cast<std::ptrdiff_t>(named), tail.end()},
                             indices, err))
                return nullptr;
            found = node;
            found_path = path;
        } else if (node != nullptr && has_slices(node.get(), tail.size() - named)) {
            zb_fail(err, ZB_EINVAL,
                    "%s: there is a node /%s and a slice of /%s; /%s/ names the one, /%s/:... the "
                    "other",
                    shown_name(location.directory).c_str(), found_path.c_str(), path.c_str(),
                    found_path.c_str(), path.c_str());
            return nullptr;
        }
        if (named == 0 || has_given_up(missing)) {
            if (found == nullptr)
                *err = missing;
            return found;
        }
    }
}

/* On the web, which lists nothing, the root's consolidated metadata answer for all that is below
   from here on; but a node that a user names may be one that they do not have. Then they are old,
   or of a part. */
static NodePtr open_listed(const Hierarchy &hierarchy, const Location &location,
                           IndexRanges *indices, zb_error *err) {
    zb_hierarchy *store = hierarchy.store.get();
    const bool trusts = is_on_web(hierarchy.root);
    zb_hierarchy_trust_list(store, trusts);
    const NodePtr node = open_named(store, location, indices, err);
    if (node != nullptr || !trusts || err->code != ZB_ENOTFOUND)
        return node;
    zb_hierarchy_trust_list(store, false);
    *err = {};
    return open_named(store, location, indices, err);
}

/* The array that a directory is by itself, asked for by its own name: x.zarr:/x. Null for all else,
   with *err as it was. */
static NodePtr open_itself(const Hierarchy &hierarchy, const Location &location,
                           const std::string &below, IndexRanges *indices) {
    const std::string &entry = hierarchy.entry;
    if (below != (entry.empty() ? name_of_root(hierarchy.root) : last_part(entry)))
        return nullptr;
    Location itself = location;
    itself.node = entry;
    itself.closed = true; /* its name has been taken off, so the rest is a slice */
    zb_error err = {};
    const NodePtr node = open_named(hierarchy.store.get(), itself, indices, &err);
    return node != nullptr && zb_node_array(node.get()) != nullptr ? node : nullptr;
}

/* Opens the store and the node. Null with *silent set when it is not for us. */
static NodePtr find_node(GDALOpenInfo *info, Location *location, Hierarchy *hierarchy,
                         IndexRanges *indices, bool *silent) {
    const bool certain = has_prefix(info->pszFilename) || is_url(info->pszFilename);
    zb_error err = {};
    const std::string below = location->node;
    if (!is_archive(location->directory) && !split_archive(&location->directory, &location->node))
        climb_to_root(location, info->eAccess != GA_Update);
    NodePtr node;
    const enum zb_code code = open_store(location->directory, hierarchy, &err);
    if (code == ZB_OK) {
        hierarchy->given = location->given;
        hierarchy->entry = location->node.substr(0, location->node.size() - below.size());
        if (!below.empty() && !hierarchy->entry.empty())
            hierarchy->entry.pop_back(); /* the slash before the part after the colon */
        /* On a network the root first: its consolidated metadata saves the other requests. */
        const bool is_below = !location->node.empty(),
                   root_first = is_url(location->directory) || names_store(location->directory);
        if (is_below && root_first)
            hierarchy->opened = open_node(hierarchy->store.get(), "", &err);
        if (!has_given_up(err)) {
            err = {};
            node = open_listed(*hierarchy, *location, indices, &err);
        }
        /* It may stand in the root's consolidated metadata alone. */
        if (node == nullptr && err.code == ZB_ENOTFOUND && is_below && !root_first &&
            open_node(hierarchy->store.get(), "", nullptr) != nullptr)
            node = open_named(hierarchy->store.get(), *location, indices, &err);
        if (node == nullptr && err.code == ZB_ENOTFOUND && !below.empty())
            node = open_itself(*hierarchy, *location, below, indices);
    }
    if (node != nullptr && (certain || !is_for_own_driver(info, *hierarchy, node.get())))
        return node;
    *silent =
        node != nullptr || (!certain && err.sys_errno != EACCES &&
                            (code != ZB_OK || has_given_up(err) ||
                             !zb_place_claims_v3(hierarchy->store.get(), location->node.c_str())));
    if (!*silent)
        report(err);
    return nullptr;
}

static constexpr char kUnwritten[] = "this program has just created it, and has written nothing to "
                                     "it yet; a raster cannot be made of "
                                     "the one that it takes the place of";

bool open_name(GDALOpenInfo *info, Opened *opened) {
    zb_error why;
    if (!identify(info))
        return false;
    if (!is_ours(info) && is_wrong_name(info, &why)) {
        report(why);
        return false;
    }
    check_open_options(info);
    Location location;
    if (!parse_location(info->pszFilename, &location)) {
        CPLError(CE_Failure, CPLE_OpenFailed,
                 "%s is not of the form ZARR3:\"path\":/array or ZARR3:\"path\":/array:index",
                 shown_name(info->pszFilename).c_str());
        return false;
    }
    adopt_thread_count();
    bool silent = false;
    opened->update = info->eAccess == GA_Update;
    opened->node = find_node(info, &location, &opened->hierarchy, &opened->pinned, &silent);
    if (opened->node == nullptr)
        return false;
    if (!opened->update && is_unwritten(opened->hierarchy.root, zb_node_path(opened->node.get()))) {
        refuse(opened->hierarchy, opened->node.get(), kUnwritten);
        return false;
    }
    opened->shows_shards =
        EQUAL(CSLFetchNameValueDef(info->papszOpenOptions, "SHOW", "CHUNKS"), "SHARDS");
    return !opened->update || may_update(opened->hierarchy, opened->node.get(),
                                         info->papszOpenOptions, &opened->write);
}

GDALDataset *open(GDALOpenInfo *info) {
    Opened opened;
    if (!open_name(info, &opened))
        return nullptr;
    Opening opening;
    opening.hierarchy = opened.hierarchy;
    opening.named = opened.node;
    if (zb_node_array(opened.node.get()) == nullptr)
        opening.hierarchy.opened = opened.node;
    opening.options.pinned = opened.pinned;
    opening.options.update = opened.update;
    opening.options.write = opened.write;
    if (const char *given = CSLFetchNameValue(info->papszOpenOptions, "DIM_X"))
        opening.options.dim_x = given;
    if (const char *given = CSLFetchNameValue(info->papszOpenOptions, "DIM_Y"))
        opening.options.dim_y = given;
    opening.options.ome_place = CPLFetchBool(info->papszOpenOptions, "OME_PLACE", false);
    opening.options.shows_shards = opened.shows_shards;
    opening.multiband = CPLFetchBool(info->papszOpenOptions, "MULTIBAND", true);
    opening.list_all = CPLFetchBool(info->papszOpenOptions, "LIST_ALL_ARRAYS", false);
    const NodePtr target = enter_pyramid(opening.hierarchy, opened.node);
    std::unique_ptr<GDALDataset> dataset(zb_node_array(target.get()) != nullptr
                                             ? opening.array(target, Listing())
                                             : opening.group(target));
    if (dataset != nullptr)
        dataset->SetDescription(info->pszFilename);
    return dataset.release();
}

} // namespace zarr3
