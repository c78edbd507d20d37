/* SPDX-License-Identifier: MIT */
/* The attributes by which HDF5 keeps dimension scales: which they are, and those that an HDF5
   program has stated, as they show. scales.h stores them. */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_STATED_ATTRIBUTES_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_STATED_ATTRIBUTES_H

#include "attributes/attribute.h"

#define VOL_SCALE_ATTRS 5
extern const char *const vol_scale_attrs[VOL_SCALE_ATTRS];

/* The number of an attribute among these; VOL_SCALE_ATTRS for any other. */
size_t vol_scale_number(const char *name);

/* Whether an attribute has the type and size that HDF5's scale functions expect. References of the
   new kind are replaced before they are stored. */
bool vol_scale_is_expected(const vol_node *owner, const char *name, hid_t type, size_t count);

/* Adds those that are stated. False when memory runs out. */
bool vol_scale_apply(vol_attrs *attrs, vol_node *node, const zb_json *scales);

#endif
