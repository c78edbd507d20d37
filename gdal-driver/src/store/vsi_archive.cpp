/* SPDX-License-Identifier: MIT */
/*
 * The core packs into local files. So an archive in memory is packed into a temporary one, which is
 * copied. A program that made an empty file for the name may hold it open and look there for the
 * archive (rasterio's MemoryFile), so that such a file is filled; anything else is replaced in one
 * step, and those who read it go on with what they have opened.
 */
#include "store/vsi_archive.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/guard.h"
#include "base/handles.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "store/directories.h"
#include "store/location.h"
#include "store/node.h"
#include "store/vsi_store.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

namespace zarr3 {

namespace {

/* "/vsimem/" of /vsimem/x.zip: GDAL knows the file system by the slash. */
std::string folder_of(const std::string &path) {
    return path.substr(0, path.rfind('/') + 1);
}

bool is_empty_file(const std::string &path) {
    VSIStatBufL stat;
    return VSIStatL(path.c_str(), &stat) == 0 && !VSI_ISDIR(stat.st_mode) && stat.st_size == 0;
}

struct MemoryArchive {
    zb_commit base; /* first: the hierarchy knows this part */
    std::string path, staging;
    uint64_t packed = 0; /* the store's count of changes by then */

    ~MemoryArchive() {
        try {
            VSIRmdirRecursive(staging.c_str());
        } catch (...) { /* without memory the directory stays */
        }
    }
};

enum zb_code pack_to(zb_hierarchy *hierarchy, const std::string &path, zb_error *err) {
    const TemporaryFile packed(CPLGenerateTempFilename("zarr3"));
    const enum zb_code code = zb_hierarchy_pack(hierarchy, packed.path().c_str(), err);
    if (code != ZB_OK)
        return code;
    TemporaryFile beside(is_empty_file(path) ? "" : path + "." + staging_suffix());
    const std::string target = beside.path().empty() ? path : beside.path();
    if (CPLCopyFile(target.c_str(), packed.path().c_str()) != 0 ||
        (target != path && VSIRename(target.c_str(), path.c_str()) != 0))
        return zb_fail(err, ZB_EIO, "cannot write '%s'", path.c_str());
    beside.keep();
    return ZB_OK;
}

/* Packing flushes, which counts as a change. A store whose root has no document is not made. */
enum zb_code commit_archive(zb_commit *commit, zb_hierarchy *hierarchy, zb_error *err) {
    MemoryArchive *archive = reinterpret_cast<MemoryArchive *>(commit);
    zb_store *store = zb_hierarchy_store(hierarchy);
    zb_object_info info;
    if (zb_store_changes(store) == archive->packed)
        return ZB_OK;
    enum zb_code code = zb_store_stat(store, "zarr.json", &info, err);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    code = pack_to(hierarchy, archive->path, err);
    if (code == ZB_OK)
        archive->packed = zb_store_changes(store);
    return code;
}

void end_archive(zb_commit *commit) {
    delete reinterpret_cast<MemoryArchive *>(commit);
}

} // namespace

bool names_vsi_archive(const std::string &path) {
    VSIStatBufL stat;
    return STARTS_WITH(path.c_str(), "/vsi") && !STARTS_WITH(path.c_str(), "/vsizip/") &&
           zb_name_is_archive(path.c_str(), path.size()) &&
           (!VSIIsLocal(path.c_str()) || VSIStatL(path.c_str(), &stat) != 0 ||
            !VSI_ISDIR(stat.st_mode));
}

bool names_memory_archive(const std::string &path) {
    return STARTS_WITH(path.c_str(), "/vsimem/") && names_vsi_archive(path);
}

/* ---- Paths of /vsizip/ ---- */

static bool is_file(const std::string &path) {
    VSIStatBufL stat;
    return VSIStatExL(path.c_str(), &stat, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) == 0 &&
           !VSI_ISDIR(stat.st_mode);
}

/* "a/../b" as "b", no doubled slashes, none at the ends. */
static std::string plain_path(const std::string &path) {
    std::vector<std::string> parts;
    const CPLStringList given(CSLTokenizeString2(path.c_str(), "/\\", 0));
    for (int i = 0; i < given.size(); i++) {
        if (EQUAL(given[i], "..") && !parts.empty())
            parts.pop_back();
        else if (!EQUAL(given[i], "."))
            parts.push_back(given[i]);
    }
    std::string plain;
    for (const std::string &part : parts)
        plain += (plain.empty() ? "" : "/") + part;
    return plain;
}

static std::vector<std::string> archive_suffixes() {
    std::vector<std::string> suffixes = {".zip", ".kmz", ".dwf", ".ods", ".xlsx", ".xlsm"};
    const CPLStringList more(
        CSLTokenizeString2(CPLGetConfigOption("CPL_VSIL_ZIP_ALLOWED_EXTENSIONS", ""), ", ", 0));
    suffixes.insert(suffixes.end(), more.begin(), more.end());
    return suffixes;
}

/* {archive}/inside, with braces inside the braces. */
static bool split_braces(const std::string &rest, std::string *archive, std::string *inside) {
    size_t depth = 0;
    for (size_t i = 0; i < rest.size(); i++) {
        depth += rest[i] == '{' ? 1 : 0;
        depth -= rest[i] == '}' ? 1 : 0;
        if (depth > 0)
            continue;
        *archive = rest.substr(1, i - 1);
        *inside = plain_path(rest.substr(i + 1));
        return is_file(*archive);
    }
    return false;
}

bool split_vsizip_path(const std::string &path, std::string *archive, std::string *inside) {
    static const std::string kPrefix = "/vsizip/";
    if (path.compare(0, kPrefix.size(), kPrefix) != 0)
        return false;
    std::string rest = path.substr(kPrefix.size());
    if (!rest.empty() && rest[0] == '{')
        return split_braces(rest, archive, inside);
    if (STARTS_WITH(rest.c_str(), "vsi")) /* "/vsizip/vsicurl/...", with one slash */
        rest = "/" + rest;
    const std::vector<std::string> suffixes = archive_suffixes();
    for (size_t i = 0; i < rest.size(); i++) {
        for (const std::string &suffix : suffixes) {
            const size_t end = i + suffix.size();
            if (!EQUALN(rest.c_str() + i, suffix.c_str(), suffix.size()) ||
                (end < rest.size() && rest[end] != '/') || !is_file(rest.substr(0, end)))
                continue;
            *archive = rest.substr(0, end);
            *inside = plain_path(rest.substr(end));
            return true;
        }
    }
    return false;
}

/* ---- Opening ---- */

/* The store that an archive is an object of; *key: its name there. */
static enum zb_code open_outer(const std::string &archive, zb_store **out, std::string *key,
                               zb_error *err) {
    *key = last_part(archive);
    if (STARTS_WITH(archive.c_str(), "/vsi"))
        return open_vsi_store(folder_of(archive), out, err);
    const CoreText real(realpath(archive.c_str(), nullptr));
    if (real == nullptr)
        return zb_fail_errno(err, errno, "cannot open '%s'", archive.c_str());
    *key = last_part(real.get());
    return zb_store_open_fs(folder_of(real.get()).c_str(), out, err);
}

static enum zb_code open_in_archive(const std::string &archive, const char *folder,
                                    const std::string &label, zb_store **out, zb_error *err) {
    zb_store *outer = nullptr;
    std::string key;
    enum zb_code code = open_outer(archive, &outer, &key, err);
    if (code != ZB_OK)
        return code;
    code = zb_store_open_zip(outer, key.c_str(), folder, label.c_str(), out, err);
    zb_store_release(outer);
    return code;
}

enum zb_code open_vsi_archive(const std::string &path, zb_store **out, zb_error *err) {
    return open_in_archive(path, nullptr, path, out, err);
}

enum zb_code open_vsizip_folder(const std::string &archive, const std::string &folder,
                                const std::string &path, zb_store **out, zb_error *err) {
    return open_in_archive(archive, folder.c_str(), path, out, err);
}

enum zb_code create_memory_archive(const std::string &path, zb_hierarchy **out, zb_error *err) {
    const std::string staging = folder_of(path) + "." + last_part(path) + "." + staging_suffix();
    std::unique_ptr<MemoryArchive> archive(
        new MemoryArchive{{guarded<commit_archive>, guarded<end_archive>, false}, path, staging});
    if (VSIMkdirRecursive(staging.c_str(), 0777) != 0)
        return zb_fail(err, ZB_EIO, "cannot make the directory '%s'", staging.c_str());
    zb_store *store = nullptr;
    zb_hierarchy *made = nullptr;
    enum zb_code code = open_vsi_store(staging, &store, err);
    if (code == ZB_OK)
        code = zb_hierarchy_over(store, &made, err);
    if (code != ZB_OK)
        return code;
    std::unique_ptr<zb_hierarchy, Release<zb_hierarchy_release>> owner(made);
    char *label = strdup(path.c_str()); /* of messages: its user knows no other name */
    if (label == nullptr)
        return zb_fail(err, ZB_ENOMEM, "no memory for a new archive");
    free(store->label);
    store->label = label;
    archive->packed = zb_store_changes(store);
    zb_hierarchy_set_commit(made, &archive.release()->base);
    *out = owner.release();
    return ZB_OK;
}

enum zb_place look_at_vsi_archive(const std::string &path) {
    VSIStatBufL stat;
    if (VSIStatL(path.c_str(), &stat) != 0 || is_empty_file(path))
        return ZB_PLACE_EMPTY;
    zb_store *store = nullptr;
    zb_hierarchy *hierarchy = nullptr;
    if (open_vsi_archive(path, &store, nullptr) != ZB_OK ||
        zb_hierarchy_over(store, &hierarchy, nullptr) != ZB_OK)
        return ZB_PLACE_OTHER;
    const HierarchyPtr owner(hierarchy, zb_hierarchy_release);
    return open_node(hierarchy, "", nullptr) != nullptr || zb_place_claims_v3(hierarchy, "")
               ? ZB_PLACE_NODE
               : ZB_PLACE_OTHER;
}

} // namespace zarr3
