/* SPDX-License-Identifier: MIT */
/* See indexed.h. */
#include "encoded/indexed.h"

#include "encoded/chunk_chains.h"
#include "copy/data.h"
#include "encoded/hdf5_chunks.h"
#include "copy/walk.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"

#include "zarrbridge/file_shard.h"
#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- The array ----------------------------------------------------------------------------- */

static enum zb_code refuse(zb_error *err, const char *reason) {
    return zb_fail(err, ZB_EUNSUPPORTED, "it cannot stay in its file: %s", reason);
}

/* One inner chunk for a contiguous dataset; the shard has whole ones. */
static enum zb_code take_chunks(vol_spec *spec, zb_error *err) {
    if (spec->layout != H5D_CHUNKED && spec->layout != H5D_CONTIGUOUS)
        return refuse(err, "it is compact, within the object's header");
    if (spec->spec.ndim == 0)
        return refuse(err, "it is a scalar, and shards have dimensions");
    for (uint32_t d = 0; d < spec->spec.ndim; d++) {
        const uint64_t length = spec->shape[d];
        if (length == 0)
            return refuse(err, "it has no elements");
        if (spec->layout == H5D_CONTIGUOUS)
            spec->chunk[d] = length;
        const uint64_t rest = length % spec->chunk[d];
        if (__builtin_add_overflow(length, rest ? spec->chunk[d] - rest : 0, &spec->shard[d]))
            return refuse(err, "its chunks reach beyond any shape");
    }
    return ZB_OK;
}

/* The configuration of blosc in a list of codecs, if it is there. */
static const zb_json *blosc_in(const zb_json *codecs) {
    for (const zb_json *codec = zb_json_first(codecs); codec; codec = zb_json_next(codec)) {
        const char *name = zb_json_string(zb_json_get(codec, "name"));
        if (name && strcmp(name, "blosc") == 0)
            return zb_json_get(codec, "configuration");
    }
    return NULL;
}

/* The codecs of inner chunks, malloc'ed; NULL: no memory. *known: no filter lacks one. */
static char *inner_codecs(h5_lib *lib, hid_t dcpl, const zb_json *usual, bool *known) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_array(out);
    *known = vol_chunk_codecs(lib, dcpl, blosc_in(usual), 0, out);
    zb_json_end_array(out);
    return zb_json_writer_end(out, NULL);
}

enum zb_code vol_indexed_describe(h5_lib *lib, hid_t type, hid_t dcpl, vol_spec *spec,
                                  zb_error *err) {
    bool big, known;
    zb_json *usual = NULL;
    if (!vol_chunks_same_elements(lib, type, spec->spec.dtype, &big))
        return refuse(err, "its elements are no plain numbers");
    enum zb_code code = take_chunks(spec, err);
    if (!code)
        code = zb_json_parse(spec->codecs, strlen(spec->codecs), &usual, err);
    if (code)
        return code;
    char *codecs = inner_codecs(lib, dcpl, usual, &known);
    zb_json_free(usual);
    if (!codecs || !known) {
        free(codecs);
        return codecs ? refuse(err, "no codec of Zarr makes the bytes of its filters: there are "
                                    "shuffle, deflate, fletcher32, zstd, bzip2 and blosc")
                      : zb_fail(err, ZB_ENOMEM, "no memory for a list of codecs");
    }
    free(spec->codecs);
    spec->spec.codecs = spec->codecs = codecs;
    spec->spec.inner_shape = spec->chunk;
    spec->spec.shard_shape = spec->shard;
    spec->spec.chunk_runs = NULL;
    return ZB_OK;
}

/* ---- The chunks ---------------------------------------------------------------------------- */

/* A dataset that nobody has written has no address. */
static bool list_contiguous(h5_lib *lib, hid_t source, vol_hdf5_chunks *list) {
    const vol_hdf5_chunk all = {.address = lib->H5Dget_offset(source),
                                .size = lib->H5Dget_storage_size(source)};
    if (all.address == HADDR_UNDEF || all.size == 0)
        return true;
    list->chunk = malloc(sizeof *list->chunk);
    if (list->chunk)
        list->chunk[list->count++] = all;
    return list->chunk;
}

static enum zb_code take_listed(const vol_hdf5_chunks *list, zb_file_chunk *out, zb_error *err) {
    for (size_t i = 0; i < list->count; i++) {
        const vol_hdf5_chunk *chunk = &list->chunk[i];
        if (chunk->mask)
            return refuse(err, "filters were left out of some of its chunks (filter mask)");
        if (chunk->is_plain)
            return refuse(err, "chunks at its edge went through no filter");
        out[i] =
            (zb_file_chunk){.number = chunk->number, .offset = chunk->address, .size = chunk->size};
    }
    return ZB_OK;
}

/* *out is malloc'ed. */
static enum zb_code list_chunks(h5_lib *lib, hid_t source, hid_t dcpl, const zb_node *array,
                                zb_file_chunk **out, size_t *count, zb_error *err) {
    const bool is_chunked = lib->H5Pget_layout(dcpl) == H5D_CHUNKED;
    vol_hdf5_chunks list = {.array = array};
    if (is_chunked && !vol_hdf5_tells_chunks(lib))
        return refuse(err, "this HDF5 tells no places of chunks: take 1.14.5 or later");
    if (is_chunked ? vol_hdf5_chunks_list(lib, source, dcpl, &list)
                   : list_contiguous(lib, source, &list))
        *out = calloc(list.count ? list.count : 1, sizeof **out);
    const enum zb_code code = *out ? take_listed(&list, *out, err)
                                   : zb_fail(err, ZB_ENOMEM, "its chunks cannot be listed");
    *count = list.count;
    free(list.chunk);
    return code;
}

