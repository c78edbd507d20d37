/* SPDX-License-Identifier: MIT */
/*
 * The one table of limits: name, environment variable, default. Everything that is sized by
 * untrusted content is bounded by a row of it, and every ZB_ELIMIT message names the row.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/machine.h"
#include "zarrbridge/limits.h"

#define KIB 1024ull
#define MIB (1024ull * KIB)
#define GIB (1024ull * MIB)

typedef struct limit_def {
    const char *name, *variable, *meaning;
    uint64_t value;
    size_t offset;  /* in zb_limits */
    uint64_t share; /* the default is at most memory divided by this; 0: not bounded by memory */
} limit_def;

#define LIMIT(field, variable, value, meaning) SHARE(field, variable, value, 0, meaning)
#define SHARE(field, variable, value, share, meaning)                                              \
    {#field, "ZARRBRIDGE_" variable, meaning, value, offsetof(zb_limits, field), share}

static const limit_def table[] = {
    LIMIT(json_depth, "JSON_DEPTH", 32, "nesting of a metadata document"),
    LIMIT(json_values, "JSON_VALUES", 4000000, "values in one metadata document"),
    LIMIT(document_bytes, "DOCUMENT_BYTES", 16 * MIB,
          "size of a zarr.json without consolidated metadata, bytes"),
    LIMIT(attribute_bytes, "ATTRIBUTE_BYTES", 1 * MIB,
          "largest attribute that HDF5 programs write into a zarr.json, bytes; larger ones become "
          "hidden arrays"),
    LIMIT(consolidated_bytes, "CONSOLIDATED_BYTES", 128 * MIB,
          "size of a zarr.json with consolidated metadata, bytes"),
    LIMIT(children, "CHILDREN", 1000000, "names listed in one group"),
    LIMIT(nodes, "NODES", 10000000,
          "nodes met in one walk over an HDF5 file; links can make a store endless"),
    LIMIT(open_nodes, "OPEN_NODES", 100000,
          "nodes that one HDF5 file keeps in memory, about 9 KiB each"),
    LIMIT(links, "LINKS", 10000, "symbolic links to directories that one walk goes through"),
    LIMIT(chunk_bytes, "CHUNK_BYTES", 1 * GIB, "decoded size of one innermost chunk, bytes"),
    LIMIT(shard_bytes, "SHARD_BYTES", 4 * GIB,
          "size of a shard that must be decoded as a whole, bytes"),
    LIMIT(index_bytes, "INDEX_BYTES", 64 * MIB, "encoded size of one shard index, bytes"),
    LIMIT(shard_depth, "SHARD_DEPTH", 4, "nesting of sharding_indexed"),
    LIMIT(codecs, "CODECS", 16, "codecs in one pipeline"),
    LIMIT(fields, "FIELDS", 1024, "fields of one struct"),
    LIMIT(gzip_members, "GZIP_MEMBERS", 1024, "members of one gzip stream"),
    SHARE(cache_bytes, "CACHE_BYTES", 64 * MIB, 32,
          "decoded-chunk cache of the process, bytes; default at most 1/32 of the usable memory"),
    SHARE(index_cache_bytes, "INDEX_CACHE_BYTES", 16 * MIB, 128,
          "shard-index cache of the process, bytes; default at most 1/128 of the usable memory"),
    SHARE(write_cache_bytes, "WRITE_CACHE_BYTES", 256 * MIB, 8,
          "parts of chunks that wait in all writers of the process, bytes; default at most 1/8 of "
          "the usable memory"),
    LIMIT(lock_seconds, "LOCK_SECONDS", 60,
          "how long to wait for another writer's lock before giving up, seconds"),
    LIMIT(remote_requests, "REMOTE_REQUESTS", 64, "requests to the network under way at once"),
    LIMIT(remote_flight_bytes, "REMOTE_FLIGHT_BYTES", 128 * MIB,
          "bytes of replies from the network under way at once, at most: 32 MiB unless the link is "
          "fast"),
    LIMIT(remote_window_bytes, "REMOTE_WINDOW_BYTES", 256 * MIB,
          "bytes from the network that one read has under way or not decoded yet, at most: 64 MiB "
          "unless the link is fast"),
    LIMIT(remote_part_bytes, "REMOTE_PART_BYTES", 2 * MIB,
          "length of the requests that a longer range is cut into, bytes; 0: none is cut"),
    LIMIT(remote_put_bytes, "REMOTE_PUT_BYTES", 16 * MIB,
          "length of the parts of an object that is put into S3 in parts, bytes, at least 5 MiB; "
          "one of more than four parts is"),
    LIMIT(remote_fresh_seconds, "REMOTE_FRESH_SECONDS", 10,
          "how long chunks of a store on the network are read from the cache without asking, "
          "seconds"),
    LIMIT(remote_tries, "REMOTE_TRIES", 6, "tries of one request to the network"),
    LIMIT(remote_seconds, "REMOTE_SECONDS", 60,
          "how long after its first try a request may be tried again, seconds"),
    LIMIT(remote_connect_seconds, "REMOTE_CONNECT_SECONDS", 5,
          "how long to wait for a connection to a host, seconds"),
    LIMIT(remote_stall_seconds, "REMOTE_STALL_SECONDS", 20,
          "how long to wait for a reply that makes no progress, seconds"),
    LIMIT(threads, "NUM_THREADS", 0, "threads of one read; 0 means the usable processors"),
};

#define ROWS (sizeof table / sizeof *table)

static zb_limits limits;
static uint64_t defaults[ROWS];             /* on this machine */
static bool ignored[ROWS];                  /* the variable is neither a number nor "inf" */
static atomic_uint_fast64_t threads_wanted; /* by the program; 0: the usable processors */
static pthread_once_t limits_once = PTHREAD_ONCE_INIT;

static uint64_t *field_of(size_t row) {
    return (uint64_t *)(void *)((char *)&limits + table[row].offset);
}

/* A plain decimal number, or "inf": so much that half as much again can be counted. */
static bool parse(const char *text, uint64_t *value) {
    char *end;
    if (strcmp(text, "inf") == 0) {
        *value = INT64_MAX;
        return true;
    }
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static uint64_t default_of(size_t row, uint64_t memory) {
    const limit_def *def = &table[row];
    if (def->offset == offsetof(zb_limits, threads))
        return atomic_load(&threads_wanted);
    uint64_t most = def->share ? memory / def->share : UINT64_MAX;
    return def->value < most ? def->value : most;
}

/* Anything else is ignored: the default is the safe choice. */
static uint64_t value_from_environment(size_t row) {
    const char *text = getenv(table[row].variable);
    uint64_t value = defaults[row];
    ignored[row] = text && *text && !parse(text, &value);
    return text && *text && !ignored[row] ? value : defaults[row];
}

static void load_limits(void) {
    uint64_t memory = zb__machine_memory();
    for (size_t i = 0; i < ROWS; i++) {
        defaults[i] = default_of(i, memory);
        *field_of(i) = value_from_environment(i);
    }
}

const zb_limits *zb_limits_get(void) {
    pthread_once(&limits_once, load_limits);
    return &limits;
}

void zb_threads_set(uint64_t threads) {
    atomic_store(&threads_wanted, threads);
}

bool zb_limit_describe(size_t i, zb_limit_row *row) {
    if (i >= ROWS)
        return false;
    zb_limits_get();
    *row = (zb_limit_row){.name = table[i].name,
                          .variable = table[i].variable,
                          .meaning = table[i].meaning,
                          .default_value = defaults[i],
                          .value = *field_of(i),
                          .is_ignored = ignored[i]};
    return true;
}
