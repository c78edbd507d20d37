/* SPDX-License-Identifier: MIT */
/*
 * A machine that keeps in mind what it has seen of a file system, as an NFS client does: a program
 * that is linked with --wrap for the calls by which names are looked up. A name that is hidden is
 * not found, and a file that is kept has its old size, until AT_STATX_FORCE_SYNC asks for the
 * directory, or the file.
 */
#ifndef ZB_TEST_STORE_OUTDATED_H
#define ZB_TEST_STORE_OUTDATED_H

#include <sys/types.h>

typedef struct outdated {
    ino_t directory; /* 0: no name is hidden */
    char name[100];
    ino_t file; /* that has its old size, 0: none */
    off_t old_size;
    unsigned forced; /* questions to the server */
    char log[200];   /* L: a lock was got, F: a directory was asked for, R: renamed, U: unlinked */
    int denials;     /* of the next locks */
    int rename_error, rename_failures;
    long pauses[100];
    unsigned paused;
} outdated;
/* What the machine does; zeros: nothing is outdated. */
extern outdated outdated_now;

#endif
