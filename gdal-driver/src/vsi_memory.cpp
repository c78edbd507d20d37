/* SPDX-License-Identifier: MIT */
/* Writing to GDAL's files in memory: there a put can be what the interface promises, all or
   nothing, and locks need not be seen by other processes. */
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>

#include "cpl_error.h"
#include "cpl_vsi.h"
#include "vsi_files.h"

namespace {

/* A new file under another name, which then takes the key's name. */
enum zb_code vsi_put(zb_store *store, const char *key, const zb_part *parts, size_t count,
                     enum zb_durability durability, zb_error *err) {
    CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    static std::atomic<unsigned> number;
    (void)durability; /* nothing in memory outlives the process */
    const std::string path = zarr3::path_of(store, key);
    const std::string directory = path.substr(0, path.rfind('/'));
    const std::string temporary =
        zarr3::file_in(directory, "." + std::to_string(number++) + ".zb-tmp");
    VSIMkdirRecursive(directory.c_str(), 0777);
    VSILFILE *file = VSIFOpenL(temporary.c_str(), "wb");
    bool good = file != nullptr;
    for (size_t i = 0; i < count && good; i++)
        good = VSIFWriteL(parts[i].data, 1, parts[i].size, file) == parts[i].size;
    if (file != nullptr)
        good = VSIFCloseL(file) == 0 && good;
    good = good && VSIRename(temporary.c_str(), path.c_str()) == 0;
    if (good)
        return ZB_OK;
    VSIUnlink(temporary.c_str());
    return zb_fail(err, ZB_EIO, "cannot write '%s'", key);
}

bool is_gone(const std::string &path) {
    VSIStatBufL stat;
    return VSIStatExL(path.c_str(), &stat, VSI_STAT_EXISTS_FLAG) != 0;
}

enum zb_code vsi_erase(zb_store *store, const char *key, zb_error *err) {
    CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    const std::string path = zarr3::path_of(store, key);
    if (VSIUnlink(path.c_str()) == 0 || is_gone(path))
        return ZB_OK;
    return zb_fail(err, ZB_EIO, "cannot erase '%s'", key);
}

enum zb_code vsi_erase_below(zb_store *store, const char *prefix, zb_error *err) {
    CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    const std::string path = *prefix == '\0' ? reinterpret_cast<zarr3::VsiStore *>(store)->root
                                             : zarr3::path_of(store, prefix);
    if (VSIRmdirRecursive(path.c_str()) == 0 || is_gone(path))
        return ZB_OK;
    return zb_fail(err, ZB_EIO, "cannot erase what is below '%s'", prefix);
}

enum zb_code vsi_flush(zb_store *, zb_error *) {
    return ZB_OK;
}

struct VsiLock {
    zb_lock base;
    std::string path;
};

/* The files are this process's own, and so are their locks. */
std::mutex lock_table;
std::condition_variable lock_released;
std::set<std::string> locked_paths;

enum zb_code vsi_lock(zb_store *store, const char *key, zb_lock **out, zb_error *) {
    VsiLock *lock = new VsiLock{{store}, zarr3::path_of(store, key)};
    std::unique_lock<std::mutex> guard(lock_table);
    lock_released.wait(guard, [&] { return locked_paths.insert(lock->path).second; });
    *out = &lock->base;
    return ZB_OK;
}

void vsi_unlock(zb_lock *base) {
    VsiLock *lock = reinterpret_cast<VsiLock *>(base);
    {
        const std::lock_guard<std::mutex> guard(lock_table);
        locked_paths.erase(lock->path);
    }
    lock_released.notify_all();
    delete lock;
}

} // namespace

namespace zarr3 {

void add_memory_writes(zb_store_ops *ops) {
    ops->put = vsi_put;
    ops->erase = vsi_erase;
    ops->erase_below = vsi_erase_below;
    ops->flush = vsi_flush;
    ops->lock = vsi_lock;
    ops->unlock = vsi_unlock;
}

} // namespace zarr3
