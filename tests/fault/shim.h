/* SPDX-License-Identifier: MIT */
/*
 * System calls that fail. shim.c defines the C library's own names (open, writev, renameat, ...) in
 * front of it; linked into a test program it is controlled by the functions below, preloaded into
 * another program (h5py, gdal_translate) by the environment:
 *
 *     LD_PRELOAD=libzb-fault-shim.so  ZB_SHIM=kill-before:17:5:/tmp/x  ZB_SHIM_REPORT=/tmp/report
 *
 * which is mode, number of the call, errno, and the directory below which calls count. At exit the
 * report gets the line "CALLS STRUCK". Calls on other files pass by uncounted. A preloaded library
 * has the functions, too, for programs that know of it.
 *
 * shim_conditions.h has the lasting faults: coarse clocks, locks, renames that wait.
 */
#ifndef ZB_TEST_FAULT_SHIM_H
#define ZB_TEST_FAULT_SHIM_H

#include <stdbool.h>
#include <stdint.h>

enum shim_mode {
    SHIM_OFF,
    SHIM_COUNT,       /* counts only; likewise all below, each in its own set of calls: */
    SHIM_KILL_BEFORE, /* SIGKILL instead of write-side call `nth` (from 1) */
    SHIM_KILL_AFTER,  /* SIGKILL when it has been done */
    SHIM_FAIL,        /* call `nth` of any side fails with `error`, once */
    SHIM_FAIL_FROM,   /* that one and all later ones */
    SHIM_FULL,        /* from then on calls that need room fail, and no others */
    SHIM_FAIL_SYNC,   /* sync `nth` of a file, a directory or a file system fails, once */
    SHIM_INTERRUPT    /* every call that may be interrupted is, every second time, and reads and
                         writes move at most `nth` bytes */
};

/* From now on; starts counting at 0. root: an absolute path without links. */
void shim_begin(enum shim_mode mode, uint64_t nth, int error, const char *root);
/* Back to normal; returns the number of calls that counted. */
uint64_t shim_end(void);
/* The number of calls that were made to fail since shim_begin. */
uint64_t shim_struck(void);

#endif
