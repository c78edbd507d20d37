/* SPDX-License-Identifier: MIT */
/*
 * The codec packbits: of each element the bits from first_bit to last_bit, side by side, the lowest
 * first (bit 0 of a byte is its lowest). A byte before or behind them may say how many bits of the
 * last one are padding. Bools have one bit, small numbers those of their format; signed integers
 * are extended by their sign.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/configuration.h"
#include "codec/elements.h"
#include "codec/encode.h"
#include "types/kinds.h"
#include "util/bytes.h"
#include "util/checked.h"

enum padding { PADDING_NONE, PADDING_FIRST, PADDING_LAST };

typedef struct packbits {
    zb_dtype component;
    uint32_t components; /* of an element */
    unsigned first, bits;
    bool is_signed;
    enum padding padding;
} packbits;

/* The bytes of the bits alone. */
static uint64_t packed_bytes(const packbits *codec, const zb__chunk_layout *layout) {
    uint64_t count = layout->decoded_size / codec->component.size;
    /* Bits are never more than those of the elements, whose bytes fit 64 bits. */
    return count / 8 * codec->bits + (count % 8 * codec->bits + 7) / 8;
}

static uint64_t bound(const zb__chunk_layout *layout) {
    const packbits *codec = layout->pipeline->serializer.state;
    return zb__bound_sum(packed_bytes(codec, layout), codec->padding != PADDING_NONE);
}

static unsigned padding_bits(const packbits *codec, const zb__chunk_layout *layout) {
    uint64_t count = layout->decoded_size / codec->component.size;
    return (unsigned)((8 - count % 8 * codec->bits % 8) % 8);
}

static uint64_t extend(const packbits *codec, uint64_t value) {
    uint64_t sign = UINT64_C(1) << (codec->bits - 1);
    if (codec->is_signed && value & sign)
        value |= ~(sign | (sign - 1));
    return value << codec->first; /* the bytes that the component has are stored */
}

/* A value of up to 64 bits that begins at a bit. */
static uint64_t take_bits(const uint8_t *in, uint64_t at, unsigned bits) {
    uint64_t value = 0;
    for (unsigned got = 0; got < bits;) {
        unsigned shift = (unsigned)(at & 7), part = 8 - shift;
        part = part < bits - got ? part : bits - got;
        value |= (uint64_t)((unsigned)in[at >> 3] >> shift & ((1u << part) - 1)) << got;
        got += part;
        at += part;
    }
    return value;
}

/* `out` has zeros at first. */
static void put_bits(uint8_t *out, uint64_t at, unsigned bits, uint64_t value) {
    for (unsigned done = 0; done < bits;) {
        unsigned shift = (unsigned)(at & 7), part = 8 - shift;
        part = part < bits - done ? part : bits - done;
        out[at >> 3] |= (uint8_t)((value >> done & ((1u << part) - 1)) << shift);
        done += part;
        at += part;
    }
}

static enum zb_code decode(const void *state, const zb__chunk_layout *layout,
                           zb__elements *elements, zb_error *err) {
    const packbits *codec = state;
    const uint8_t *in = elements->heap;
    uint32_t size = codec->component.size;
    uint64_t count = layout->decoded_size / size;
    if (elements->heap_size != bound(layout))
        return zb_fail(err, ZB_EFORMAT, "%zu bytes, expected %llu", elements->heap_size,
                       (unsigned long long)bound(layout));
    if (codec->padding != PADDING_NONE) {
        uint8_t said = codec->padding == PADDING_FIRST ? in[0] : in[elements->heap_size - 1];
        if (said != padding_bits(codec, layout))
            return zb_fail(err, ZB_EFORMAT, "it says that %u bits are padding, expected %u", said,
                           padding_bits(codec, layout));
        in += codec->padding == PADDING_FIRST;
    }
    for (uint64_t i = 0; i < count; i++)
        zb__store_element(extend(codec, take_bits(in, i * codec->bits, codec->bits)), size,
                          elements->data + i * size);
    return ZB_OK;
}

/* A walk over a view in C order. Calls itself once for each dimension. */
typedef struct packing {
    const packbits *codec;
    const zb__chunk_layout *layout;
    const zb__elements_view *view;
    const zb__encoding *e;
    uint8_t *out;
    uint64_t at; /* bits */
    bool is_fill;
} packing;

