/* SPDX-License-Identifier: MIT */
/* Small zarr.json documents for the tests of model/ and node/: a good one, with one member
   changed. */
#ifndef TESTS_CORE_META_SAMPLE_H
#define TESTS_CORE_META_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zarrbridge/zarrbridge.h"

/* One row of a table: the member `name` gets the JSON text `value` (NULL: it is left out), and the
   document must open (code ZB_OK) or fail with a message that contains `message`. */
typedef struct sample_row {
    const char *name, *value;
    enum zb_code code;
    const char *message;
} sample_row;

/* The document of a good array (shape [10,20] in chunks of [4,5], int16) or group, with that
   member. malloc'ed. */
char *sample_array(const char *name, const char *value);
char *sample_group(const char *name, const char *value);

/* Opens a document as the root of a new store in memory, called "test". */
enum zb_code sample_open(const char *text, zb_node **out, zb_error *err);

/* As sample_open, and the test fails when it does not open. */
zb_node *sample_node(const char *text);

/* An array of uint8 with this shape and this chunk grid, both JSON text. */
zb_node *sample_uint8(const char *shape, const char *grid);

void sample_expect_span(zb_chunk_span span, uint64_t index, uint64_t start, uint64_t extent,
                        uint64_t inside);

/* Opens the document of each row, made by sample_array or sample_group, and compares. */
void sample_check(char *(*make)(const char *name, const char *value), const sample_row *rows,
                  size_t count);

#endif
