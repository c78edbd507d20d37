/* SPDX-License-Identifier: MIT */
#include "store/open_store.h"

#include <cstdlib>

#include "base/errors.h"
#include "base/handles.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "store/network.h"
#include "store/network_settings.h"
#include "store/vsi_archive.h"
#include "store/vsi_store.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* The core reads it once, at its first use; ALL_CPUS is its default. */
void adopt_thread_count() {
    const int count = atoi(CPLGetConfigOption("GDAL_NUM_THREADS", "0"));
    if (count > 0)
        zb_threads_set(static_cast<uint64_t>(count));
}

static enum zb_code open_by_core(const std::string &address, bool create, zb_hierarchy **out,
                                 zb_error *err) {
    const auto open = create ? zb_hierarchy_create : zb_hierarchy_open_with;
    if (!is_url(address))
        return open(address.c_str(), nullptr, out, err);
    const NetworkSettings settings(address);
    const zb_store_settings view = settings.view();
    return open(address.c_str(), &view, out, err);
}

static enum zb_code open_by_gdal(const std::string &address, bool create, zb_hierarchy **out,
                                 zb_error *err) {
    const bool is_archive = names_vsi_archive(address);
    if (is_archive && create && becomes_archive(address))
        return create_memory_archive(address, out, err);
    zb_store *store = nullptr;
    std::string archive, folder;
    const enum zb_code code = is_archive ? open_vsi_archive(address, &store, err)
                              : split_vsizip_path(address, &archive, &folder)
                                  ? open_vsizip_folder(archive, folder, address, &store, err)
                                  : open_vsi_store(address, &store, err);
    return code == ZB_OK ? zb_hierarchy_over(store, out, err) : code;
}

bool is_local_place(const std::string &root) {
    return !is_url(root) && (is_on_disk(root) ? !zb_path_is_zip(root.c_str())
                                              : STARTS_WITH(root.c_str(), "/vsimem/") &&
                                                    !names_memory_archive(root));
}

bool is_writable_place(const std::string &root) {
    std::string place = root;
    return find_writable_place(&place);
}

bool find_writable_place(std::string *root) {
    std::string address;
    if (is_local_place(*root))
        return true;
    if (store_address(*root, &address, nullptr) != ZB_OK || !zb_url_is_writable(address.c_str()))
        return false;
    *root = address;
    return true;
}

bool is_on_disk(const std::string &root) {
    return !is_url(root) && !STARTS_WITH(root.c_str(), "/vsi");
}

/* What follows /vsizip/, "" where the path does not begin so. */
static std::string in_vsizip(const std::string &path) {
    static const std::string kPrefix = "/vsizip/";
    const std::string rest =
        path.compare(0, kPrefix.size(), kPrefix) == 0 ? path.substr(kPrefix.size()) : "";
    return rest.rfind("vsi", 0) == 0 ? "/" + rest : rest;
}

/* GDAL looks for such names alone in paths of /vsizip/ without braces. */
static bool is_entered(const std::string &archive) {
    const size_t length = archive.size();
    return length > 4 && EQUAL(archive.c_str() + length - 4, ".zip");
}

std::string archive_of(const std::string &path) {
    std::string rest = in_vsizip(path);
    if (rest.size() > 2 && rest.front() == '{' && rest.back() == '}')
        rest = rest.substr(1, rest.size() - 2);
    else if (!is_entered(rest))
        return path;
    if (STARTS_WITH(rest.c_str(), "vsi"))
        rest = "/" + rest;
    return is_archive(rest) ? rest : path;
}

size_t archive_end(const std::string &path, size_t from) {
    size_t at = path.find('/', from);
    while (at != std::string::npos && !zb_name_is_archive(path.c_str(), at))
        at = path.find('/', at + 1);
    return at;
}

