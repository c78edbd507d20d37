/* SPDX-License-Identifier: MIT */
/*
 * VSI*L as the core's store interface.
 *
 * An object handle keeps the file open, so that all of its ranges come from one version. Systems
 * whose handles can read at an offset (PRead) are read by many threads at once; others take turns.
 * A version is known by size and modification time. The time has a resolution of a second at
 * best, so that a file changed within the last two seconds has no valid validator and nothing of
 * it is cached.
 *
 * Only /vsimem/ can be written: vsi_write.h.
 *
 * Systems that are not local answer only while one waits. Threads of the core wait for them, up to
 * 16 at once (zb_store_submit_by_threads): GDAL's own parallel reads (AdviseRead, ReadMultiRange)
 * serve one file only, and most chunks are files of their own. A chunk takes one request
 * (vsi_web.h); one that is missing would take two, as only the usual way tells a missing one from a
 * server's failure. So after a missing chunk the next one goes the usual way: a chunk is mostly as
 * its neighbour.
 *
 * These functions run in the core's threads; GDAL's error handlers are silenced there, and the
 * failure goes into the zb_error. No exception leaves them (base/guard.h).
 */
#include "store/vsi_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "base/guard.h"
#include "base/handles.h"
#include "cpl_conv.h"
#include "cpl_error.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "cpl_vsi_virtual.h"
#include "store/vsi_answers.h"
#include "store/vsi_state.h"
#include "store/vsi_web.h"
#include "store/vsi_write.h"
#include "zarrbridge/zarrbridge.h"

namespace {

using zarr3::guarded;

struct VsiObject {
    zb_object base;
    zarr3::FileHandle file;
    uint64_t size;         /* bytes */
    bool web;              /* from a server of any kind, which may send whole files only */
    std::mutex lock_scope; /* held by the one reader of systems without PRead */
};

/* The surroundings of a call to GDAL, in whatever thread: its errors go nowhere else, and its
   options are those of the thread that opened the store, unless this one has its own. */
class VsiCall {
  public:
    explicit VsiCall(zb_store *store) : quiet_(CPLQuietErrorHandler) {
        const zarr3::VsiStore *vsi = reinterpret_cast<zarr3::VsiStore *>(store);
        if (vsi->options.empty())
            return;
        const CPLStringList own(CPLGetThreadLocalConfigOptions());
        lends_ = own.empty();
        if (lends_)
            CPLSetThreadLocalConfigOptions(vsi->options.List());
    }
    ~VsiCall() {
        if (lends_)
            CPLSetThreadLocalConfigOptions(nullptr);
    }
    VsiCall(const VsiCall &) = delete;
    VsiCall &operator=(const VsiCall &) = delete;

