/* SPDX-License-Identifier: MIT */
/*
 * GDAL's own way works on the list of a dataset's files, which for a store is one document and not
 * its data. Here the core does it, which knows the parts of a hierarchy.
 */
#include "driver/whole_stores.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/errors.h"
#include "dataset/gdal_deletions.h"
#include "dataset/levels.h"
#include "geo/group_place.h"
#include "geo/shared_names.h"
#include "multidim/references.h"
#include "store/directories.h"
#include "store/location.h"
#include "store/network.h"
#include "store/open_store.h"
#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/write.h"

namespace zarr3 {

namespace {

/* A node that a name leads to. */
struct Place {
    Hierarchy hierarchy;
    std::string node;
};

} // namespace

/* The root of the hierarchy that the name is or would be in, and the path in it. An archive is
   made, renamed and deleted as a whole; `reads`: nothing is changed there. */
static bool locate(const char *name, Location *location, bool reads = false) {
    if (parse_location(name, location) && location->tail.empty()) {
        location->directory = archive_of(location->directory);
        const bool archive = is_archive(location->directory);
        if (!archive)
            climb_to_root(location);
        if (find_writable_place(&location->directory) || reads ||
            (archive && location->node.empty() && VSIIsLocal(location->directory.c_str())))
            return true;
        CPLError(CE_Failure, CPLE_NotSupported, "%s: %s", shown_name(name).c_str(),
                 kWritablePlaces);
        return false;
    }
    CPLError(CE_Failure, CPLE_IllegalArg, "%s names no node of a Zarr store",
             shown_name(name).c_str());
    return false;
}

static bool open_place(const char *name, Place *place, bool reads = false) {
    Location location;
    if (!locate(name, &location, reads))
        return false;
    zb_error err;
    place->node = location.node;
    if (open_store(location.directory, &place->hierarchy, &err) == ZB_OK &&
        (open_node(place->hierarchy.store.get(), place->node, &err) != nullptr ||
         zb_place_claims_v3(place->hierarchy.store.get(), place->node.c_str())))
        return true;
    /* Before GDAL creates a raster, it deletes the dataset that has its name; for a name with our
       prefix it cannot ask the file system first. */
    if (has_prefix(name) && err.code == ZB_ENOTFOUND)
        CPLDebug("ZARR3", "%s", err.message);
    else
        report(err);
    return false;
}

static CPLErr delete_archive(const std::string &path) {
    if (VSIUnlink(path.c_str()) != 0) {
        CPLError(CE_Failure, CPLE_FileIO, "%s cannot be deleted: %s", path.c_str(),
                 VSIStrerror(errno));
        return CE_Failure;
    }
    remove_sidecars(path);
    return CE_None;
}

CPLErr delete_dataset(const char *name) {
    if (clears_the_way(name))
        return CE_None;
    Place place;
    zb_error err;
    if (!open_place(name, &place))
        return CE_Failure;
    if (is_archive(place.hierarchy.root))
        return delete_archive(place.hierarchy.root);
    zb_hierarchy *hierarchy = place.hierarchy.store.get();
    const NodePtr node = open_node(hierarchy, place.node, nullptr);
    const bool is_member =
        node != nullptr && !place.node.empty() && zb_node_array(node.get()) != nullptr;
    enum zb_code code = node != nullptr ? remove_companions(node, &err) : ZB_OK;
    if (code == ZB_OK && is_member)
        remove_helpers(hierarchy, place.node, helpers_of(node.get()));
    if (code == ZB_OK)
        code = zb_node_delete(hierarchy, place.node.c_str(), &err);
    if (code == ZB_OK && is_member)
        code = repeat_place(hierarchy, parent_path(place.node), false, &err);
    if (code != ZB_OK) {
        report(err);
        return CE_Failure;
    }
    if (!place.node.empty())
        return CE_None;
    const std::string root = place.hierarchy.root;
    place.hierarchy = Hierarchy();
    remove_sidecars(root);
    const std::string other = remove_empty(root);
    if (!other.empty())
        CPLError(CE_Warning, CPLE_AppDefined,
                 "%s is deleted as a Zarr store; the directory stays, for it holds %s", name,
                 other.c_str());
    return CE_None;
}

static bool exists(const std::string &path) {
    VSIStatBufL stat;
    if (!is_url(path))
        return VSIStatExL(path.c_str(), &stat, VSI_STAT_EXISTS_FLAG) == 0;
    enum zb_place found;
    return look_at_place(path, "", &found, nullptr) != ZB_OK || found != ZB_PLACE_EMPTY;
}

static bool is_free(const std::string &path) {
    if (!exists(path))
        return true;
    CPLError(CE_Failure, CPLE_FileIO, "%s exists already, or cannot be looked at",
             shown_name(path).c_str());
    return false;
}

/* Moving a whole store asks the core for nothing. */
static bool may_move(const Place &place) {
    const NodePtr node = open_node(place.hierarchy.store.get(), place.node, nullptr);
    zb_error err;
    if (node == nullptr || zb_node_may_change(node.get(), &err) == ZB_OK)
        return true;
    report(err);
    return false;
}

/* Of a whole store that has been renamed. */
static CPLErr move_sidecars(const std::string &from, const std::string &to) {
    CPLErr result = CE_None;
    for (const std::string &tail : sidecars_of(from)) {
        if (VSIRename((from + tail).c_str(), (to + tail).c_str()) == 0)
            continue;
        CPLError(CE_Failure, CPLE_FileIO, "%s is renamed to %s, but its file %s cannot be: %s",
                 from.c_str(), to.c_str(), (from + tail).c_str(), VSIStrerror(errno));
        result = CE_Failure;
    }
    return result;
}

static CPLErr rename_store(const std::string &from, const std::string &to) {
    if (is_url(from) || is_url(to)) {
        CPLError(CE_Failure, CPLE_NotSupported,
                 "a store in S3 is not renamed; `gdalmanage copy` and `delete` do that in steps");
        return CE_Failure;
    }
    if (is_archive(from) != is_archive(to)) {
        CPLError(CE_Failure, CPLE_NotSupported,
                 "a directory and an archive do not become one another by their name; "
                 "`gdalmanage copy` makes one of the other");
        return CE_Failure;
    }
    if (!is_free(to))
        return CE_Failure;
    if (VSIRename(from.c_str(), to.c_str()) != 0) {
        CPLError(CE_Failure, CPLE_FileIO, "%s cannot be renamed to %s: %s", from.c_str(),
                 to.c_str(), VSIStrerror(errno));
        return CE_Failure;
    }
    return move_sidecars(from, to);
}

static enum zb_code change_references(zb_hierarchy *hierarchy,
                                      const std::vector<NamedBy> &references, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; code == ZB_OK && i < references.size(); i++) {
        NodePtr node = open_node(hierarchy, references[i].path, err);
        code = node == nullptr ? err->code : references[i].changes.apply(&node, err);
    }
    return code;
}

