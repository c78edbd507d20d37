/* SPDX-License-Identifier: MIT */
/* Documents that were built last. Programs make many nodes one after the other that differ by their
   names alone: their documents are the same, and so share one tree. */
#ifndef ZB_MODEL_BUILT_LATELY_H
#define ZB_MODEL_BUILT_LATELY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/build.h"

/* What a document is built of. */
typedef struct zb__build_source {
    const char *text; /* without indentation */
    size_t size;
    size_t attributes; /* bytes of it that are the attributes, as the program gave them: a text of
                          another division is another source */
} zb__build_source;

/* The document that was built of the same source, if it is kept and memory suffices: the caller's,
   like one that it builds. */
bool zb__built_find(zb__build_source source, zb__built *out);

/* Keeps a document for others of the same source, unless it is large. */
void zb__built_keep(zb__build_source source, const zb__built *built);

#endif
