/* SPDX-License-Identifier: MIT */
/*
 * Conditions are the lasting properties of a worse file system. They hold below a directory,
 * combine with each other and with the modes of shim.h, and are set for other programs by the
 * environment:
 *
 *     ZB_SHIM_ROOT=/tmp/x     the directory; without it that of ZB_SHIM
 *     ZB_SHIM_CLOCK=1         time stamps are cut to whole seconds, 2: to even ones
 *     ZB_SHIM_LOCKS=ENOLCK    each lock is refused with that error (also ENOTSUPP, ENOSYS, EIO)
 *     ZB_SHIM_LOCKS=node:3    locks keep out processes of the same node only, as where each machine
 *                             of a network file system has its own; the process is told a boot id
 *                             of its node's
 *     ZB_SHIM_UNTIL=/tmp/go   a rename onto ZB_SHIM_ROOT itself, a file then, waits until there is
 *                             that file
 */
#ifndef ZB_TEST_FAULT_SHIM_CONDITIONS_H
#define ZB_TEST_FAULT_SHIM_CONDITIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <fcntl.h>

typedef struct shim_conditions {
    unsigned clock_seconds; /* 0: as they are */
    int lock_error;         /* errno, 0: none */
    unsigned lock_node;     /* from 1; 0: all are one machine */
    const char *until;      /* NULL: no rename waits; lives as long as the condition */
} shim_conditions;

/* From now on. below: an absolute path without links. */
void shim_set_conditions(const shim_conditions *conditions, const char *below);

/* ---- For shim.c ---------------------------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))

/* The C library's own function, found once. */
void *shim_next(const char *name, void *_Atomic *found);

bool shim_is_below(const char *root, const char *path);
bool shim_fd_is_below(const char *root, int fd);
/* A relative name is below the directory that it starts from. */
bool shim_name_is_below(const char *root, int at, const char *path);

/* The fate of a lock: an errno to fail with, or 0, perhaps with another range in *lock. */
int shim_adjust_lock(int fd, struct flock *lock);
/* Called before `path`, as seen from the directory `at`, is replaced: waits if it has to. */
void shim_await(int at, const char *path);
/* A descriptor in the place of a file of the system's, or -1: open it as usual. */
int shim_open_instead(const char *path);

#endif
