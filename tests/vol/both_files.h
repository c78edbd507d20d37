/* SPDX-License-Identifier: MIT */
/* A file of HDF5's own and a store, in which a test does the same. */
#ifndef TESTS_VOL_BOTH_FILES_H
#define TESTS_VOL_BOTH_FILES_H

#include <hdf5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NATIVE, STORE, KINDS };

extern const char *folder; /* of both files: main() sets it */
extern hid_t files[KINDS];

/* Setup and teardown of cmocka: makes both files, closes them. */
int open_files(void **state);
int close_files(void **state);

/* Blocks of memory since the last counting_list(). */
extern int made, freed;

/* A transfer property list whose manager of memory counts them; the caller closes it. */
hid_t counting_list(void);

#endif
