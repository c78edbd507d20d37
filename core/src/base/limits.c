/* SPDX-License-Identifier: MIT */
/*
 * The one table of limits: name, environment variable, default. Everything that is sized by
 * untrusted content is bounded by a row of it, and every ZB_ELIMIT message names the row.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "zarrbridge/zarrbridge.h"

#define KIB 1024ull
#define MIB (1024ull * KIB)
#define GIB (1024ull * MIB)

typedef struct limit_def {
    const char *name, *variable, *meaning;
    uint64_t value;
    size_t offset; /* in zb_limits */
} limit_def;

#define LIMIT(field, variable, value, meaning)                                                     \
    {#field, "ZARRBRIDGE_" variable, meaning, value, offsetof(zb_limits, field)}

static const limit_def table[] = {
    LIMIT(json_depth, "JSON_DEPTH", 32, "nesting of a metadata document"),
    LIMIT(json_values, "JSON_VALUES", 4000000, "values in one metadata document"),
    LIMIT(document_bytes, "DOCUMENT_BYTES", 1 * MIB, "size of a zarr.json below the root, bytes"),
    LIMIT(consolidated_bytes, "CONSOLIDATED_BYTES", 64 * MIB,
          "size of a zarr.json with consolidated metadata, bytes"),
    LIMIT(children, "CHILDREN", 1000000, "names listed in one group"),
    LIMIT(nodes, "NODES", 100000, "nodes met in one HDF5 file; links can make a store endless"),
    LIMIT(links, "LINKS", 10000, "symbolic links to directories that one walk goes through"),
    LIMIT(chunk_bytes, "CHUNK_BYTES", 1 * GIB, "decoded size of one innermost chunk, bytes"),
    LIMIT(shard_bytes, "SHARD_BYTES", 4 * GIB,
          "size of a shard that must be decoded as a whole, bytes"),
    LIMIT(index_bytes, "INDEX_BYTES", 64 * MIB, "encoded size of one shard index, bytes"),
    LIMIT(shard_depth, "SHARD_DEPTH", 4, "nesting of sharding_indexed"),
    LIMIT(codecs, "CODECS", 16, "codecs in one chain"),
    LIMIT(gzip_members, "GZIP_MEMBERS", 1024, "members of one gzip stream"),
    LIMIT(cache_bytes, "CACHE_BYTES", 64 * MIB, "decoded-chunk cache of the process, bytes"),
    LIMIT(index_cache_bytes, "INDEX_CACHE_BYTES", 16 * MIB,
          "shard-index cache of the process, bytes"),
    LIMIT(write_cache_bytes, "WRITE_CACHE_BYTES", 256 * MIB,
          "parts of chunks that wait in all writers of the process, bytes"),
    LIMIT(lock_seconds, "LOCK_SECONDS", 60,
          "how long to wait for another writer's lock before giving up, seconds"),
    LIMIT(threads, "NUM_THREADS", 0, "threads of one read; 0 means the usable processors"),
};

static zb_limits limits;
static pthread_once_t limits_once = PTHREAD_ONCE_INIT;

static uint64_t *field_of(size_t row) {
    return (uint64_t *)(void *)((char *)&limits + table[row].offset);
}

/* A variable that is no plain decimal number is ignored: the default is the safe choice. */
static uint64_t value_from_environment(const limit_def *def) {
    const char *text = getenv(def->variable);
    if (!text || *text < '0' || *text > '9')
        return def->value;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    return *end || errno ? def->value : value;
}

static void load_limits(void) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        *field_of(i) = value_from_environment(&table[i]);
}

const zb_limits *zb_limits_get(void) {
    pthread_once(&limits_once, load_limits);
    return &limits;
}

bool zb_limit_describe(size_t i, zb_limit_row *row) {
    if (i >= sizeof table / sizeof *table)
        return false;
    zb_limits_get();
    *row = (zb_limit_row){.name = table[i].name,
                          .variable = table[i].variable,
                          .meaning = table[i].meaning,
                          .default_value = table[i].value,
                          .value = *field_of(i)};
    return true;
}
