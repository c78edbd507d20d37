/* SPDX-License-Identifier: MIT */
/* Fill values that are bytes or text. */
#ifndef ZB_MODEL_FILL_BYTES_H
#define ZB_MODEL_FILL_BYTES_H

#include "base/arena.h"
#include "base/json_writer.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* "fill_value is <value>, expected <expected> for <type>": ZB_EFORMAT. Of all fill values. */
enum zb_code zb__fill_fail(const zb_json *value, zb_dtype dtype, const char *expected,
                           zb_error *err);

/* Reads a list of integers from 0 to 255, or base64 text: the two forms of bytes. NULL with an
   error of the form "expected X for <type>". The bytes are in `memory`. */
uint8_t *zb__fill_bytes(const zb_json *value, zb_dtype dtype, zb__arena *memory, size_t *size,
                        zb_error *err);

/* Those of a fixed size: raw bytes have all of theirs, others are padded with NULs. */
enum zb_code zb__fill_parse_fixed(const zb_json *value, zb_dtype dtype, zb__arena *memory,
                                  void *out, zb_error *err);
/* Bytes of any length. */
enum zb_code zb__fill_parse_bytes(const zb_json *value, zb_dtype dtype, zb__arena *memory,
                                  void *out, zb_error *err);
/* Text as code points. */
enum zb_code zb__fill_parse_points(const zb_json *value, zb_dtype dtype, void *out, zb_error *err);

/* As base64; of null_terminated_bytes without the padding. */
void zb__fill_print_bytes(zb_json_writer *writer, zb_dtype dtype, const void *element);
/* As text, without the padding. False when it is none, or has a NUL inside. */
bool zb__fill_print_points(zb_json_writer *writer, zb_dtype dtype, const void *element);

#endif