/* Within a hierarchy; an array may be a raster that changes groups. Attributes that name it have no
   words for another group. */
static enum zb_code move_node(zb_hierarchy *hierarchy, const std::string &from,
                              const std::string &to, zb_error *err) {
    const std::string left = parent_path(from), entered = parent_path(to);
    std::vector<NamedBy> references;
    enum zb_code code =
        left == entered ? find_references(hierarchy, from, to, &references, err) : ZB_OK;
    const auto move = [&] { return zb_node_move(hierarchy, from.c_str(), to.c_str(), err); };
    if (code == ZB_OK)
        code = add_raster(hierarchy, entered, move, err);
    if (code == ZB_OK)
        code = change_references(hierarchy, references, err);
    if (code == ZB_OK)
        code = repeat_place(hierarchy, entered, false, err);
    return code == ZB_OK && left != entered ? repeat_place(hierarchy, left, false, err) : code;
}

CPLErr rename_dataset(const char *new_name, const char *old_name) {
    Place place;
    Location target;
    zb_error err;
    if (!open_place(old_name, &place) || !may_move(place) || !locate(new_name, &target))
        return CE_Failure;
    const std::string root = place.hierarchy.root;
    if (place.node.empty() && target.node.empty())
        return rename_store(root, target.directory);
    if (target.directory != root || place.node.empty() || target.node.empty()) {
        CPLError(CE_Failure, CPLE_NotSupported,
                 "%s and %s are in different hierarchies; a copy can go from one to the other",
                 old_name, new_name);
        return CE_Failure;
    }
    zb_hierarchy *hierarchy = place.hierarchy.store.get();
    const NodePtr node = open_node(hierarchy, place.node, nullptr);
    if (node != nullptr && !may_be_renamed(node, target.node, old_name))
        return CE_Failure;
    if (move_node(hierarchy, place.node, target.node, &err) == ZB_OK)
        return CE_None;
    report(err);
    return CE_Failure;
}

