/* SPDX-License-Identifier: MIT */
/*
 * A decoded chunk: elements, and for those of variable length a heap of the bytes that they point
 * at. Of numbers without filters the elements are what the bytes→bytes codecs give (zb__sink), and
 * there is no heap. Otherwise the heap is the serialised chunk as those codecs give it, and the
 * array→bytes codec and the filters make the elements in front of it: both are one piece of memory.
 */
#ifndef ZB_CODEC_ELEMENTS_H
#define ZB_CODEC_ELEMENTS_H

#include "codec/chunk_layout.h"

typedef struct zb__elements {
    uint8_t *data; /* C order of stored dimensions, in the pipeline's dtype; 16-byte aligned */
    size_t size;   /* the layout's decoded_size */
    uint8_t *heap; /* behind the elements; they point into it, wherever it lies */
    size_t heap_size;
} zb__elements;

/* True if chunks of the layout are decoded by the calls below. */
static inline bool zb__chunk_layout_has_heap(const zb__chunk_layout *layout) {
    return layout->plain || layout->pipeline->serializer.ops->serializer.decode != NULL;
}

/* Undoes the bytes→bytes codecs of a chunk: *out has the heap, and room for the elements in front
   of it, both in scratch->decoded. The heap is at most decoded_bound bytes. */
enum zb_code zb__elements_serialised(const zb__chunk_layout *layout, zb__scratch *scratch,
                                     const uint8_t *in, size_t size, zb__elements *out,
                                     zb_error *err);

/* Moves such a chunk into memory[0..size + heap_size), 16-byte aligned, before it is opened. */
void zb__elements_move(zb__elements *elements, uint8_t *memory);

/* Makes the elements of the heap, which then, for elements of variable length, must stay where it
   is. Uses the scratch's work. */
enum zb_code zb__elements_open(const zb__chunk_layout *layout, zb__scratch *scratch,
                               zb__elements *elements, zb_error *err);

#endif
