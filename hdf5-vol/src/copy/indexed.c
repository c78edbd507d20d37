/* SPDX-License-Identifier: MIT */
/* See indexed.h. */
#include "copy/indexed.h"

#include "copy/chunk_chains.h"
#include "copy/data.h"
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

/* The codec of shards, as one of whole chunks. */
static bool print_shard(h5_lib *lib, hid_t dcpl, const vol_spec *spec, bool big,
                        const zb_json *usual, zb_json_writer *out) {
    zb_json_begin_array(out);
    zb_json_begin_object(out);
    zb_json_write_name(out, "name");
    zb_json_write_string(out, "sharding_indexed");
    zb_json_write_name(out, "configuration");
    zb_json_begin_object(out);
    zb_json_write_name(out, "chunk_shape");
    zb_json_begin_array(out);
    for (uint32_t d = 0; d < spec->spec.ndim; d++)
        zb_json_write_uint64(out, spec->chunk[d]);
    zb_json_end_array(out);
    zb_json_write_name(out, "codecs");
    const bool known = vol_chunk_codecs(lib, dcpl, blosc_in(usual), big, 0, out);
    zb_json_write_name(out, "index_codecs");
    zb_json_begin_array(out);
    zb_json_begin_object(out);
    zb_json_write_name(out, "name");
    zb_json_write_string(out, "bytes");
    zb_json_write_name(out, "configuration");
    zb_json_begin_object(out);
    zb_json_write_name(out, "endian");
    zb_json_write_string(out, "little");
    zb_json_end_object(out);
    zb_json_end_object(out);
    zb_json_begin_object(out);
    zb_json_write_name(out, "name");
    zb_json_write_string(out, "crc32c");
    zb_json_end_object(out);
    zb_json_end_array(out);
    zb_json_write_name(out, "index_location");
    zb_json_write_string(out, "end");
    zb_json_end_object(out);
    zb_json_end_object(out);
    zb_json_end_array(out);
    return known;
}

enum zb_code vol_indexed_describe(h5_lib *lib, hid_t type, hid_t dcpl, vol_spec *spec,
                                  zb_error *err) {
    bool big;
    zb_json *usual = NULL;
    if (!vol_chunks_same_elements(lib, type, spec->spec.dtype, &big))
        return refuse(err, "its elements are no plain numbers");
    enum zb_code code = take_chunks(spec, err);
    if (!code)
        code = zb_json_parse(spec->codecs, strlen(spec->codecs), &usual, err);
    if (code)
        return code;
    zb_json_writer *out = zb_json_writer_new();
    const bool known = print_shard(lib, dcpl, spec, big, usual, out);
    char *codecs = zb_json_writer_end(out, NULL);
    zb_json_free(usual);
    if (!codecs || !known) {
        free(codecs);
        return codecs ? refuse(err, "no codec of Zarr makes the bytes of its filters: there are "
                                    "shuffle, deflate, fletcher32, zstd, bzip2 and blosc")
                      : zb_fail(err, ZB_ENOMEM, "no memory for a list of codecs");
    }
    free(spec->codecs);
    spec->spec.codecs = spec->codecs = codecs;
    spec->spec.inner_shape = spec->shard;
    spec->spec.shard_shape = NULL;
    spec->spec.chunk_runs = NULL;
    return ZB_OK;
}

/* ---- The chunks ---------------------------------------------------------------------------- */

typedef struct listing {
    const zb_node *array;
    zb_file_chunk *chunks;
    size_t count, capacity;
    hsize_t first[ZB_MAX_NDIM]; /* offset of the first one that was listed */
    bool are_edges_plain;       /* chunks that the edge cuts went through no filter */
    const char *why;            /* it was refused; NULL: memory ran out */
} listing;

static bool add(listing *l, zb_file_chunk chunk) {
    if (l->count == l->capacity) {
        const size_t capacity = l->capacity ? 2 * l->capacity : 256;
        zb_file_chunk *more = realloc(l->chunks, capacity * sizeof *more);
        if (!more)
            return false;
        l->chunks = more;
        l->capacity = capacity;
    }
    l->chunks[l->count++] = chunk;
    return true;
}