static void pack(packing *p, const uint8_t *element, uint32_t depth) {
    const packbits *codec = p->codec;
    uint32_t size = codec->component.size;
    if (depth < p->layout->pipeline->ndim) {
        for (uint64_t i = 0; i < p->layout->stored_shape[depth]; i++)
            pack(p, element + (int64_t)i * p->view->strides[depth], depth + 1);
        return;
    }
    for (uint32_t c = 0; c < codec->components; c++, p->at += codec->bits) {
        uint64_t value = zb__load_element(element + c * size, size) >> codec->first;
        put_bits(p->out, p->at, codec->bits, value);
    }
    p->is_fill =
        p->is_fill && p->e->fill && memcmp(element, p->e->fill, size * codec->components) == 0;
}

static enum zb_code encode(const zb__encoding *e, const zb__chunk_layout *layout,
                           const zb__elements_view *view, zb__serialised *out, zb_error *err) {
    const packbits *codec = layout->pipeline->serializer.state;
    uint64_t size = bound(layout);
    uint8_t *target = out->target;
    enum zb_code code = ZB_OK;
    if (target && size > out->capacity)
        code = zb_fail(err, ZB_EINVAL, "%llu bytes cannot be stored in %zu",
                       (unsigned long long)size, out->capacity);
    if (!target) {
        code = zb__buffer_reserve(&e->scratch->block, (size_t)size, err);
        target = e->scratch->block.data;
    }
    if (code)
        return code;
    memset(target, 0, (size_t)size);
    packing p = {.codec = codec,
                 .layout = layout,
                 .view = view,
                 .e = e,
                 .out = target + (codec->padding == PADDING_FIRST),
                 .is_fill = true};
    pack(&p, view->data, 0);
    if (codec->padding != PADDING_NONE)
        target[codec->padding == PADDING_FIRST ? 0 : size - 1] =
            (uint8_t)padding_bits(codec, layout);
    out->data = target;
    out->size = p.is_fill && !e->store_empty ? 0 : (size_t)size;
    return ZB_OK;
}

/* ---- The configuration -------------------------------------------------------------------- */

static enum zb_code parse(const zb_json *configuration, const zb__binding *binding, void **state,
                          zb_error *err) {
    static const char *const paddings[] = {"none", "first_byte", "last_byte", NULL};
    packbits *codec = zb__codec_new_state(sizeof *codec, state, err);
    size_t padding = PADDING_NONE;
    if (!codec)
        return ZB_ENOMEM;
    zb_dtype dtype = binding->dtype;
    const zb__format *format = zb__format_of(dtype);
    if (dtype.kind > ZB_KIND_COMPLEX && !format)
        return zb_fail(err, ZB_EFORMAT, "it serialises numbers alone");
    codec->components = zb__kind_of(dtype)->components;
    codec->component = (zb_dtype){.kind = dtype.kind, .size = dtype.size / codec->components};
    int all = dtype.kind == ZB_KIND_BOOL ? 1 : (int)codec->component.size * 8;
    if (format)
        all = format->bits;
    codec->is_signed =
        dtype.kind == ZB_KIND_INT || (format && format->is_integer && format->is_signed);
    int first = 0, last = all - 1;
    enum zb_code code =
        zb__configuration_choice(configuration, "padding_encoding", paddings, &padding, err);
    if (!code && zb__configuration_given(configuration, "first_bit"))
        code = zb__configuration_integer(configuration, "first_bit", 0, all - 1, &first, err);
    if (!code && zb__configuration_given(configuration, "last_bit"))
        code = zb__configuration_integer(configuration, "last_bit", first, all - 1, &last, err);
    if (!code && last < first)
        code = zb_fail(err, ZB_EFORMAT, "last_bit is less than first_bit");
    codec->first = (unsigned)first;
    codec->bits = (unsigned)(last - first + 1);
    codec->padding = (enum padding)padding;
    return code;
}

static bool same(const void *a, const void *b) {
    const packbits *x = a, *y = b;
    return x->first == y->first && x->bits == y->bits && x->padding == y->padding;
}

static const char *const members[] = {"padding_encoding", "first_bit", "last_bit", NULL};

const zb__codec_ops zb__codec_packbits = {
    .name = "packbits",
    .kind = ZB__ARRAY_TO_BYTES,
    .members = members,
    .parse = parse,
    .free = free,
    .same = same,
    .serializer = {.is_sized = true,
                   .decode_bound = bound,
                   .decode = decode,
                   .encode_bound = bound,
                   .encode = encode},
};
