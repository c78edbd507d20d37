/* SPDX-License-Identifier: MIT */
/* The bounds of the library, and its state in the process. */
#ifndef ZARRBRIDGE_LIMITS_H
#define ZARRBRIDGE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"
#include "zarrbridge/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds on the work and memory that untrusted content can cost the library. Each can be raised or
   lowered by the environment variable that zb_limit_describe names, read once per process: a
   decimal number, or "inf". What is neither leaves the default; with such a variable of the network
   (ZARRBRIDGE_REMOTE_...) no store there is opened. The defaults of the three caches are smaller
   where physical memory, control groups or RLIMIT_AS leave the process little; values from the
   environment are taken as they are. */
typedef struct zb_limits {
    uint64_t json_depth;  /* nesting of a metadata document */
    uint64_t json_values; /* values in a metadata document: each takes about 100 bytes of memory */
    uint64_t document_bytes;  /* size of a zarr.json without consolidated metadata */
    uint64_t attribute_bytes; /* a larger attribute of an HDF5 program goes into a hidden array */
    uint64_t consolidated_bytes; /* size of a zarr.json with it */
    uint64_t children;           /* names listed in one group */
    uint64_t nodes;              /* nodes met in one walk over a hierarchy */
    uint64_t open_nodes;         /* nodes in memory, of callers that keep what they have met */
    uint64_t links;              /* symbolic links to directories that one walk goes through */
    uint64_t chunk_bytes;        /* decoded size of one innermost chunk */
    uint64_t shard_bytes;        /* stored size of a shard that must be decoded as a whole */
    uint64_t index_bytes;        /* encoded size of one shard index */
    uint64_t shard_depth;        /* nesting of sharding_indexed */
    uint64_t codecs;             /* codecs in one pipeline */
    uint64_t fields;             /* of one struct, without those of structs in it */
    uint64_t gzip_members;       /* members of one gzip stream */
    uint64_t cache_bytes;        /* decoded-chunk cache of the process; 0 switches it off */
    uint64_t index_cache_bytes;  /* shard-index cache of the process */
    uint64_t write_cache_bytes;  /* parts of chunks that wait in all writers of the process; half as
                                    much again is for encoding and merging them */
    uint64_t lock_seconds;       /* the time that a writer waits for another one's lock */
    uint64_t remote_requests;    /* to the network, under way at once */
    uint64_t remote_flight_bytes;  /* of the replies to them */
    uint64_t remote_window_bytes;  /* of replies that a read waits for or has not decoded yet */
    uint64_t remote_part_bytes;    /* longer ranges are asked for in parts; 0: never */
    uint64_t remote_put_bytes;     /* of a part of an object that goes up in parts: one of more than
                                      four parts does */
    uint64_t remote_fresh_seconds; /* an answer may be taken for the present state */
    uint64_t remote_tries;         /* of one request */
    uint64_t remote_seconds;       /* after its first try no other one of a request begins */
    uint64_t remote_connect_seconds; /* for connecting to a host */
    uint64_t remote_stall_seconds;   /* without progress */
    uint64_t threads; /* worker threads, the caller included; 0 = the usable processors */
} zb_limits;

ZB_API const zb_limits *zb_limits_get(void);

/* Another default of zb_limits.threads, for a program with a setting of its own; the environment
   variable goes before it. Safe at any time, from any thread; without effect once the limits have
   been read, which the first use of the library does. */
ZB_API void zb_threads_set(uint64_t threads);

/* Row i of the table of limits: name, environment variable, default (on this machine) and current
   value. False past the last row. All strings are static. */
typedef struct zb_limit_row {
    const char *name, *variable, *meaning;
    uint64_t default_value, value;
    bool is_ignored; /* the variable is set to what is no number */
} zb_limit_row;
ZB_API bool zb_limit_describe(size_t i, zb_limit_row *row);

/* Drops all cached chunks and indexes, and closes the files that stay open for the next read (for
   tests, and before measuring cold reads). */
ZB_API void zb_cache_clear(void);

#ifdef __cplusplus
}
#endif
#endif
