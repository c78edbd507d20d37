/* SPDX-License-Identifier: MIT */
/* Attributes of fuzz_vol_write: each operation is done in both files. */
#ifndef TESTS_FUZZ_VOL_WRITE_ATTRIBUTES_H
#define TESTS_FUZZ_VOL_WRITE_ATTRIBUTES_H

#include "vol_write_world.h"

enum { ATTRIBUTES = 5 }; /* names of them */

void create_attribute(input *in);
void write_attribute(input *in);
void change_attribute(input *in); /* renames or deletes */
void compare_attributes(const object *o);

#endif
