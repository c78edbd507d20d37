/* SPDX-License-Identifier: MIT */
/*
 * HDF5's data types as JSON, exact to each bit of a type that HDF5 tells about. A type is the text
 * of a number, or an object with a class:
 *
 *     "<i4", ">u8", "<f8"    integers of 1, 2, 4, 8 bytes and IEEE floats of 2, 4, 8 bytes, with
 *                            their byte order, and without padding
 *     {"class": "integer" or "bitfield", "size", "order", "signed", "precision", "offset", "pad"}
 *     {"class": "time", "size", "order", "precision", "offset", "pad"}
 *     {"class": "float", "size", "order", "precision", "offset", "pad", "sign", "exponent",
 *      "mantissa", "bias", "norm", "inpad"}
 *     {"class": "string", "size": bytes or "variable", "padding", "charset"}
 *     {"class": "opaque", "size", "tag"}
 *     {"class": "compound", "size", "members": [[name, offset, type], ...]}
 *     {"class": "enum", "base": type, "members": [[name, integer], ...]}
 *     {"class": "array", "base": type, "shape": [...]}
 *     {"class": "vlen", "base": type}
 *     {"class": "complex", "base": type}    of HDF5 2.x
 *     {"class": "reference", "kind": "object", "region" or "any"}
 *
 * Sizes and offsets of a compound are in bytes, those within numbers in bits. "pad" are the kinds
 * of the padding below and above, by HDF5's numbers (H5T_pad_t), as are "norm", "inpad", "padding"
 * and "charset".
 *
 * type_to_json.c and type_from_json.c.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TYPES_TYPE_JSON_H
#define ZARRBRIDGE_HDF5_VOL_TYPES_TYPE_JSON_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

/* Writes a type. ZB_EUNSUPPORTED for one that the text would not give back exactly (types
   of another kind to come). Leaves HDF5's error stack as it is. */
enum zb_code vol_type_print(h5_lib *lib, hid_t type, zb_json_writer *out, zb_error *err);

/* A new type, which the caller closes; -1 for JSON that describes none that this HDF5 can make. The
   content is not trusted. *lacks_memory: there may be such a type. Leaves HDF5's error stack as it
   is. */
hid_t vol_type_parse(h5_lib *lib, const zb_json *json, bool *lacks_memory);

/* The number that a short text ("<i4") stands for: a new type, or -1. */
hid_t vol_type_of_text(h5_lib *lib, const char *text);

#endif