static int take_chunk(const hsize_t *offset, unsigned mask, haddr_t address, hsize_t size,
                      void *context) {
    listing *l = context;
    const uint32_t ndim = zb_node_array(l->array)->ndim;
    zb_file_chunk chunk = {.offset = address, .size = size};
    bool is_cut = false;
    for (uint32_t d = 0; d < ndim; d++) {
        const zb_chunk_span span = zb_array_chunk_of(l->array, ZB_GRID_INNER, d, offset[d]);
        if (span.inside == 0)
            return H5_ITER_CONT; /* left behind the edge by a dataset that became smaller */
        is_cut = is_cut || span.inside < span.extent;
        chunk.number = chunk.number * zb_array_chunk_count(l->array, ZB_GRID_INNER, d) + span.index;
    }
    l->why = mask ? "filters were left out of some of its chunks (filter mask)"
             : is_cut && l->are_edges_plain ? "chunks at its edge went through no filter"
                                            : NULL;
    if (l->why)
        return H5_ITER_ERROR;
    if (l->count == 0)
        memcpy(l->first, offset, ndim * sizeof *offset);
    return add(l, chunk) ? H5_ITER_CONT : H5_ITER_ERROR;
}

/* A dataset that nobody has written has no address. */
static bool list_contiguous(h5_lib *lib, hid_t source, listing *l) {
    const haddr_t address = lib->H5Dget_offset(source);
    const zb_file_chunk all = {.offset = address, .size = lib->H5Dget_storage_size(source)};
    return address == HADDR_UNDEF || all.size == 0 || add(l, all);
}

static bool list_chunked(h5_lib *lib, hid_t source, hid_t dcpl, listing *l) {
    unsigned options = 0;
    if (!h5_lib_is_since(lib, 1, 14, 5)) {
        l->why = "this HDF5 tells no places of chunks: take 1.14.5 or later";
        return false;
    }
    if (lib->H5Pget_chunk_opts(dcpl, &options) < 0)
        return false;
    l->are_edges_plain =
        (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) && lib->H5Pget_nfilters(dcpl) > 0;
    return lib->H5Dchunk_iter(source, H5P_DEFAULT, take_chunk, l) >= 0;
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
static const char *find_base(h5_lib *lib, hid_t dxpl, hid_t source, vol_node *node, listing *l,
                             const native *n) {
    static const char elsewhere[] = "its chunks are not where HDF5 tells";
    const vol_moves moves = {.lib = lib, .dxpl = dxpl, .node = node};
    if (n->block == 0 || l->count == 0)
        return NULL;
    const zb_file_chunk *chunk = &l->chunks[0];
    if (chunk->size > zb_limits_get()->shard_bytes)
        return elsewhere;
    uint8_t *bytes = malloc(2 * (size_t)chunk->size), *room = bytes + chunk->size;
    const bool is_read = bytes && vol_chunk_get(&moves, lib->H5VLobject(source), l->first, bytes,
                                                (size_t)chunk->size) >= 0;
    const bool here = is_read && is_moved_by(n, chunk, bytes, room, 0);
    const bool behind = is_read && is_moved_by(n, chunk, bytes, room, n->block);
    free(bytes);
    for (size_t i = 0; i < l->count && behind; i++)
        l->chunks[i].offset += n->block;
    return here == behind ? elsewhere : NULL;
}

static enum zb_code take_file(h5_lib *lib, hid_t dxpl, hid_t source, hid_t dcpl, vol_node *node,
                              zb_error *err) {
    native n;
    listing l = {.array = node->zarr};
    const bool is_chunked = lib->H5Pget_layout(dcpl) == H5D_CHUNKED;
    const char *why = open_native(lib, source, &n);
    enum zb_code code = ZB_OK;
    if (!why &&
        !(is_chunked ? list_chunked(lib, source, dcpl, &l) : list_contiguous(lib, source, &l))) {
        why = l.why;
        code = why ? ZB_OK : zb_fail(err, ZB_ENOMEM, "its chunks cannot be listed");
    }
    if (!code && !why && is_chunked)
        why = find_base(lib, dxpl, source, node, &l, &n);
    if (!code && why)
        code = refuse(err, why);
    const zb_file_shard shard = {
        .fd = n.fd, .length = n.length, .chunks = l.chunks, .count = l.count};
    if (!code)
        code = zb_array_take_file(node->zarr, &shard, err);
    close_native(lib, &n);
    free(l.chunks);
    return code;
}

herr_t vol_indexed_take(h5_lib *lib, hid_t dxpl, hid_t source, vol_node *node) {
    zb_error err = {0};
    hid_t dcpl = lib->H5Dget_create_plist(source), saved = vol_stack_save(lib);
    const enum zb_code code = dcpl >= 0 ? take_file(lib, dxpl, source, dcpl, node, &err)
                                        : zb_fail(&err, ZB_EIO, "its creation list cannot be had");
    vol_stack_restore(lib, saved);
    vol_release_id(lib, dcpl);
    return code ? vol_copy_failed(lib, node->path, &err) : 0;
}