bool split_new_archive(const std::string &path, std::string *archive, std::string *folder) {
    const std::string rest = in_vsizip(path);
    VSIStatBufL stat;
    for (size_t end = archive_end(rest, 0); end != std::string::npos;
         end = archive_end(rest, end + 1)) {
        const std::string begin = rest.substr(0, end);
        if (!is_entered(begin))
            continue;
        if (VSIStatL(begin.c_str(), &stat) == 0)
            continue; /* a directory, or an archive that is there: those are not changed */
        *archive = begin;
        *folder = rest.substr(end + 1);
        return becomes_archive(begin) && !folder->empty();
    }
    return false;
}

bool becomes_archive(const std::string &root) {
    return is_on_disk(root) ? zb_path_becomes_zip(root.c_str()) : names_memory_archive(root);
}

bool is_archive(const std::string &root) {
    return becomes_archive(root) ||
           (is_on_disk(root) ? zb_path_is_zip(root.c_str()) : names_vsi_archive(root));
}

bool split_archive(std::string *path, std::string *node) {
    const bool is_local = is_on_disk(*path) || STARTS_WITH(path->c_str(), "/vsimem/");
    size_t end = is_local ? archive_end(*path, 0) : std::string::npos;
    for (; end != std::string::npos; end = archive_end(*path, end + 1)) {
        const std::string archive = path->substr(0, end);
        if (!is_zarr_archive(archive))
            continue;
        const std::string inner = path->substr(archive.size() + 1);
        *node = node->empty() ? inner : join_path(inner, *node);
        *path = archive;
        return true;
    }
    return false;
}

bool is_zarr_archive(const std::string &path) {
    return is_on_disk(path) ? zb_place_is_zip(path.c_str())
                            : look_at_vsi_archive(path) == ZB_PLACE_NODE;
}

/* Local directories, zip archives and URLs are read by the core itself, which knows validators to
   the nanosecond and keeps symbolic links inside; the rest goes through GDAL. */
enum zb_code open_store(const std::string &root, Hierarchy *hierarchy, zb_error *err, bool create) {
    zb_hierarchy *store = nullptr;
    std::string address;
    enum zb_code code = store_address(root, &address, err);
    if (code == ZB_OK)
        code = STARTS_WITH(address.c_str(), "/vsi") ? open_by_gdal(address, create, &store, err)
                                                    : open_by_core(address, create, &store, err);
    if (code != ZB_OK)
        return code;
    *hierarchy = {HierarchyPtr(store, zb_hierarchy_release), root, root, "", nullptr};
    return ZB_OK;
}

/* In GDAL's own file systems, as zb_destination_look does it elsewhere. */
static enum zb_code look_at_virtual(const std::string &root, const std::string &node,
                                    enum zb_place *found, zb_error *err) {
    VSIStatBufL stat;
    Hierarchy there;
    *found = ZB_PLACE_EMPTY;
    if (VSIStatL(root.c_str(), &stat) != 0)
        return ZB_OK;
    if (!VSI_ISDIR(stat.st_mode)) {
        *found = becomes_archive(root) ? look_at_vsi_archive(root)
                 : stat.st_size == 0   ? ZB_PLACE_EMPTY
                                       : ZB_PLACE_OTHER;
        return ZB_OK;
    }
    enum zb_code code = open_store(root, &there, err);
    if (code == ZB_OK)
        code = zb_place_look(there.store.get(), "", found, err);
    if (code == ZB_OK && *found != ZB_PLACE_OTHER && !node.empty())
        code = zb_place_look(there.store.get(), node.c_str(), found, err);
    return code;
}

enum zb_code look_at_place(const std::string &root, const std::string &node, enum zb_place *found,
                           zb_error *err) {
    std::string address;
    const enum zb_code code = store_address(root, &address, err);
    if (code != ZB_OK)
        return code;
    if (STARTS_WITH(address.c_str(), "/vsi"))
        return look_at_virtual(address, node, found, err);
    if (!is_url(address))
        return zb_destination_look(address.c_str(), node.c_str(), nullptr, found, err);
    const NetworkSettings settings(address);
    const zb_store_settings view = settings.view();
    return zb_destination_look(address.c_str(), node.c_str(), &view, found, err);
}

} // namespace zarr3
