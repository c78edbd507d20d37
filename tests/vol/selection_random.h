/* SPDX-License-Identifier: MIT */
/* Random selections, made in HDF5 and in a model alike, and the numbers that they are made from. */
#ifndef TESTS_VOL_SELECTION_RANDOM_H
#define TESTS_VOL_SELECTION_RANDOM_H

#include "selection_model.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern long selection_case;    /* its number; the program counts */
void selection_describe(void); /* prints the case; the program's */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: case %ld: %s\n", __FILE__, __LINE__, selection_case,           \
                    #condition);                                                                   \
            selection_describe();                                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A number below this one. The same numbers come on every machine after the same seed. */
unsigned chance(unsigned below);
void start_chance(uint64_t seed);

/* True if the selection has as many points as HDF5 counts. */
bool is_sound(hid_t space, int ndim);

hid_t new_space(const model *m);
/* A selection of any kind in the extent of m. */
hid_t random_selection(model *m);

#endif