  private:
    CPLErrorStateBackuper quiet_;
    bool lends_ = false;
};

zb_object *make_object(zb_store *store, const std::string &path, zarr3::FileHandle file,
                       uint64_t size) {
    const bool web = STARTS_WITH(path.c_str(), "/vsicurl/");
    VsiObject *object = new VsiObject{{store}, std::move(file), size, web, {}};
    return &object->base;
}

enum zb_code vsi_open(zb_store *store, const zb_open *open, zb_object **out, zb_object_info *info,
                      zb_error *err) {
    const VsiCall call(store);
    const char *key = open->key;
    const std::string path = zarr3::path_of(store, key);
    const enum zb_code code = zarr3::stat_path(path, info, err);
    if (zarr3::can_read_at_once(path))
        reinterpret_cast<zarr3::VsiStore *>(store)->is_sparse = code == ZB_ENOTFOUND;
    if (code != ZB_OK)
        return code;
    VSIErrorReset();
    errno = 0;
    /* It is there, so that GDAL need not look for it in a listing of its directory. */
    const CPLStringList unlisted(CSLSetNameValue(nullptr, "DISABLE_READDIR_ON_OPEN", "EMPTY_DIR"));
    zarr3::FileHandle file(VSIFOpenEx2L(path.c_str(), "rb", TRUE, unlisted.List()));
    if (file == nullptr)
        return zarr3::explain_open(path, errno, err);
    /* The size of what is open, which is another object's when the key was replaced since. */
    VSIFSeekL(file.get(), 0, SEEK_END);
    const uint64_t size = VSIFTellL(file.get());
    zb_object_info now;
    if (size != info->size || zarr3::stat_path(path, &now, nullptr) != ZB_OK ||
        memcmp(now.validator.word, info->validator.word, sizeof now.validator.word) != 0)
        info->validator.valid = false;
    info->size = size;
    *out = make_object(store, path, std::move(file), size);
    return ZB_OK;
}

/* Reads as much of [offset, offset + length) as there is. False when the system fails. */
bool read_at(VsiObject *object, uint64_t offset, size_t length, void *buffer, size_t *got) {
    if (object->file->HasPRead()) {
        *got = object->file->PRead(buffer, length, offset); /* -1 when the system fails */
        return *got <= length;
    }
    const std::lock_guard<std::mutex> guard(object->lock_scope);
    VSILFILE *file = object->file.get();
    VSIFClearErrL(file);
    if (VSIFSeekL(file, offset, SEEK_SET) != 0)
        return false;
    *got = VSIFReadL(buffer, 1, length, file);
    return VSIFErrorL(file) == 0;
}

enum zb_code vsi_read(zb_object *base, zb_range *ranges, size_t count, zb_error *err) {
    const VsiCall call(base->store);
    VsiObject *object = reinterpret_cast<VsiObject *>(base);
    for (size_t i = 0; i < count; i++) {
        zb_range &range = ranges[i];
        uint64_t offset = range.offset;
        /* Suffix ranges count from the end of what was opened, not of what is there by now. */
        if (offset == ZB_FROM_END)
            offset = range.length < object->size ? object->size - range.length : 0;
        const uint64_t there = offset < object->size ? object->size - offset : 0;
        const size_t length = there < range.length ? static_cast<size_t>(there) : range.length;
        range.got = 0;
        if (length == 0)
            continue;
        if (!read_at(object, offset, length, range.buffer, &range.got))
            return zb_fail(err, ZB_EIO, "%zu bytes at offset %llu cannot be read%s", length,
                           static_cast<unsigned long long>(offset),
                           object->web ? " (does the server answer range requests?)" : "");
        if (range.got != length)
            return zb_fail(err, ZB_EIO, "read %zu of %zu bytes at offset %llu", range.got, length,
                           static_cast<unsigned long long>(offset));
    }
    return ZB_OK;
}

/* The rest of an object of which the first bytes have come, in a buffer of malloc. */
enum zb_code read_rest(zb_fetch *fetch, zb_error *err) {
    zb_range *range = &fetch->range;
    if (fetch->info.size > fetch->most)
        return zb_fail(err, ZB_ELIMIT, "it has %llu bytes, more than the %llu allowed",
                       static_cast<unsigned long long>(fetch->info.size),
                       static_cast<unsigned long long>(fetch->most));
    const size_t size = static_cast<size_t>(fetch->info.size);
    void *all = realloc(range->buffer, size);
    if (all == nullptr)
        return zb_fail(err, ZB_ENOMEM, "no memory for an object");
    range->buffer = all;
    if (range->got == size)
        return ZB_OK;
    zb_range rest = {range->got, size - range->got, static_cast<char *>(all) + range->got, 0};
    const enum zb_code code = vsi_read(fetch->object, &rest, 1, err);
    range->got += rest.got;
    return code;
}

/* The number of bytes that a request begins with; 0 where it has to go the usual way. */
size_t first_length(const zarr3::VsiStore *vsi, const std::string &path, const zb_fetch *fetch) {
    const zb_range &range = fetch->range;
    if (range.offset == ZB_FROM_END || vsi->is_sparse || !zarr3::can_read_at_once(path))
        return 0;
    if (range.length == ZB_WHOLE)
        return static_cast<size_t>(std::min<uint64_t>(fetch->most, zarr3::kWebRead));
    return range.length <= zarr3::kWebRead ? range.length : 0;
}

enum zb_code vsi_fetch(zb_store *store, zb_fetch *fetch) {
    const VsiCall call(store);
    const bool is_whole = fetch->range.length == ZB_WHOLE;
    const std::string path = zarr3::path_of(store, fetch->key);
    const size_t length = first_length(reinterpret_cast<zarr3::VsiStore *>(store), path, fetch);
    void *given = is_whole ? nullptr : fetch->range.buffer;
    zarr3::CoreText own;
    if (given == nullptr && length > 0)
        own.reset(static_cast<char *>(malloc(length)));
    void *buffer = given != nullptr ? given : own.get();
    zarr3::WebFile found;
    if (length == 0 || buffer == nullptr ||
        !zarr3::read_at_once(path, fetch->range.offset, length, buffer, &found))
        return ZB_EUNSUPPORTED;
    zarr3::FileHandle file(found.file);
    zarr3::fill_info(found.stat, &fetch->info);
    fetch->object = make_object(store, path, std::move(file), fetch->info.size);
    own.release(); /* to the core */
    fetch->range.buffer = buffer;
    fetch->range.got = found.got;
    return is_whole ? read_rest(fetch, &fetch->error) : ZB_OK;
}

enum zb_code vsi_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                        zb_error *err) {
    return zb_store_submit_by_threads(store, list, done, context, guarded<vsi_fetch>, err);
}

/* A file that was read leaves nothing to write, so the result of closing says nothing. */
void vsi_close(zb_object *base) {
    std::unique_ptr<VsiObject> object(
        reinterpret_cast<VsiObject *>(base)); /* also without memory */
    const VsiCall call(base->store);
    object.reset();
}

