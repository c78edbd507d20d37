/* SPDX-License-Identifier: MIT */
/* A seam under the directory store: the system calls by which it changes files, logged and made to
   fail. The program is linked with --wrap for each of them. */
#ifndef ZB_TEST_STORE_CALLS_H
#define ZB_TEST_STORE_CALLS_H

#include <stdbool.h>

enum call {
    CALL_OPENAT,
    CALL_MKDIRAT,
    CALL_FCNTL,
    CALL_WRITEV,
    CALL_FDATASYNC,
    CALL_CLOSE,
    CALL_RENAMEAT,
    CALL_FSYNC,
    CALL_SYNCFS,
    CALL_UNLINKAT,
    CALL_LINKAT,
    CALL_KINDS
};

/* One letter for each call so far: m(kdirat) w(ritev) s(ync of a file) r(ename) d(irectory synced)
   a(ll synced). */
extern char calls_log[4096];
void calls_clear(void);

/* The nth call of this kind fails with the errno value; none when nth is 0. */
void calls_fail(enum call kind, int nth, int error);
bool calls_failed(void); /* it failed */
/* Before the nth call of this kind the process stops itself. */
void calls_stop(enum call kind, int nth);
/* Before the nth call of this kind fn is called. */
void calls_interrupt(enum call kind, int nth, void (*fn)(void));

/* From now on no file can be locked, for this errno value; 0: as it is. */
void calls_refuse_locks(int error);

/* writev takes at most that many bytes at once, and is interrupted before each; 0: as it is. */
void calls_write_at_most(unsigned long bytes);

#endif
