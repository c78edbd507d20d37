/* SPDX-License-Identifier: MIT */
/* The part of a door that HDF5 reads: a file with nothing but attributes of its root group. */
#ifndef ZB_DOOR_IMAGE_H
#define ZB_DOOR_IMAGE_H

#include "util/text.h"

/* The eight bytes with which an HDF5 file begins. */
#define ZB__HDF5_SIGNATURE "\211HDF\r\n\032\n"

/* The place in the image of the end of what HDF5 takes for the file: eight bytes, the lowest first.
   HDF5 cuts off what lies behind when it closes a file that it has opened for writing. */
#define ZB__DOOR_END_AT 40

typedef struct zb__door_attribute {
    const char *name, *value; /* UTF-8 */
} zb__door_attribute;

/* Adds the image of a file with these attributes, texts of a fixed length, whose names and values
   are shorter than ZB_DOOR_MAX_BYTES. `behind`: bytes that follow the image, and which HDF5 takes
   for a part of the file: it leaves them there when it has opened the file for writing. */
void zb__door_image(zb__text *out, const zb__door_attribute *attributes, unsigned count,
                    size_t behind);

#endif