/* Of one whole store to another. */
static CPLErr copy_sidecars(const std::string &from, const std::string &to) {
    if (!has_place_beside(from) || !has_place_beside(to))
        return CE_None;
    for (const std::string &tail : sidecars_of(from)) {
        if (CPLCopyFile((to + tail).c_str(), (from + tail).c_str()) != 0) {
            CPLError(CE_Failure, CPLE_FileIO, "%s cannot be copied to %s", (from + tail).c_str(),
                     (to + tail).c_str());
            return CE_Failure;
        }
    }
    return CE_None;
}

/* Where a store is made by opening it. */
static bool makes_itself(const std::string &directory) {
    return is_url(directory) || becomes_archive(directory);
}

/* A directory for a whole store; elsewhere nothing has to be made. */
static bool make_place(const Location &target) {
    if (!target.node.empty())
        return true;
    if (!is_free(target.directory))
        return false;
    if (makes_itself(target.directory) || VSIMkdir(target.directory.c_str(), 0777) == 0)
        return true;
    CPLError(CE_Failure, CPLE_FileIO, "the directory %s cannot be made: %s",
             target.directory.c_str(), VSIStrerror(errno));
    return false;
}

/* A copy within a hierarchy may be another raster of its group. */
static enum zb_code copy_node(const Place &from, zb_hierarchy *to, const std::string &path,
                              zb_error *err) {
    const std::string entered = parent_path(path);
    const auto copy = [&] {
        return zb_node_copy(from.hierarchy.store.get(), from.node.c_str(), to, path.c_str(), err);
    };
    if (path.empty())
        return copy();
    const enum zb_code code = add_raster(to, entered, copy, err);
    return code == ZB_OK ? repeat_place(to, entered, false, err) : code;
}

CPLErr copy_dataset(const char *new_name, const char *old_name) {
    Place place;
    Location target;
    Hierarchy to;
    zb_error err;
    if (!open_place(old_name, &place, true) || !locate(new_name, &target) || !make_place(target))
        return CE_Failure;
    const bool itself = makes_itself(target.directory);
    enum zb_code code = open_store(target.directory, &to, &err, itself);
    if (code == ZB_OK)
        code = copy_node(place, to.store.get(), target.node, &err);
    if (code == ZB_OK)
        code = zb_hierarchy_commit(to.store.get(), &err);
    if (code == ZB_OK)
        return place.node.empty() && target.node.empty()
                   ? copy_sidecars(place.hierarchy.root, target.directory)
                   : CE_None;
    report(err);
    /* The core has taken away what it had copied: the directory is left. */
    if (target.node.empty() && !itself) {
        to = Hierarchy();
        VSIRmdirRecursive(target.directory.c_str());
    }
    return CE_Failure;
}

} // namespace zarr3