/* Asked again, a server gives its own answer: GDAL goes by one that it remembers. */
enum zb_code vsi_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    if (probe->asks >= ZB_ASK_HOLDER)
        return ZB_EUNSUPPORTED;
    const std::string path = zarr3::path_of(store, probe->name);
    if (probe->asks != ZB_ASK_INFO && zarr3::is_on_server(path))
        zarr3::forget_answers(path);
    const VsiCall call(store);
    return zarr3::stat_path(path, &probe->info, err);
}

enum zb_code vsi_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                      zb_error *err) {
    const VsiCall call(store);
    const char *prefix = list->prefix;
    if (list->is_recursive)
        return ZB_EUNSUPPORTED;
    (void)err; /* a directory that cannot be opened lists nothing, as the interface asks */
    const std::string path = prefix[0] == '\0' ? reinterpret_cast<zarr3::VsiStore *>(store)->root
                                               : zarr3::path_of(store, prefix);
    const std::unique_ptr<VSIDIR, zarr3::Release<VSICloseDir>> directory(
        VSIOpenDir(path.c_str(), 0, nullptr));
    if (directory == nullptr)
        return ZB_OK;
    while (const VSIDIREntry *entry = VSIGetNextDirEntry(directory.get())) {
        bool is_directory = entry->bModeKnown && VSI_ISDIR(entry->nMode);
        if (!entry->bModeKnown) {
            VSIStatBufL stat;
            is_directory = VSIStatL(zarr3::file_in(path, entry->pszName).c_str(), &stat) == 0 &&
                           VSI_ISDIR(stat.st_mode);
        }
        zb_list_entry listed = {};
        listed.name = entry->pszName;
        listed.is_prefix = is_directory;
        if (fn(context, &listed) != 0)
            break;
    }
    return ZB_OK;
}

void vsi_destroy(zb_store *store) {
    delete reinterpret_cast<zarr3::VsiStore *>(store);
}

enum class Kind { kLocal, kDistant, kMemory };

/* For reading, the operations that write stay null; none of either changes a live object. */
zb_store_ops make_ops(Kind kind) {
    zb_store_ops ops = {};
    ops.version = ZB_STORE_OPS_VERSION;
    ops.name = kind == Kind::kMemory ? "vsimem" : "vsi";
    ops.open = guarded<vsi_open>;
    ops.read = guarded<vsi_read>;
    ops.close = guarded<vsi_close>;
    ops.probe = guarded<vsi_probe>;
    ops.list = guarded<vsi_list>;
    ops.destroy = guarded<vsi_destroy>;
    if (kind == Kind::kDistant) {
        ops.submit = vsi_submit;
        ops.cancel = zb_store_cancel_by_threads;
    }
    if (kind == Kind::kMemory)
        zarr3::add_vsi_writing(&ops);
    return ops;
}

const zb_store_ops kLocalOps = make_ops(Kind::kLocal), kDistantOps = make_ops(Kind::kDistant),
                   kMemoryOps = make_ops(Kind::kMemory);

/* Requests to systems that are not local. */
constexpr uint32_t kRequests = 16;               /* as many as there are threads for them */
constexpr uint64_t kPart = uint64_t{2} << 20;    /* bytes: a longer range comes in several */
constexpr uint64_t kWindow = uint64_t{64} << 20; /* bytes */
constexpr uint64_t kMostSeconds = 1000000000;
/* By its index first, a shard takes three round trips: its size, the index, the data. Bytes. */
constexpr uint64_t kSmall = uint64_t{1} << 20;

} // namespace

namespace zarr3 {

enum zb_code open_vsi_store(const std::string &root, zb_store **out, zb_error *err) {
    std::unique_ptr<VsiStore> store(
        new VsiStore{{}, root, CPLStringList(CPLGetThreadLocalConfigOptions()), {false}});
    const bool is_local = VSIIsLocal(root.c_str());
    const bool is_memory = STARTS_WITH(root.c_str(), "/vsimem/");
    zb_store_hints hints = {};
    hints.gap = is_local ? 4096 : 65536;
    hints.max_request = uint64_t{16} << 20;
    hints.is_local = is_local;
    /* Archives, too, may be moved away, or cannot be asked for, while they are read. */
    hints.is_watched = !is_on_server(root);
    /* Plain web servers have no listings worth the name. */
    hints.can_list = root.compare(0, 9, "/vsicurl/") != 0;
    if (!is_local) {
        hints.in_flight = kRequests;
        hints.part = kPart;
        hints.window = kWindow;
        hints.fresh = static_cast<int64_t>(
            std::min(zb_limits_get()->remote_fresh_seconds, kMostSeconds) * 1000000000);
        hints.small = kSmall;
    }
    const zb_store_ops *ops = is_memory ? &kMemoryOps : is_local ? &kLocalOps : &kDistantOps;
    const enum zb_code code = zb_store_init(&store->base, ops, hints, root.c_str(), err);
    if (code == ZB_OK)
        *out = &store.release()->base;
    return code;
}

} // namespace zarr3
