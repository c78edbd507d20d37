/* SPDX-License-Identifier: MIT */
#include "bare.h"

#include <blosc.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "bare_job.h"

typedef struct job {
    const char *directory;
    const zb_array_info *info;
    bare_grid grid;
    unsigned char *out;
    uint64_t **indexes; /* [chunks], of the shards */
    int *files;         /* [chunks] */
    atomic_size_t next;
} job;

void bare_die(const char *what) {
    fprintf(stderr, "zb-bench: calibration: %s\n", what);
    exit(1);
}

static enum bare_library library_of(const zb_array_info *info) {
    const char *last = info->codecs[info->codec_count - 1].name;
    if (strcmp(last, "bytes") == 0)
        return BARE_RAW;
    if (strcmp(last, "zstd") == 0)
        return BARE_ZSTD;
    if (strcmp(last, "gzip") == 0)
        return BARE_GZIP;
    if (strcmp(last, "blosc") == 0)
        return BARE_BLOSC;
    bare_die("no bare library for this codec");
}

/* Is the codec one of `bytes`, the library's and those of shards? */
static bool is_plain(const char *name) {
    static const char *const plain[] = {"bytes", "zstd", "gzip", "blosc", "sharding_indexed",
                                        "crc32c"};
    bool found = false;
    for (size_t i = 0; i < sizeof plain / sizeof *plain && !found; i++)
        found = strcmp(name, plain[i]) == 0;
    return found;
}

bool bare_knows(const char *directory, const zb_node *node) {
    const zb_array_info *info = zb_node_array(node);
    char path[BARE_PATH];
    snprintf(path, sizeof path, "%s/zarr.json", directory);
    bool known = access(path, F_OK) == 0 && info->ndim > 0 && !zb_dtype_is_variable(info->dtype);
    for (size_t i = 0; i < info->codec_count && known; i++)
        known = is_plain(info->codecs[i].name);
    for (uint32_t d = 0; d < info->ndim && known; d++)
        known = zb_array_run_count(node, d) == 0 && info->shape[d] % info->chunk_shape[d] == 0;
    return known;
}

static void unravel(uint64_t number, const uint64_t *grid, uint32_t ndim, uint64_t *index) {
    for (uint32_t d = ndim; d-- > 0; number /= grid[d])
        index[d] = number % grid[d];
}

bare_grid bare_grid_of(const zb_array_info *info) {
    bare_grid grid = {
        .library = library_of(info), .chunks = 1, .inners = 1, .inner_bytes = info->dtype.size};
    for (uint32_t d = 0; d < info->ndim; d++) {
        grid.chunk[d] = info->shape[d] / info->chunk_shape[d];
        grid.inner[d] = info->chunk_shape[d] / info->inner_shape[d];
        grid.chunks *= grid.chunk[d];
        grid.inners *= grid.inner[d];
        grid.inner_bytes *= (size_t)info->inner_shape[d];
    }
    return grid;
}

void bare_origin(const bare_grid *grid, const zb_array_info *info, uint64_t chunk, uint64_t inner,
                 uint64_t *origin) {
    uint64_t inner_place[ZB_MAX_NDIM];
    unravel(chunk, grid->chunk, info->ndim, origin);
    unravel(inner, grid->inner, info->ndim, inner_place);
    for (uint32_t d = 0; d < info->ndim; d++)
        origin[d] = origin[d] * info->chunk_shape[d] + inner_place[d] * info->inner_shape[d];
}

void bare_chunk_path(const bare_grid *grid, const zb_array_info *info, const char *directory,
                     uint64_t chunk, char *path) {
    uint64_t index[ZB_MAX_NDIM];
    unravel(chunk, grid->chunk, info->ndim, index);
    int used = snprintf(path, BARE_PATH, "%s/c", directory);
    for (uint32_t d = 0; d < info->ndim; d++)
        used +=
            snprintf(path + used, BARE_PATH - (size_t)used, "/%llu", (unsigned long long)index[d]);
}

void bare_copy_rows(const bare_grid *grid, const zb_array_info *info, unsigned char *array,
                    unsigned char *inner, const uint64_t *origin, bool into_array) {
    uint32_t ndim = info->ndim;
    size_t row = (size_t)info->inner_shape[ndim - 1] * info->dtype.size;
    uint64_t at[ZB_MAX_NDIM] = {0};
    for (size_t done = 0; done < grid->inner_bytes; done += row) {
        uint64_t offset = 0;
        for (uint32_t d = 0; d < ndim; d++)
            offset = offset * info->shape[d] + origin[d] + at[d];
        unsigned char *place = array + offset * info->dtype.size;
        memcpy(into_array ? place : inner + done, into_array ? inner + done : place, row);
        for (uint32_t d = ndim - 1; d-- > 0 && ++at[d] == info->inner_shape[d];)
            at[d] = 0;
    }
}

