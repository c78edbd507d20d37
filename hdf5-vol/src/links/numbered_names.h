/* SPDX-License-Identifier: MIT */
/*
 * Names in the order in which they were made, as JSON. Each one takes a number, from 1 on; a number
 * in the list stands for so many that have gone, or that nothing has any more:
 *
 *     ["a", 2, "d", 1]        a is number 1, d is 4, and the next name gets 6
 */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_NUMBERED_NAMES_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_NUMBERED_NAMES_H

#include "zarrbridge/json.h"

/* A walk over a list: begin with vol_numbered_begin. */
typedef struct vol_numbered {
    const zb_json *one; /* the member that comes next */
    uint64_t number;    /* of the name that was given last; at the end the largest that was given */
} vol_numbered;

/* A value that is no list has no names. */
vol_numbered vol_numbered_begin(const zb_json *list);

/* The next name, borrowed; NULL at the end. Members that are neither texts nor numbers, and numbers
   that nothing can have reached, are left out. */
const char *vol_numbered_next(vol_numbered *walk);

/* Writes the next name of a list, whose number is above *last, or (NULL) what follows the last
   one. *last begins with 0. */
void vol_numbered_write(zb_json_writer *list, const char *name, uint64_t number, uint64_t *last);

#endif
