/* SPDX-License-Identifier: MIT */
/* Writing in memory: see vsi_write.h. */
#include "store/vsi_write.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

#include "base/guard.h"
#include "base/handles.h"
#include "cpl_conv.h"
#include "cpl_error.h"
#include "cpl_vsi.h"
#include "store/vsi_state.h"
#include "zarrbridge/limits.h"

namespace zarr3 {

namespace {

/* A new file under another name, which then takes the key's name. */
enum zb_code vsi_put(zb_store *store, const zb_put *put, zb_error *err) {
    if (put->expected == ZB_EXPECT_NOTHING)
        return ZB_EUNSUPPORTED;
    CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    static std::atomic<unsigned> number;
    /* The durability that was asked for makes no difference: nothing in memory outlives the
       process. */
    const std::string path = path_of(store, put->key);
    const std::string directory = path.substr(0, path.rfind('/'));
    VSIMkdirRecursive(directory.c_str(), 0777);
    TemporaryFile temporary(file_in(directory, "." + std::to_string(number++) + ".zb-tmp"));
    FileHandle file(VSIFOpenL(temporary.path().c_str(), "wb"));
    bool good = file != nullptr;
    for (size_t i = 0; i < put->count && good; i++)
        good =
            VSIFWriteL(put->parts[i].data, 1, put->parts[i].size, file.get()) == put->parts[i].size;
    if (file != nullptr)
        good = VSIFCloseL(file.release()) == 0 && good;
    const enum zb_code code = good ? zb_batch_check(put->batch, put->key, err) : ZB_OK;
    if (code != ZB_OK)
        return code;
    if (!good || VSIRename(temporary.path().c_str(), path.c_str()) != 0)
        return zb_fail(err, ZB_EIO, "cannot write '%s'", put->key);
    temporary.keep();
    return ZB_OK;
}

bool is_gone(const std::string &path) {
    VSIStatBufL stat;
    return VSIStatExL(path.c_str(), &stat, VSI_STAT_EXISTS_FLAG) != 0;
}

enum zb_code erase_object(zb_store *store, const zb_erase *erase, zb_error *err) {
    const std::string path = path_of(store, erase->key);
    const enum zb_code code = zb_batch_check(erase->batch, erase->key, err);
    if (code != ZB_OK || VSIUnlink(path.c_str()) == 0 || is_gone(path))
        return code;
    return zb_fail(err, ZB_EIO, "cannot erase '%s'", erase->key);
}

enum zb_code erase_below(zb_store *store, const char *prefix, zb_error *err) {
    const std::string path =
        *prefix == '\0' ? reinterpret_cast<VsiStore *>(store)->root : path_of(store, prefix);
    if (VSIRmdirRecursive(path.c_str()) == 0 || is_gone(path))
        return ZB_OK;
    return zb_fail(err, ZB_EIO, "cannot erase what is below '%s'", prefix);
}

enum zb_code vsi_erase(zb_store *store, const zb_erase *erase, zb_error *err) {
    CPLErrorStateBackuper quiet(CPLQuietErrorHandler);
    return erase->is_recursive ? erase_below(store, erase->key, err)
                               : erase_object(store, erase, err);
}

enum zb_code vsi_flush(zb_store *, zb_batch *, bool, zb_error *) {
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

enum zb_code vsi_lock(zb_store *store, const zb_locking *locking, zb_lock **out, zb_error *err) {
    const char *key = locking->key;
    if (locking->only_waits)
        return ZB_OK;
    std::unique_ptr<VsiLock> lock(new VsiLock{{store}, path_of(store, key)});
    const std::chrono::seconds limit(std::min<uint64_t>(zb_limits_get()->lock_seconds, 1u << 30));
    std::unique_lock<std::mutex> guard(lock_table);
    if (!lock_released.wait_for(guard, limit,
                                [&] { return locked_paths.insert(lock->path).second; }))
        return zb_fail(err, ZB_ECONFLICT, "'%s' is locked for longer than the limit lock_seconds",
                       key);
    *out = &lock.release()->base;
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

void add_vsi_writing(zb_store_ops *ops) {
    ops->put = guarded<vsi_put>;
    ops->erase = guarded<vsi_erase>;
    ops->flush = guarded<vsi_flush>;
    ops->lock = guarded<vsi_lock>;
    ops->unlock = guarded<vsi_unlock>;
}

} // namespace zarr3
