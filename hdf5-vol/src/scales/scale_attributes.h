/* SPDX-License-Identifier: MIT */
/*
 * The attributes by which HDF5 keeps dimension scales, between HDF5's values and what is stored of
 * them (scales/scales.h). Those of another type or size than HDF5's scale functions make are
 * attributes as any other, in the document: programs read these with buffers for what they have
 * made.
 *
 * References of the kind H5T_STD_REF are kept as those of the old kind, and the entry (exact.h) has
 * the type of the attribute beside that of what is kept.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_ATTRIBUTES_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_ATTRIBUTES_H

#include "attributes/attribute.h"

/* Whether `name` may be one of those with references. */
bool vol_scale_knows(const vol_node *owner, const char *name);

/* Whether a value is that of one of them. */
bool vol_scale_takes(vol_node *owner, const vol_attr_value *value);

/* Stores one that vol_scale_takes, of the type in which it shows. */
herr_t vol_scale_store(vol_node *owner, const vol_attr_value *value);

/* Removes one. *handled is false for all others, which are attributes of the document. */
herr_t vol_scale_remove(vol_node *owner, const char *name, bool *handled);

/* Before a node moves to a group: states scales that names would not lead to any more, of the
   datasets that its name alone attaches to it, if it is a scale, and of itself, or all datasets
   below it. HDF5's references follow what they lead to. */
enum zb_code vol_scale_before_move(vol_node *node, vol_node *group, zb_error *err);

#endif