static int open_chunk(const job *j, uint64_t chunk) {
    char path[BARE_PATH];
    bare_chunk_path(&j->grid, j->info, j->directory, chunk, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bare_die(path);
    return fd;
}

static uint64_t size_of(int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        bare_die("fstat");
    return (uint64_t)st.st_size;
}

/* The index: 16 bytes an inner chunk and a checksum, at the end. */
static uint64_t *read_index(int fd, uint64_t inners) {
    size_t bytes = (size_t)inners * 16;
    uint64_t *index = malloc(bytes);
    if (!index || pread(fd, index, bytes, (off_t)(size_of(fd) - bytes - 4)) != (ssize_t)bytes)
        bare_die("cannot read a shard index");
    return index;
}

static void decode(enum bare_library library, ZSTD_DCtx *zstd,
                   struct libdeflate_decompressor *deflate, const void *in, size_t size, void *out,
                   size_t out_size) {
    size_t got = 0;
    switch (library) {
    case BARE_RAW:
        break;
    case BARE_ZSTD:
        got = ZSTD_decompressDCtx(zstd, out, out_size, in, size);
        break;
    case BARE_GZIP:
        if (libdeflate_gzip_decompress(deflate, in, size, out, out_size, &got) != 0)
            got = 0;
        break;
    case BARE_BLOSC:
        got = (size_t)blosc_decompress_ctx(in, out, out_size, 1);
        break;
    }
    if (got != out_size)
        bare_die("a chunk does not decode");
}

static void *work(void *context) {
    job *j = context;
    const bare_grid *grid = &j->grid;
    size_t size_max = 2 * grid->inner_bytes + 65536;
    unsigned char *encoded = malloc(size_max), *decoded = malloc(grid->inner_bytes);
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    struct libdeflate_decompressor *deflate = libdeflate_alloc_decompressor();
    if (!encoded || !decoded || !zstd || !deflate)
        bare_die("no memory");
    for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < grid->chunks * grid->inners;) {
        uint64_t chunk = i / grid->inners, inner = i % grid->inners, origin[ZB_MAX_NDIM];
        bare_origin(grid, j->info, chunk, inner, origin);
        uint64_t offset = j->indexes ? j->indexes[chunk][2 * inner] : 0;
        uint64_t size = j->indexes ? j->indexes[chunk][2 * inner + 1] : size_of(j->files[chunk]);
        bool raw = grid->library == BARE_RAW;
        if (pread(j->files[chunk], raw ? decoded : encoded, (size_t)size, (off_t)offset) !=
            (ssize_t)size)
            bare_die("a short read");
        if (!raw)
            decode(grid->library, zstd, deflate, encoded, (size_t)size, decoded, grid->inner_bytes);
        bare_copy_rows(grid, j->info, j->out, decoded, origin, true);
    }
    libdeflate_free_decompressor(deflate);
    ZSTD_freeDCtx(zstd);
    free(encoded);
    free(decoded);
    return NULL;
}

void bare_read(const char *directory, const zb_array_info *info, unsigned threads, void *out) {
    job j = {.directory = directory, .info = info, .grid = bare_grid_of(info), .out = out};
    j.files = calloc(j.grid.chunks, sizeof *j.files);
    j.indexes = info->shard_depth ? calloc(j.grid.chunks, sizeof *j.indexes) : NULL;
    for (uint64_t i = 0; i < j.grid.chunks; i++) {
        j.files[i] = open_chunk(&j, i);
        if (j.indexes)
            j.indexes[i] = read_index(j.files[i], j.grid.inners);
    }
    pthread_t helpers[64];
    for (unsigned i = 0; i + 1 < threads && i < 64; i++)
        pthread_create(&helpers[i], NULL, work, &j);
    work(&j);
    for (unsigned i = 0; i + 1 < threads && i < 64; i++)
        pthread_join(helpers[i], NULL);
    for (uint64_t i = 0; i < j.grid.chunks; i++) {
        close(j.files[i]);
        if (j.indexes)
            free(j.indexes[i]);
    }
    free(j.files);
    free(j.indexes);
}

least bare_decode_time(const char *directory, const zb_array_info *info) {
    job j = {.directory = directory, .info = info, .grid = bare_grid_of(info)};
    int fd = open_chunk(&j, 0);
    uint64_t *index = read_index(fd, j.grid.inners), inner = j.grid.inner[1] + 1;
    size_t size = (size_t)index[2 * inner + 1], decoded_size = j.grid.inner_bytes;
    unsigned char *encoded = malloc(size), *decoded = malloc(decoded_size);
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    struct libdeflate_decompressor *deflate = libdeflate_alloc_decompressor();
    if (!encoded || !decoded || !zstd || !deflate ||
        pread(fd, encoded, size, (off_t)index[2 * inner]) != (ssize_t)size)
        bare_die("cannot read an inner chunk");
    least time = LEAST_NONE;
    for (int i = 0; i < 200; i++) {
        moment start = moment_now();
        if (j.grid.library == BARE_RAW)
            memcpy(decoded, encoded, decoded_size);
        else
            decode(j.grid.library, zstd, deflate, encoded, size, decoded, decoded_size);
        moment_end(start, &time);
    }
    libdeflate_free_decompressor(deflate);
    ZSTD_freeDCtx(zstd);
    free(encoded);
    free(decoded);
    free(index);
    close(fd);
    return time;
}
