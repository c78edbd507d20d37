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

enum library { RAW, ZSTD, GZIP, BLOSC };

typedef struct job {
    const char *directory;
    const zb_array_info *info;
    enum library library;
    unsigned char *out;
    uint64_t chunk_grid[ZB_MAX_NDIM], inner_grid[ZB_MAX_NDIM];
    uint64_t chunks, inners; /* inners: per chunk */
    uint64_t **indexes;      /* [chunks], of the shards */
    int *files;              /* [chunks] */
    atomic_size_t next;
} job;

static void die(const char *what) {
    fprintf(stderr, "zb-bench: calibration: %s\n", what);
    exit(1);
}

static enum library library_of(const zb_array_info *info) {
    const char *last = info->codecs[info->codec_count - 1].name;
    if (strcmp(last, "bytes") == 0)
        return RAW;
    if (strcmp(last, "zstd") == 0)
        return ZSTD;
    if (strcmp(last, "gzip") == 0)
        return GZIP;
    if (strcmp(last, "blosc") == 0)
        return BLOSC;
    die("no bare library for this codec");
    return RAW;
}

static void unravel(uint64_t number, const uint64_t *grid, uint32_t ndim, uint64_t *index) {
    for (uint32_t d = ndim; d-- > 0; number /= grid[d])
        index[d] = number % grid[d];
}

static int open_chunk(const job *j, uint64_t chunk) {
    uint64_t index[ZB_MAX_NDIM];
    unravel(chunk, j->chunk_grid, j->info->ndim, index);
    char path[4096];
    int used = snprintf(path, sizeof path, "%s/c", j->directory);
    for (uint32_t d = 0; d < j->info->ndim; d++)
        used += snprintf(path + used, sizeof path - (size_t)used, "/%llu",
                         (unsigned long long)index[d]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die(path);
    return fd;
}

static uint64_t size_of(int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        die("fstat");
    return (uint64_t)st.st_size;
}

/* The index: 16 bytes an inner chunk and a checksum, at the end. */
static uint64_t *read_index(int fd, uint64_t inners) {
    size_t bytes = (size_t)inners * 16;
    uint64_t *index = malloc(bytes);
    if (!index || pread(fd, index, bytes, (off_t)(size_of(fd) - bytes - 4)) != (ssize_t)bytes)
        die("cannot read a shard index");
    return index;
}

static void decode(enum library library, ZSTD_DCtx *zstd, struct libdeflate_decompressor *deflate,
                   const void *in, size_t size, void *out, size_t out_size) {
    size_t got = 0;
    switch (library) {
    case RAW:
        break;
    case ZSTD:
        got = ZSTD_decompressDCtx(zstd, out, out_size, in, size);
        break;
    case GZIP:
        if (libdeflate_gzip_decompress(deflate, in, size, out, out_size, &got) != 0)
            got = 0;
        break;
    case BLOSC:
        got = (size_t)blosc_decompress_ctx(in, out, out_size, 1);
        break;
    }
    if (got != out_size)
        die("a chunk does not decode");
}

/* Copies a C-order chunk to its place, row by row. */
static void copy_rows(const job *j, const unsigned char *chunk, const uint64_t *origin) {
    const zb_array_info *info = j->info;
    uint32_t ndim = info->ndim;
    size_t row = (size_t)info->inner_shape[ndim - 1] * info->dtype.size;
    uint64_t rows = 1, at[ZB_MAX_NDIM] = {0};
    for (uint32_t d = 0; d + 1 < ndim; d++)
        rows *= info->inner_shape[d];
    for (uint64_t r = 0; r < rows; r++) {
        uint64_t offset = 0;
        for (uint32_t d = 0; d < ndim; d++)
            offset = offset * info->shape[d] + origin[d] + at[d];
        memcpy(j->out + offset * info->dtype.size, chunk + r * row, row);
        for (uint32_t d = ndim - 1; d-- > 0 && ++at[d] == info->inner_shape[d];)
            at[d] = 0;
    }
}

static void *work(void *context) {
    job *j = context;
    const zb_array_info *info = j->info;
    size_t decoded_size = info->dtype.size;
    for (uint32_t d = 0; d < info->ndim; d++)
        decoded_size *= (size_t)info->inner_shape[d];
    unsigned char *encoded = malloc(2 * decoded_size + 65536), *decoded = malloc(decoded_size);
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    struct libdeflate_decompressor *deflate = libdeflate_alloc_decompressor();
    if (!encoded || !decoded || !zstd || !deflate)
        die("no memory");
    for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->chunks * j->inners;) {
        uint64_t chunk = i / j->inners, inner = i % j->inners, place[ZB_MAX_NDIM],
                 inner_place[ZB_MAX_NDIM];
        unravel(chunk, j->chunk_grid, info->ndim, place);
        unravel(inner, j->inner_grid, info->ndim, inner_place);
        for (uint32_t d = 0; d < info->ndim; d++)
            place[d] = place[d] * info->chunk_shape[d] + inner_place[d] * info->inner_shape[d];
        uint64_t offset = j->indexes ? j->indexes[chunk][2 * inner] : 0;
        uint64_t size = j->indexes ? j->indexes[chunk][2 * inner + 1] : size_of(j->files[chunk]);
        unsigned char *target = j->library == RAW ? decoded : encoded;
        if (pread(j->files[chunk], target, (size_t)size, (off_t)offset) != (ssize_t)size)
            die("a short read");
        if (j->library != RAW)
            decode(j->library, zstd, deflate, encoded, (size_t)size, decoded, decoded_size);
        copy_rows(j, decoded, place);
    }
    libdeflate_free_decompressor(deflate);
    ZSTD_freeDCtx(zstd);
    free(encoded);
    free(decoded);
    return NULL;
}

