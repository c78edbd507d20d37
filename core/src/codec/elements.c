/* SPDX-License-Identifier: MIT */
/* Decoding chunks whose size is not known before: see elements.h. */
#include "codec/elements.h"

#include <string.h>

#include "codec/filters.h"
#include "types/scatter.h"
#include "zarrbridge/limits.h"

/* What a compressed chunk is given room for at first, in multiples of its stored size, and at
   least. A chunk that needs more is decoded again with more room. */
#define FIRST_ROOM 8
#define LEAST_ROOM ((size_t)64 << 10)

/* The size of the serialised chunk is known. */
static bool is_sized(const zb__chunk_layout *layout) {
    const zb__serializer_ops *ops = &layout->pipeline->serializer.ops->serializer;
    return ops->is_elements || ops->is_sized;
}

static enum zb_code decode_into(const zb__chunk_layout *layout, zb__scratch *scratch,
                                const uint8_t *in, size_t size, size_t room, zb__elements *out,
                                zb_error *err) {
    size_t bytes, front = (size_t)layout->decoded_size;
    if (__builtin_add_overflow(front, room, &bytes))
        return zb_fail(err, ZB_ELIMIT, "a chunk is too large to be decoded");
    enum zb_code code = zb__buffer_reserve(&scratch->decoded, bytes, err);
    if (code)
        return code;
    zb__sink sink = {.data = scratch->decoded.data + front,
                     .capacity = room,
                     .exact = is_sized(layout),
                     .hi = room};
    code = zb__pipeline_decode(layout->pipeline, scratch, in, size, &sink, err);
    *out = (zb__elements){
        .data = scratch->decoded.data, .size = front, .heap = sink.data, .heap_size = sink.size};
    return code;
}

/* Room for all that the limit allows would be taken for each chunk, so it grows in steps of four: a
   chunk that is too large for all of them, or damaged, is decoded at most a few times. */
enum zb_code zb__elements_serialised(const zb__chunk_layout *layout, zb__scratch *scratch,
                                     const uint8_t *in, size_t size, zb__elements *out,
                                     zb_error *err) {
    size_t most =
        layout->decoded_bound < SIZE_MAX / 8 ? (size_t)layout->decoded_bound : SIZE_MAX / 8;
    size_t room = size < most / FIRST_ROOM ? size * FIRST_ROOM : most;
    room = room < LEAST_ROOM ? LEAST_ROOM : room;
    if (layout->pipeline->codec_count == 0)
        room = size;
    room = room < most && !is_sized(layout) ? room : most;
    enum zb_code code = decode_into(layout, scratch, in, size, room, out, err);
    while (code == ZB_EFORMAT && room < most && layout->pipeline->codec_count > 0) {
        room = room < most / 4 ? room * 4 : most;
        code = decode_into(layout, scratch, in, size, room, out, err);
    }
    return code;
}

void zb__elements_move(zb__elements *elements, uint8_t *memory) {
    memcpy(memory + elements->size, elements->heap, elements->heap_size);
    elements->data = memory;
    elements->heap = memory + elements->size;
}

/* Makes the elements that are behind the filters, in *out. */
static enum zb_code open_serialised(const zb__chunk_layout *layout, zb__scratch *scratch,
                                    const zb__elements *elements, const uint8_t **out,
                                    zb_error *err) {
    const zb__chunk_layout *plain = layout->plain;
    const zb__codec *serializer = &layout->pipeline->serializer;
    zb_dtype stored = plain->pipeline->dtype, host = stored;
    host.swapped = false;
    *out = elements->heap;
    if (!serializer->ops->serializer.decode && !stored.swapped)
        return ZB_OK;
    enum zb_code code = zb__buffer_reserve(&scratch->work[0], (size_t)plain->decoded_size, err);
    if (code)
        return code;
    *out = scratch->work[0].data;
    zb__elements made = *elements;
    made.data = scratch->work[0].data;
    made.size = (size_t)plain->decoded_size;
    if (serializer->ops->serializer.decode)
        return serializer->ops->serializer.decode(serializer->state, plain, &made, err);
    zb__convert(stored, elements->heap, stored.size, host, made.data, host.size,
                made.size / stored.size);
    return ZB_OK;
}

enum zb_code zb__elements_open(const zb__chunk_layout *layout, zb__scratch *scratch,
                               zb__elements *elements, zb_error *err) {
    const zb__codec *serializer = &layout->pipeline->serializer;
    const uint8_t *made;
    if (!layout->plain)
        return serializer->ops->serializer.decode(serializer->state, layout, elements, err);
    enum zb_code code = open_serialised(layout, scratch, elements, &made, err);
    return code ? code
                : zb__filters_decode(&layout->pipeline->filters, layout->stored_shape, scratch,
                                     made, elements->data, err);
}
