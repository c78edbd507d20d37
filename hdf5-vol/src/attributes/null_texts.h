/* SPDX-License-Identifier: MIT */
/*
 * Null pointers in place of texts, of elements in an array (large.h): there each is the empty text,
 * which every reader takes. Which ones were null is said beside the array, in the attribute of
 * tree/side.h: the base64 of a bit for each text, in the order of the elements and of what they
 * point at, the lowest bit of a byte first.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_NULL_TEXTS_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_NULL_TEXTS_H

#include "attributes/elements.h"

/* The attributes of an array with these elements: a JSON object as text (malloc'ed); *out is NULL
   when no text is null. */
enum zb_code vol_null_texts_print(const vol_form *form, size_t count, const void *elements,
                                  char **out, zb_error *err);

/* Makes those null again. What an array says that has another number of texts, and of texts that
   are not empty, another program has made: it does not count. */
enum zb_code vol_null_texts_apply(const vol_form *form, size_t count, void *elements,
                                  const zb_node *array, zb_error *err);

#endif
