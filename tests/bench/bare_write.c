/* SPDX-License-Identifier: MIT */
/*
 * The writing half of the calibration. A task is a chunk: its inner chunks are copied out of the
 * array one after the other, encoded behind each other into one buffer, and the file is written
 * with one call. Without temporary names, locks and plans, this is the least work that these
 * threads can do.
 */
#include <blosc.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "bare.h"
#include "bare_job.h"

/* The settings of the data sets (make_data.py). */
enum { ZSTD_LEVEL = 3, GZIP_LEVEL = 5, BLOSC_LEVEL = 5 };

typedef struct job {
    const char *directory;
    const zb_array_info *info;
    bare_grid grid;
    unsigned char *array; /* only read */
    atomic_size_t next;
} job;

typedef struct encoder {
    ZSTD_CCtx *zstd;
    struct libdeflate_compressor *deflate;
} encoder;

static size_t encode(const job *j, const encoder *e, const void *in, void *out, size_t capacity) {
    size_t size = j->grid.inner_bytes, done = 0;
    switch (j->grid.library) {
    case BARE_RAW:
        return size; /* they are there already */
    case BARE_ZSTD:
        done = ZSTD_compressCCtx(e->zstd, out, capacity, in, size, ZSTD_LEVEL);
        return ZSTD_isError(done) ? 0 : done;
    case BARE_GZIP:
        return libdeflate_gzip_compress(e->deflate, in, size, out, capacity);
    case BARE_BLOSC:
        return (size_t)blosc_compress_ctx(BLOSC_LEVEL, BLOSC_SHUFFLE, j->info->dtype.size, size, in,
                                          out, size + BLOSC_MAX_OVERHEAD, "lz4", 0, 1);
    }
    return done;
}

/* Bit by bit: an index is small. */
static uint32_t crc32c(const unsigned char *bytes, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

static void write_file(const job *j, uint64_t chunk, const unsigned char *bytes, size_t size) {
    char path[BARE_PATH];
    bare_chunk_path(&j->grid, j->info, j->directory, chunk, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    for (size_t done = 0; fd >= 0 && done < size;) {
        ssize_t n = write(fd, bytes + done, size - done);
        if (n <= 0)
            bare_die(path);
        done += (size_t)n;
    }
    if (fd < 0 || close(fd) != 0)
        bare_die(path);
}

static void *work(void *context) {
    job *j = context;
    const bare_grid *grid = &j->grid;
    bool sharded = j->info->shard_depth > 0;
    size_t bound = ZSTD_compressBound(grid->inner_bytes) + 1024; /* the largest of all */
    unsigned char *inner = malloc(grid->inner_bytes), *out = malloc(bound * grid->inners + 65536);
    uint64_t *index = malloc(grid->inners * 16 + 4);
    encoder e = {ZSTD_createCCtx(), libdeflate_alloc_compressor(GZIP_LEVEL)};
    if (!inner || !out || !index || !e.zstd || !e.deflate)
        bare_die("no memory");
    for (size_t chunk; (chunk = atomic_fetch_add(&j->next, 1)) < grid->chunks;) {
        size_t at = 0;
        for (uint64_t i = 0; i < grid->inners; i++) {
            uint64_t origin[ZB_MAX_NDIM];
            bare_origin(grid, j->info, chunk, i, origin);
            /* Inner chunks that are not encoded need no place of their own. */
            unsigned char *elements = grid->library == BARE_RAW ? out + at : inner;
            bare_copy_rows(grid, j->info, j->array, elements, origin, false);
            size_t size = encode(j, &e, elements, out + at, bound);
            if (size == 0)
                bare_die("a chunk does not encode");
            index[2 * i] = at;
            index[2 * i + 1] = size;
            at += size;
        }
        if (sharded) {
            size_t bytes = (size_t)grid->inners * 16;
            uint32_t crc = crc32c((unsigned char *)index, bytes);
            memcpy(out + at, index, bytes);
            memcpy(out + at + bytes, &crc, 4);
            at += bytes + 4;
        }
        write_file(j, chunk, out, at);
    }
    libdeflate_free_compressor(e.deflate);
    ZSTD_freeCCtx(e.zstd);
    free(inner);
    free(out);
    free(index);
    return NULL;
}

static void make_directories(const job *j) {
    for (uint64_t chunk = 0; chunk < j->grid.chunks; chunk++) {
        char path[BARE_PATH];
        bare_chunk_path(&j->grid, j->info, j->directory, chunk, path);
        for (char *at = path + strlen(j->directory); (at = strchr(at + 1, '/'));) {
            *at = '\0';
            mkdir(path, 0777);
            *at = '/';
        }
    }
}

void bare_write(const char *directory, const zb_array_info *info, unsigned threads,
                const void *array) {
    job j = {.directory = directory,
             .info = info,
             .grid = bare_grid_of(info),
             .array = (unsigned char *)(uintptr_t)array};
    make_directories(&j);
    pthread_t helpers[64];
    for (unsigned i = 0; i + 1 < threads && i < 64; i++)
        pthread_create(&helpers[i], NULL, work, &j);
    work(&j);
    for (unsigned i = 0; i + 1 < threads && i < 64; i++)
        pthread_join(helpers[i], NULL);
}