static job new_job(const char *directory, const zb_array_info *info) {
    job j = {.directory = directory,
             .info = info,
             .library = library_of(info),
             .chunks = 1,
             .inners = 1};
    for (uint32_t d = 0; d < info->ndim; d++) {
        j.chunk_grid[d] = info->shape[d] / info->chunk_shape[d];
        j.inner_grid[d] = info->chunk_shape[d] / info->inner_shape[d];
        j.chunks *= j.chunk_grid[d];
        j.inners *= j.inner_grid[d];
    }
    return j;
}

void bare_read(const char *directory, const zb_array_info *info, unsigned threads, void *out) {
    job j = new_job(directory, info);
    j.out = out;
    j.files = calloc(j.chunks, sizeof *j.files);
    j.indexes = info->shard_depth ? calloc(j.chunks, sizeof *j.indexes) : NULL;
    for (uint64_t i = 0; i < j.chunks; i++) {
        j.files[i] = open_chunk(&j, i);
        if (j.indexes)
            j.indexes[i] = read_index(j.files[i], j.inners);
    }
    pthread_t helpers[64];
    for (unsigned i = 0; i + 1 < threads && i < 64; i++)
        pthread_create(&helpers[i], NULL, work, &j);
    work(&j);
    for (unsigned i = 0; i + 1 < threads && i < 64; i++)
        pthread_join(helpers[i], NULL);
    for (uint64_t i = 0; i < j.chunks; i++) {
        close(j.files[i]);
        if (j.indexes)
            free(j.indexes[i]);
    }
    free(j.files);
    free(j.indexes);
}

double bare_decode_ms(const char *directory, const zb_array_info *info, double (*now_ms)(void)) {
    job j = new_job(directory, info);
    int fd = open_chunk(&j, 0);
    uint64_t *index = read_index(fd, j.inners), inner = j.inner_grid[1] + 1;
    size_t size = (size_t)index[2 * inner + 1], decoded_size = info->dtype.size;
    for (uint32_t d = 0; d < info->ndim; d++)
        decoded_size *= (size_t)info->inner_shape[d];
    unsigned char *encoded = malloc(size), *decoded = malloc(decoded_size);
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    struct libdeflate_decompressor *deflate = libdeflate_alloc_decompressor();
    if (!encoded || !decoded || !zstd || !deflate ||
        pread(fd, encoded, size, (off_t)index[2 * inner]) != (ssize_t)size)
        die("cannot read an inner chunk");
    double least = 1e30;
    for (int i = 0; i < 200; i++) {
        double start = now_ms();
        if (j.library == RAW)
            memcpy(decoded, encoded, decoded_size);
        else
            decode(j.library, zstd, deflate, encoded, size, decoded, decoded_size);
        double took = now_ms() - start;
        least = took < least ? took : least;
    }
    libdeflate_free_decompressor(deflate);
    ZSTD_freeDCtx(zstd);
    free(encoded);
    free(decoded);
    free(index);
    close(fd);
    return least;
}
