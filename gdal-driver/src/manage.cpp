/* SPDX-License-Identifier: MIT */
/*
 * GDAL's own way works on the list of a dataset's files, which for a store is one document and not
 * its data. Here the core does it, which knows what belongs to a hierarchy.
 */
#include "manage.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "errors.h"
#include "location.h"
#include "open.h"
#include "zarrbridge/write.h"
#include "zarrbridge/change.h"

namespace zarr3 {

namespace {

/* A node that a name leads to. */
struct Place {
    Hierarchy hierarchy;
    std::string node;
};

} // namespace

/* The root of the hierarchy that the name is or would be in, and the path in it. */
static bool locate(const char *name, Location *location) {
    if (parse_location(name, location) && location->tail.empty()) {
        climb_to_root(location);
        if (is_writable_place(location->directory))
            return true;
        CPLError(CE_Failure, CPLE_NotSupported,
                 "%s: stores are changed on local paths and in /vsimem/ only", name);
        return false;
    }
    CPLError(CE_Failure, CPLE_IllegalArg, "%s names no node of a Zarr store", name);
    return false;
}

static bool open_place(const char *name, Place *place) {
    Location location;
    if (!locate(name, &location))
        return false;
    zb_error err;
    place->node = location.node;
    if (open_store(location.directory, &place->hierarchy, &err) == ZB_OK &&
        (open_node(place->hierarchy.store.get(), place->node, &err) != nullptr ||
         claims_version_3(place->hierarchy.store.get(), place->node)))
        return true;
    /* Before it creates a raster, GDAL deletes what has its name; for a name with our prefix it
       cannot ask the file system whether there is anything. */
    if (has_prefix(name) && err.code == ZB_ENOTFOUND)
        CPLDebug("ZARR3", "%s", err.message);
    else
        report(err);
    return false;
}

/* The files beside a store that have its name and one of GDAL's endings. */
static std::vector<std::string> sidecars_of(const std::string &root) {
    std::vector<std::string> found;
    const size_t slash = root.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : root.substr(0, slash + 1);
    const std::string prefix = last_part(root) + ".";
    const CPLStringList names(VSIReadDir(parent.c_str()), TRUE);
    for (int i = 0; i < names.size() && prefix.size() > 1; i++) {
        const std::string name = names[i];
        const bool overview =
            name.size() > prefix.size() + 4 && name.compare(name.size() - 4, 4, ".ovr") == 0;
        if (name == prefix + "aux.xml" || (overview && name.compare(0, prefix.size(), prefix) == 0))
            found.push_back(name.substr(prefix.size() - 1));
    }
    return found;
}

void remove_sidecars(const std::string &root) {
    for (const std::string &tail : sidecars_of(root))
        VSIUnlink((root + tail).c_str());
}

/*
 * Before a driver creates a raster, GDAL deletes what has its name, and asks the driver of that for
 * it. 3.10 spares directories; 3.13 does not, and the old store would be lost when the copy that
 * replaces it fails, or when the program is killed. So we leave it to the driver that
 * creates: ours lets the stores change places at the end (target.cpp), others refuse a directory.
 *
 * GDAL does not say whose wish a deletion is, but its own takes other steps: right after it has
 * identified the name it asks for the function twice. A program's deletion asks once.
 */
namespace {
struct Steps {
    std::string identified;
    int asked = 0;
};
} // namespace

static thread_local Steps steps;

void note_identified(const char *name) {
    steps.identified = name;
    steps.asked = 0;
}

void note_asked_to_delete() {
    steps.asked++;
}

static bool clears_the_way(const char *name) {
    const bool clears = steps.asked == 2 && steps.identified == name;
    steps = Steps();
    return clears;
}

CPLErr delete_dataset(const char *name) {
    if (clears_the_way(name))
        return CE_None;
    Place place;
    zb_error err;
    if (!open_place(name, &place))
        return CE_Failure;
    if (zb_node_delete(place.hierarchy.store.get(), place.node.c_str(), &err) != ZB_OK) {
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

/* The core keeps locks of keys in files of such names. */
static bool is_lock(const std::string &name) {
    static const std::string kTail = ".zb-lock";
    return name[0] == '.' && name.size() > kTail.size() &&
           name.compare(name.size() - kTail.size(), kTail.size(), kTail) == 0;
}

std::string remove_empty(const std::string &directory) {
    const CPLStringList names(VSIReadDir(directory.c_str()), TRUE);
    std::string other;
    for (int i = 0; i < names.size(); i++) {
        if (is_lock(names[i]))
            VSIUnlink(file_in(directory, names[i]).c_str());
        else if (!EQUAL(names[i], ".") && !EQUAL(names[i], ".."))
            other = names[i];
    }
    if (other.empty())
        VSIRmdir(directory.c_str());
    return other;
}

bool sync_directory(const std::string &directory) {
    if (STARTS_WITH(directory.c_str(), "/vsi"))
        return true;
    const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool good = syncfs(fd) == 0;
    const int failed = errno;
    close(fd);
    errno = failed;
    return good;
}

static bool is_free(const std::string &path) {
    VSIStatBufL stat;
    if (VSIStatExL(path.c_str(), &stat, VSI_STAT_EXISTS_FLAG) != 0)
        return true;
    CPLError(CE_Failure, CPLE_FileIO, "%s exists already", path.c_str());
    return false;
}

CPLErr rename_dataset(const char *new_name, const char *old_name) {
    Place place;
    Location target;
    zb_error err;
    if (!open_place(old_name, &place) || !locate(new_name, &target))
        return CE_Failure;
    const std::string root = place.hierarchy.root;
    if (place.node.empty() && target.node.empty()) {
        if (!is_free(target.directory))
            return CE_Failure;
        if (VSIRename(root.c_str(), target.directory.c_str()) != 0) {
            CPLError(CE_Failure, CPLE_FileIO, "%s cannot be renamed to %s: %s", root.c_str(),
                     target.directory.c_str(), VSIStrerror(errno));
            return CE_Failure;
        }
        for (const std::string &tail : sidecars_of(root))
            VSIRename((root + tail).c_str(), (target.directory + tail).c_str());
        return CE_None;
    }
    if (target.directory != root || place.node.empty() || target.node.empty()) {
        CPLError(CE_Failure, CPLE_NotSupported,
                 "%s and %s are in different hierarchies; a copy can go from one to the other",
                 old_name, new_name);
        return CE_Failure;
    }
    if (zb_node_move(place.hierarchy.store.get(), place.node.c_str(), target.node.c_str(), &err) ==
        ZB_OK)
        return CE_None;
    report(err);
    return CE_Failure;
}

CPLErr copy_dataset(const char *new_name, const char *old_name) {
    Place place;
    Location target;
    Hierarchy to;
    zb_error err;
    if (!open_place(old_name, &place) || !locate(new_name, &target))
        return CE_Failure;
    if (target.node.empty()) {
        if (!is_free(target.directory))
            return CE_Failure;
        if (VSIMkdir(target.directory.c_str(), 0777) != 0) {
            CPLError(CE_Failure, CPLE_FileIO, "the directory %s cannot be made: %s",
                     target.directory.c_str(), VSIStrerror(errno));
            return CE_Failure;
        }
    }
    enum zb_code code = open_store(target.directory, &to, &err);
    if (code == ZB_OK)
        code = zb_node_copy(place.hierarchy.store.get(), place.node.c_str(), to.store.get(),
                            target.node.c_str(), &err);
    if (code == ZB_OK)
        return CE_None;
    report(err);
    if (target.node.empty()) {
        to = Hierarchy();
        VSIRmdirRecursive(target.directory.c_str()); /* what the copy has left of itself */
    }
    return CE_Failure;
}

} // namespace zarr3
