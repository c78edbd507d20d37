/* SPDX-License-Identifier: MIT */
/* What the environment says of locks, and of the machines that write. */
#ifndef ZB_UTIL_LOCKS_H
#define ZB_UTIL_LOCKS_H

#include <stdbool.h>

/* ZARRBRIDGE_LOCKS: what the caller knows of the locks of the file systems of its stores. */
enum zb__locks {
    ZB__LOCKS_UNKNOWN, /* nothing, or a word that is not known: the file system tells */
    ZB__LOCKS_NONE,    /* no other process writes the stores: locks are not even asked for */
    ZB__LOCKS_LOCAL,   /* one machine uses the stores, or all see at once what others do */
    ZB__LOCKS_NODE,    /* locks keep out the processes of one machine alone */
    ZB__LOCKS_SHARED   /* locks keep out all machines; what one of them knows may be outdated */
};

/* The environment, as getenv() tells it. */
typedef const char *(*zb__environment)(const char *name);

enum zb__locks zb__locks_of(zb__environment get);
/* True if several machines may write at once: by ZARRBRIDGE_MACHINES, and else by what a job of
   Slurm, or of an MPI, has been given. */
bool zb__machines_are_many_of(zb__environment get);

/* The same of the process when it first asked. */
enum zb__locks zb__locks_stated(void);
bool zb__machines_are_many(void);

#endif
