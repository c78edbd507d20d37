/* SPDX-License-Identifier: MIT */
/*
 * An old store must not be lost to a copy that fails half-way, and a half copy must not stay. So a
 * copy of a whole raster is made in a directory beside its place (sys/aside.h), and the two change
 * places when it is complete: in one step where the file system can exchange names.
 *
 * Inside a hierarchy a group that takes the place of another one is made beside it, as a node
 * "NAME.<process>-<number>.zarr3-new", which other programs see. When it is complete the old one is
 * deleted and the new one moved: in between there is none. A process that is killed leaves it
 * there, and it stays, since it may be all that is left.
 *
 * Where nothing was before, and in GDAL's memory files, the group is made in its place. So it is in
 * S3, where nothing can be renamed: what was there goes first.
 *
 * A zip archive is made by the core, which puts it into its place when it is committed.
 */
#include "create/destination.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "cpl_conv.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "dataset/levels.h"
#include "base/entry.h"
#include "geo/cf_group.h"
#include "geo/group_place.h"
#include "geo/shared_names.h"
#include "store/directories.h"
#include "store/location.h"
#include "store/network.h"
#include "store/open_store.h"
#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/write.h"

namespace zarr3 {

static bool is_virtual(const std::string &path) {
    return STARTS_WITH(path.c_str(), "/vsi");
}

static bool is_directory(const std::string &path, bool *exists) {
    VSIStatBufL stat;
    *exists = VSIStatL(path.c_str(), &stat) == 0;
    return *exists && VSI_ISDIR(stat.st_mode);
}

/* Programs make one to have a name for themselves (rasterio's MemoryFile). */
static bool is_empty_file(const std::string &path) {
    VSIStatBufL stat;
    return VSIStatL(path.c_str(), &stat) == 0 && VSI_ISREG(stat.st_mode) && stat.st_size == 0;
}

/* The root of the hierarchy that the name is or would be in, and the group in it. */
bool Destination::locate(const char *name, std::string *reason) {
    Location location;
    if (!parse_location(name, &location) || !location.tail.empty()) {
        *reason = "a new raster's name is a path, or ZARR3:\"path\":/group";
        return false;
    }
    location.directory = archive_of(location.directory);
    is_archive_ = becomes_archive(location.directory);
    const bool is_whole = location.node.empty(); /* an archive's nodes are not changed */
    if (!is_archive_ && is_whole)
        is_archive_ = split_new_archive(location.directory, &location.directory, &location.node);
    if (!is_archive_)
        climb_to_root(&location);
    root_ = location.directory;
    place_ = node_ = location.node;
    if (is_archive_ ? is_whole : find_writable_place(&root_))
        return true;
    *reason = kWritablePlaces;
    return false;
}

bool Destination::find(const char *name, std::string *reason) {
    if (!locate(name, reason))
        return false;
    zb_error err;
    enum zb_place found = ZB_PLACE_EMPTY;
    enum zb_code code = look_at_place(root_, node_, &found, &err);
    if (code == ZB_OK && found == ZB_PLACE_OTHER)
        code = zb_destination_refuse(&err);
    replaces_ = found == ZB_PLACE_NODE;
    if (code != ZB_OK)
        *reason = err.message;
    /* The directory that a link points at is replaced, not the link. */
    char resolved[PATH_MAX];
    struct stat info;
    if (!is_archive_ && is_on_disk(root_) && lstat(root_.c_str(), &info) == 0 &&
        S_ISLNK(info.st_mode) && realpath(root_.c_str(), resolved) != nullptr)
        root_ = resolved;
    return code == ZB_OK;
}

/* A document that cannot be opened counts, too. */
static bool is_there(zb_hierarchy *hierarchy, const std::string &path) {
    enum zb_place found;
    return zb_place_look(hierarchy, path.c_str(), &found, nullptr) == ZB_OK &&
           found == ZB_PLACE_NODE;
}

/* Nodes below the place, files of others and what cannot be looked at count, too. */
static bool is_free(zb_hierarchy *hierarchy, const std::string &path, std::string *reason) {
    zb_error err;
    enum zb_place found = ZB_PLACE_EMPTY;
    enum zb_code code = zb_place_look(hierarchy, path.c_str(), &found, &err);
    if (code == ZB_OK && found == ZB_PLACE_EMPTY)
        return true;
    if (code == ZB_OK && found == ZB_PLACE_OTHER)
        code = zb_destination_refuse(&err);
    *reason = "/" + path + (code == ZB_OK ? " exists already" : std::string(": ") + err.message);
    return false;
}

/* A group that is there, with nothing of that name in it. */
bool Destination::find_room(const char *name, const std::string &node, std::string *reason) {
    if (!locate(name, reason))
        return false;
    zb_error err = {};
    NodePtr group;
    if (open_store(root_, &hierarchy_, &err) == ZB_OK)
        group = open_node(hierarchy_.store.get(), node_, &err);
    if (group == nullptr) {
        *reason = std::string("there is no Zarr version 3 group to append to: ") + err.message;
        return false;
    }
    if (zb_node_array(group.get()) != nullptr) {
        *reason = "it is an array, and arrays are appended to groups";
        return false;
    }
    return is_free(hierarchy_.store.get(), join_path(node_, node), reason);
}

bool Destination::find_new_group(const char *name, const std::string &group, std::string *reason) {
    if (!find_room(name, group, reason))
        return false;
    if (is_archive_) {
        *reason = "what is in an archive is not changed";
        return false;
    }
    place_ = node_ = join_path(node_, group);
    joins_ = true;
    return true;
}

bool Destination::find_group(const char *name, const std::string &array, std::string *reason) {
    if (!find_room(name, array, reason))
        return false;
    zb_hierarchy *hierarchy = hierarchy_.store.get();
    for (const std::string &other : own_helpers(array)) {
        if (is_there(hierarchy, join_path(node_, other))) {
            *reason = "/" + join_path(node_, other) + " exists; another ARRAY_NAME is needed";
            return false;
        }
    }
    for (const std::vector<std::string> &names : {own_helpers(array), shared_helpers()}) {
        for (const std::string &other : names) {
            if (!is_there(hierarchy, join_path(node_, other)))
                helpers_.push_back(join_path(node_, other));
        }
    }
    array_ = array;
    return true;
}

/* Names of files have no such bounds. */
static bool may_be_name(const std::string &name) {
    const bool has_odd = std::any_of(name.begin(), name.end(), [](char letter) {
        return letter == '\\' || static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
    });
    return !has_odd && CPLIsUTF8(name.c_str(), -1) && name[0] != '.' &&
           !STARTS_WITH(name.c_str(), "__");
}

std::string Destination::array_name() const {
    std::string name = node_.empty() ? name_of_root(root_) : last_part(node_);
    if (is_archive_ && EQUAL(CPLGetExtension(name.c_str()), "zarr")) /* a store's folder in it */
        name = CPLGetBasename(name.c_str());
    for (const char *taken : {"", "x", "y", "band", "spatial_ref", "zarr.json"}) {
        if (name == taken)
            return "data";
    }
    return may_be_name(name) ? name : "data";
}

bool Destination::is_emptied_by_copies() const {
    return replaces_ && !is_archive_ && !is_on_disk(root_);
}

bool Destination::has(const std::string &file) const {
    const std::string whole = shown_name(root_);
    return file == whole || STARTS_WITH(file.c_str(), (whole + "/").c_str());
}

static std::string parent_directory(const std::string &path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

/* ---- Making ---- */

/* Before the new store is opened: where nothing is, it is not seen until it is complete. */
static enum zb_code clear_bucket(const std::string &root, zb_error *err) {
    Hierarchy old;
    const enum zb_code code = open_store(root, &old, err);
    return code == ZB_OK ? delete_node(old.store.get(), "", err) : code;
}

/* What making a group makes above it: not what has files of others, or cannot be looked at. In S3
   it would be a request for each. */
void Destination::remember_missing() {
    for (std::string path = is_url(root_) ? "" : place_; !path.empty();) {
        path = parent_path(path);
        enum zb_place place;
        if (zb_place_look(hierarchy_.store.get(), path.c_str(), &place, nullptr) != ZB_OK ||
            place != ZB_PLACE_EMPTY)
            break;
        missing_.push_back(path);
    }
}

/* Those that are still without content: another program may have put something into them. */
void Destination::remove_missing() {
    zb_hierarchy *hierarchy = hierarchy_.store.get();
    for (const std::string &path : missing_) {
        const NodePtr group = open_node(hierarchy, path, nullptr);
        Children children;
        if (group == nullptr || children.list(group.get(), nullptr) != ZB_OK ||
            children.begin() != children.end() || delete_node(hierarchy, path, nullptr) != ZB_OK)
            break;
    }
}

/* It may have been a raster of the group above. */
enum zb_code Destination::old_has_gone(zb_error *err) {
    return node_.empty() ? ZB_OK
                         : repeat_place(hierarchy_.store.get(), parent_path(node_), false, err);
}

enum zb_code Destination::clear_place(zb_error *err) {
    const enum zb_code code = delete_node(hierarchy_.store.get(), place_, err);
    return code == ZB_OK && replaces_ && place_ == node_ ? old_has_gone(err) : code;
}

/* Another program may have made what is there now; in a bucket an error does not tell. What joins
   others found its place free, and owns nothing before the group is its own. */
enum zb_code Destination::make_group(zb_error *err) {
    zb_node *group = nullptr;
    const enum zb_code code =
        zb_group_create(hierarchy_.store.get(), place_.c_str(), nullptr, &group, err);
    zb_node_release(group);
    const bool may_be_others = joins_ || code == ZB_ECONFLICT || is_url(root_);
    made_ = code == ZB_OK || staging_.path != nullptr || !may_be_others;
    return code;
}

enum zb_code Destination::make(bool staging, enum zb_sync sync, zb_error *err) {
    if (appends()) {
        zb_hierarchy_set_sync(hierarchy_.store.get(), sync);
        return ZB_OK;
    }
    const std::string name = last_part(root_);
    const bool has_name = !name.empty() && name != "." && name != "..";
    enum zb_code code = ZB_OK;
    if (staging && node_.empty() && is_on_disk(root_) && !is_archive_ && has_name) {
        code = zb_staging_make(root_.c_str(), true, &staging_, err);
        if (code == ZB_OK)
            code = open_store(staging_.path, &hierarchy_, err);
    } else {
        if (!is_archive_ && is_empty_file(root_))
            VSIUnlink(root_.c_str());
        if (!is_archive_ && is_virtual(root_) && VSIMkdir(root_.c_str(), 0777) != 0 &&
            errno != EEXIST)
            return zb_fail_errno(err, errno, "cannot make the directory '%s'", root_.c_str());
        if (is_url(root_) && replaces_ && node_.empty())
            code = clear_bucket(root_, err);
        if (code == ZB_OK)
            code = open_store(root_, &hierarchy_, err, true);
        if (staging && replaces_ && !node_.empty() && is_on_disk(root_))
            place_ = node_ + "." + staging_suffix();
        if (code == ZB_OK) {
            remember_missing();
            zb_hierarchy_set_sync(hierarchy_.store.get(), sync);
            code = joins_ ? ZB_OK : clear_place(err);
        }
    }
    return code == ZB_OK ? make_group(err) : code;
}

static void warn_of_rest(const std::string &root, const std::string &node, const zb_error &err) {
    CPLError(CE_Warning, CPLE_FileIO,
             "a part of the raster stays at %s, /%s, and has to be deleted: %s",
             shown_name(root).c_str(), node.c_str(), err.message);
}

/* The array last: as long as it is there, what lies beside it has an owner. */
void Destination::take_back() {
    zb_hierarchy *hierarchy = hierarchy_.store.get();
    const std::string path = join_path(node_, array_);
    const NodePtr array = open_node(hierarchy, path, nullptr);
    if (array != nullptr)
        remove_companions(array, nullptr);
    remove_helpers(hierarchy, path, helpers_);
    zb_error err;
    if (delete_node(hierarchy, path, &err) != ZB_OK)
        warn_of_rest(root_, path, err);
    repeat_place(hierarchy, node_, false, nullptr);
}

Destination::~Destination() {
    try {
        if (made_ && appends()) {
            take_back();
        } else if (staging_.path != nullptr) {
            hierarchy_ = Hierarchy();
            zb_staging_remove(&staging_);
        } else if (made_ && hierarchy_.store != nullptr) {
            zb_error err;
            const std::string made =
                is_archive_ ? "" : place_; /* an archive goes with its folders */
            if (delete_node(hierarchy_.store.get(), made, &err) != ZB_OK)
                warn_of_rest(root_, place_, err);
            else if (!is_archive_)
                remove_missing();
            if (!is_archive_)
                remove_empty(root_);
        }
    } catch (...) {
        report_exception();
    }
}

/* ---- Replacing ---- */

/* The old store goes. Files that belong to no node are the user's and move to the new one. */
static void dismantle(const std::string &from, const std::string &to) {
    Hierarchy old;
    if (open_store(from, &old, nullptr) == ZB_OK)
        zb_node_delete(old.store.get(), "", nullptr);
    old = Hierarchy();
    for (std::string name = remove_empty(from), last; !name.empty() && name != last;
         name = remove_empty(from)) {
        bool exists;
        is_directory(file_in(to, name), &exists);
        if (exists || VSIRename(file_in(from, name).c_str(), file_in(to, name).c_str()) != 0)
            break;
        last = name;
    }
    bool exists;
    if (!is_directory(from, &exists))
        return;
    /* Under another name, because directories with a name of ours are removed one day. */
    const std::string kept = to + ".before";
    const bool renamed = rename(from.c_str(), kept.c_str()) == 0;
    CPLError(CE_Warning, CPLE_FileIO, "what is left of the store before is in %s",
             renamed ? kept.c_str() : from.c_str());
}

static enum zb_code fail_to_replace(const std::string &staging, const std::string &root, int reason,
                                    zb_error *err) {
    return zb_fail_errno(err, reason, "'%s' cannot take the place of '%s'", staging.c_str(),
                         root.c_str());
}

/* In two steps; killed in between, the old store is there under its other name. */
static enum zb_code take_place_by_steps(const std::string &staging, const std::string &root,
                                        zb_error *err) {
    const std::string away = staging + ".old";
    if (rename(root.c_str(), away.c_str()) != 0)
        return fail_to_replace(staging, root, errno, err);
    if (rename(staging.c_str(), root.c_str()) == 0) {
        dismantle(away, root);
        return ZB_OK;
    }
    const enum zb_code code = fail_to_replace(staging, root, errno, err);
    if (rename(away.c_str(), root.c_str()) != 0)
        zb_error_prefix(err, code, "the old store is at '%s' now, and has to be renamed back",
                        away.c_str());
    return code;
}

/* The old store gives way to the new one. */
static enum zb_code take_place(const std::string &staging, const std::string &root, zb_error *err) {
    bool exists;
    if (is_empty_file(root))
        VSIUnlink(root.c_str());
    is_directory(root, &exists);
    if (!exists)
        return rename(staging.c_str(), root.c_str()) == 0
                   ? ZB_OK
                   : fail_to_replace(staging, root, errno, err);
    if (renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, root.c_str(), RENAME_EXCHANGE) == 0) {
        dismantle(staging, root);
        return ZB_OK;
    }
    return errno == EINVAL || errno == ENOSYS ? take_place_by_steps(staging, root, err)
                                              : fail_to_replace(staging, root, errno, err);
}

/* A node that others see no more is deleted, even where files of it stay on the disk. */
static enum zb_code clear_node(zb_hierarchy *hierarchy, const std::string &path, zb_error *err) {
    const enum zb_code code = delete_node(hierarchy, path, err);
    enum zb_place found;
    if (code == ZB_OK || zb_place_look(hierarchy, path.c_str(), &found, nullptr) != ZB_OK ||
        found != ZB_PLACE_EMPTY)
        return code;
    CPLError(CE_Warning, CPLE_FileIO, "%s", err->message);
    return ZB_OK;
}

/* The new group is complete: from here on it is not taken away any more. */
enum zb_code Destination::replace_node(bool durable, zb_error *err) {
    zb_hierarchy *hierarchy = hierarchy_.store.get();
    enum zb_code code = durable ? zb_hierarchy_flush(hierarchy, err) : ZB_OK;
    if (code == ZB_OK)
        code = clear_node(hierarchy, node_, err);
    if (code != ZB_OK)
        return code;
    made_ = false;
    code = zb_node_move(hierarchy, place_.c_str(), node_.c_str(), err);
    if (code != ZB_OK) {
        zb_error_prefix(err, code, "the new raster is complete, at /%s", place_.c_str());
        return code;
    }
    place_ = node_;
    code = old_has_gone(err);
    if (code != ZB_OK)
        return code;
    return durable ? zb_hierarchy_flush(hierarchy, err) : ZB_OK;
}

enum zb_code Destination::replace(bool durable, zb_error *err) {
    if (place_ != node_)
        return replace_node(durable, err);
    if (staging_.path == nullptr) {
        made_ = false;
        const enum zb_code code = zb_hierarchy_commit(hierarchy_.store.get(), err);
        if (code == ZB_OK && is_archive_)
            remove_sidecars(root_);
        return code;
    }
    const std::string staging = hierarchy_.root;
    if (durable && !sync_directory(staging))
        return zb_fail_errno(err, errno, "'%s' cannot be synchronised", staging.c_str());
    const enum zb_code code = take_place(staging, root_, err);
    if (code != ZB_OK)
        return code;
    remove_sidecars(root_);
    zb_staging_close(&staging_);
    made_ = false;
    hierarchy_ = Hierarchy();
    if (durable && !sync_directory(parent_directory(root_)))
        return zb_fail_errno(err, errno, "'%s' cannot be synchronised", root_.c_str());
    return ZB_OK;
}

} // namespace zarr3