/* ---- The file ------------------------------------------------------------------------------ */

typedef struct native {
    hid_t file, fapl, fcpl;
    int fd;
    haddr_t length;
    hsize_t block; /* bytes in front of HDF5's own */
} native;

static const char *open_native(h5_lib *lib, hid_t source, native *out) {
    unsigned intent = 0;
    void *handle = NULL;
    *out = (native){.file = lib->H5Iget_file_id(source), .fapl = -1, .fcpl = -1};
    out->fapl = out->file < 0 ? -1 : lib->H5Fget_access_plist(out->file);
    out->fcpl = out->file < 0 ? -1 : lib->H5Fget_create_plist(out->file);
    if (out->fapl < 0 || out->fcpl < 0 || lib->H5Pget_userblock(out->fcpl, &out->block) < 0)
        return "its file does not tell of itself";
    if (!vol_fapl_is_sec2(lib, out->fapl))
        return "the file is not open by HDF5's usual driver (sec2)";
    if (lib->H5Fget_intent(out->file, &intent) < 0 || (intent & H5_ACC_RDWR))
        return "the file is open for writing: open it for reading";
    if (lib->H5Fget_vfd_handle(out->file, out->fapl, &handle) < 0 || !handle ||
        lib->H5Fget_eoa(out->file, &out->length) < 0)
        return "its file does not tell of itself";
    out->fd = *(const int *)handle;
    return NULL;
}

static void close_native(h5_lib *lib, const native *n) {
    vol_release_id(lib, n->fapl);
    vol_release_id(lib, n->fcpl);
    vol_release_id(lib, n->file);
}

/* Whether the bytes of the first chunk are at its address, moved by so many. */
static bool is_moved_by(const native *n, const zb_file_chunk *chunk, const uint8_t *bytes,
                        uint8_t *room, hsize_t by) {
    return pread(n->fd, room, (size_t)chunk->size, (off_t)(chunk->offset + by)) ==
               (ssize_t)chunk->size &&
           memcmp(room, bytes, (size_t)chunk->size) == 0;
}

/* Versions of HDF5 differ in whether addresses of chunks count the block in front of its own bytes.
   The bytes of one tell. */
static enum zb_code find_base(const vol_moves *moves, hid_t source, const native *n,
                              zb_file_chunk *chunks, size_t count, zb_error *err) {
    static const char elsewhere[] = "its chunks are not where HDF5 tells";
    uint64_t index[ZB_MAX_NDIM];
    if (n->block == 0 || count == 0)
        return ZB_OK;
    const size_t size = (size_t)chunks[0].size;
    if (chunks[0].size > zb_limits_get()->shard_bytes)
        return refuse(err, elsewhere);
    uint8_t *bytes = malloc(2 * size), *room = bytes + size;
    vol_chunk_index(moves->node->zarr, ZB_GRID_INNER, chunks[0].number, index);
    const bool is_read =
        bytes && vol_chunk_get(moves, moves->lib->H5VLobject(source), index, bytes, size) >= 0;
    const bool here = is_read && is_moved_by(n, &chunks[0], bytes, room, 0);
    const bool behind = is_read && is_moved_by(n, &chunks[0], bytes, room, n->block);
    free(bytes);
    for (size_t i = 0; i < count && behind; i++)
        chunks[i].offset += n->block;
    return here == behind ? refuse(err, elsewhere) : ZB_OK;
}

static enum zb_code take_file(const vol_moves *moves, hid_t source, hid_t dcpl, zb_error *err) {
    h5_lib *lib = moves->lib;
    const zb_node *array = moves->node->zarr;
    native n;
    zb_file_chunk *chunks = NULL;
    size_t count = 0;
    const char *why = open_native(lib, source, &n);
    enum zb_code code =
        why ? refuse(err, why) : list_chunks(lib, source, dcpl, array, &chunks, &count, err);
    if (!code && lib->H5Pget_layout(dcpl) == H5D_CHUNKED)
        code = find_base(moves, source, &n, chunks, count, err);
    const zb_file_shard shard = {.fd = n.fd, .length = n.length, .chunks = chunks, .count = count};
    if (!code)
        code = zb_array_take_file(array, &shard, err);
    close_native(lib, &n);
    free(chunks);
    return code;
}

herr_t vol_indexed_take(h5_lib *lib, hid_t dxpl, hid_t source, vol_node *node) {
    const vol_moves moves = {.lib = lib, .dxpl = dxpl, .node = node};
    zb_error err = {0};
    hid_t dcpl = lib->H5Dget_create_plist(source), saved = vol_stack_save(lib);
    const enum zb_code code = dcpl >= 0 ? take_file(&moves, source, dcpl, &err)
                                        : zb_fail(&err, ZB_EIO, "its creation list cannot be had");
    vol_stack_restore(lib, saved);
    vol_release_id(lib, dcpl);
    return code ? vol_copy_failed(lib, node->path, &err) : 0;
}
