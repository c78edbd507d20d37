/* SPDX-License-Identifier: MIT */
/* The common part of both halves of the calibration. */
#ifndef ZB_BENCH_BARE_JOB_H
#define ZB_BENCH_BARE_JOB_H

#include "zarrbridge/zarrbridge.h"

enum bare_library { BARE_RAW, BARE_ZSTD, BARE_GZIP, BARE_BLOSC };

/* An array's chunks by number. */
typedef struct bare_grid {
    enum bare_library library;
    uint64_t chunk[ZB_MAX_NDIM], inner[ZB_MAX_NDIM]; /* chunks; inner chunks per chunk */
    uint64_t chunks, inners;                         /* inners: per chunk */
    size_t inner_bytes;                              /* decoded */
} bare_grid;

/* Exits with a message when the array is not of the kinds that bare.h names. */
bare_grid bare_grid_of(const zb_array_info *info);

/* The first element of an inner chunk. */
void bare_origin(const bare_grid *grid, const zb_array_info *info, uint64_t chunk, uint64_t inner,
                 uint64_t *origin);

/* The file of a chunk; path needs BARE_PATH bytes. */
#define BARE_PATH 4096
void bare_chunk_path(const bare_grid *grid, const zb_array_info *info, const char *directory,
                     uint64_t chunk, char *path);

/* Copies an inner chunk row by row between its own memory and the whole array's. */
void bare_copy_rows(const bare_grid *grid, const zb_array_info *info, unsigned char *array,
                    unsigned char *inner, const uint64_t *origin, bool into_array);

_Noreturn void bare_die(const char *what);

#endif
