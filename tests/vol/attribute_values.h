/* SPDX-License-Identifier: MIT */
/* Values of attributes: types, dataspaces and elements of every kind, in buffers that notice when
   something is written beyond them. Any error fails the test. */
#ifndef TESTS_VOL_ATTRIBUTE_VALUES_H
#define TESTS_VOL_ATTRIBUTE_VALUES_H

#include <hdf5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct guarded {
    size_t size;
    unsigned char *all;
} guarded;

guarded new_guarded(size_t size);
void *data_of(guarded *buffer);
/* Nothing around the data has been written to. */
void check_guard(const guarded *buffer);
/* It must be as it was around the data. */
void free_guarded(guarded *buffer);

#define TYPES 20
#define SPACES 7
void make_types(hid_t types[TYPES]);
void make_spaces(hid_t spaces[SPACES]);
hid_t text(size_t size, H5T_str_t padding, H5T_cset_t set);

int is_variable(hid_t type); /* strings of any length */
size_t bytes_of(hid_t type, hid_t space);
/* Elements of the type, with numbers at the ends of its range. */
void fill(hid_t type, size_t count, void *out);
void assert_same(hid_t type, hid_t space, const void *a, const void *b);
/* Frees the strings that a read has made. */
void reclaim(hid_t type, hid_t space, guarded *buffer);

#endif
