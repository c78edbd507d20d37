/* SPDX-License-Identifier: MIT */
/* The world of fuzz_vol_write: a store and an .h5 file in memory with the same objects, and the
   bytes that choose among them. */
#ifndef TESTS_FUZZ_VOL_WRITE_WORLD_H
#define TESTS_FUZZ_VOL_WRITE_WORLD_H

#include "fuzz.h"

#include <stdbool.h>

#include <hdf5.h>

enum { STORE, NATIVE, KINDS };
enum { OBJECTS = 12, NDIM = 3, LONGEST = 12, ELEMENTS = LONGEST * LONGEST * LONGEST, STEPS = 200 };

typedef struct input {
    const uint8_t *next;
    size_t left;
} input;

enum { STORED_TYPES = 19, MEMORY_TYPES = 13 };

/* The types in datasets; the last two are h5py's bool and complex. */
extern hid_t stored_types[STORED_TYPES];

/* The types of the program: the native ones, and the complex numbers' parts. */
extern hid_t memory_types[MEMORY_TYPES];

/* The values that were read from each file, or are to be written. */
extern unsigned char buffers[KINDS][ELEMENTS * 16];

typedef struct object {
    bool used, is_group, chunked;
    int parent; /* -1: the root */
    char name[4];
    hid_t ids[KINDS];
    int ndim; /* datasets, from here on */
    hsize_t dims[NDIM];
    hid_t type;
} object;

extern hid_t files[KINDS];
extern object objects[OBJECTS];
extern bool reopened; /* attributes have their types from JSON now */

unsigned byte(input *in);
unsigned below(input *in, unsigned limit);
bool is_number(hid_t type);
/* Both buffers must hold the same; the message says where they differ. */
void require_same(hid_t type, size_t count, hid_t stored);
const char *store_path(void);
void start(void);
hid_t store_list(unsigned options);
void open_world(unsigned options);
hid_t parent_id(const object *o, int kind);
void close_object(object *o);
void close_world(void);
/* ZB_FUZZ_TRACE=1 prints each operation and its object. */
void trace(const char *what, const object *o);
/* An object of the world, or NULL when there is none of the kind. */
object *pick(input *in, bool groups, bool datasets);
int pick_group(input *in);
/* A free place with a group and a name; NULL when all are taken. */
object *new_object(input *in);
object *namesake_in(int parent, const char *name, const object *besides);
/* Both did it, or both refused it; a store does each operation for which it has a form. */
bool done(bool in_store, bool in_file);

#endif
