/* SPDX-License-Identifier: MIT */
/* The helpers that every fuzz target shares. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zarrbridge/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The entry that libFuzzer and replay.c call; every target defines it. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* For calls that must succeed with any input. */
#define REQUIRE_OK(call, err)                                                                      \
    do {                                                                                           \
        if ((call) != ZB_OK) {                                                                     \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, (err).message);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A call that failed says so in one line, and never for want of memory. */
static inline void fuzz_check_error(enum zb_code code, const zb_error *err) {
    if (code == ZB_OK)
        return;
    REQUIRE(err->code == code && *err->message && !strchr(err->message, '\n'));
    REQUIRE(code != ZB_ENOMEM);
}

/* Cuts the next part off an input whose parts are separated by bytes 255, which no UTF-8 text
   contains. NULL after the last one. */
static inline const uint8_t *fuzz_next(const uint8_t **data, size_t *left, size_t *size) {
    const uint8_t *part = *data;
    if (!part)
        return NULL;
    const uint8_t *end = *left ? memchr(part, 255, *left) : NULL;
    *size = end ? (size_t)(end - part) : *left;
    *left -= end ? *size + 1 : *size;
    *data = end ? end + 1 : NULL;
    return part;
}

/* The next part as a string that the caller frees; "" after the last. It ends at a NUL. */
static inline char *fuzz_next_text(const uint8_t **data, size_t *left) {
    size_t size = 0;
    const uint8_t *part = fuzz_next(data, left, &size);
    char *text = part ? strndup((const char *)part, size) : strdup("");
    REQUIRE(text);
    return text;
}

#endif
