/* SPDX-License-Identifier: MIT */
/*
 * The codecs zfp, whose document says the mode, and numcodecs.zfpy, whose chunks say it in a
 * header. Elements of up to 16 bits are shifted to the upper end of an int32; those of uint32 and
 * uint64 are taken as signed ones.
 *
 * In modes that lose something zfp shares an exponent among the elements of a block. One that is
 * not finite, or an integer of nearly all bits, would spoil its neighbours without a sign, so such
 * chunks are not written.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/configuration.h"
#include "codec/elements.h"
#include "codec/encode.h"
#include "codec/zfp_stream.h"
#include "types/scatter.h"
#include "util/bytes.h"
#include "util/json_excerpt.h"
#include "zarrbridge/json.h"

typedef struct zfp {
    zb_dtype dtype;
    enum zb__zfp_type type;
    zb__zfp_params params;
    /* Of a fixed rate in other than three dimensions: what zarrs, which always counts three, takes
       it for. maxbits is 0 where there is no such doubt. */
    zb__zfp_params other;
    bool has_header;
} zfp;

static zb__zfp_field field_of(const zfp *codec, const zb__chunk_layout *layout) {
    uint32_t ndim = layout->pipeline->ndim;
    zb__zfp_field field = {.type = codec->type,
                           .ndim = ndim ? ndim : 1,
                           .shape = {1},
                           .has_header = codec->has_header};
    if (ndim > 0)
        memcpy(field.shape, layout->stored_shape, ndim * sizeof *field.shape);
    return field;
}

static uint64_t count_of(const zb__chunk_layout *layout) {
    return layout->decoded_size / layout->pipeline->dtype.size;
}

static uint64_t bound(const zb__chunk_layout *layout) {
    const zfp *codec = layout->pipeline->serializer.state;
    const zb__zfp_field field = field_of(codec, layout);
    uint64_t most = zb__zfp_bound(&field, codec->has_header ? NULL : &codec->params);
    uint64_t other = codec->other.maxbits ? zb__zfp_bound(&field, &codec->other) : 0;
    return most > other ? most : other;
}

/* ---- Elements ----------------------------------------------------------------------------- */

/* The bits by which a small integer is shifted; 0 for a type that zfp has. */
static unsigned shift_of(const zfp *codec) {
    return codec->dtype.size < 4 ? 31 - 8 * codec->dtype.size : 0;
}

/* One element of zfp's type, as an element of the array. */
static void demote(const zfp *codec, const uint8_t *in, uint8_t *out) {
    uint32_t size = codec->dtype.size, wide = zb__zfp_size(codec->type);
    bool is_unsigned = codec->dtype.kind == ZB_KIND_UINT;
    int64_t value, half = is_unsigned && size < 4 ? (int64_t)1 << (8 * size - 1) : 0;
    if (codec->dtype.kind == ZB_KIND_FLOAT || (size >= 4 && !is_unsigned)) {
        memcpy(out, in, size);
        return;
    }
    if (wide == 4) {
        int32_t narrow;
        memcpy(&narrow, in, sizeof narrow);
        value = narrow;
    } else {
        memcpy(&value, in, sizeof value);
    }
    value = (value >> shift_of(codec)) + half;
    if (size < 4) {
        int64_t least = is_unsigned ? 0 : -((int64_t)1 << (8 * size - 1));
        int64_t most = least + ((int64_t)1 << 8 * size) - 1;
        value = value < least ? least : value > most ? most : value;
    } else if (value < 0) {
        value = 0;
    }
    zb__store_element((uint64_t)value, size, out);
}

/* Makes zfp's elements of n ones that lie at the end of the same memory. False where one has no
   place in a signed type. */
static bool promote(const zfp *codec, uint8_t *memory, uint64_t n) {
    uint32_t size = codec->dtype.size, wide = zb__zfp_size(codec->type);
    const uint8_t *in = memory + n * (wide - size);
    bool is_unsigned = codec->dtype.kind == ZB_KIND_UINT, good = true;
    if (size < 4) {
        int32_t half = is_unsigned ? (int32_t)1 << (8 * size - 1) : 0;
        for (uint64_t i = 0; i < n; i++) {
            uint32_t bits = (uint32_t)zb__load_element(in + i * size, size);
            int32_t value = size == 1 ? (int8_t)bits : (int16_t)bits;
            value = is_unsigned ? (int32_t)bits - half : value;
            value *= (int32_t)1 << shift_of(codec);
            memcpy(memory + i * wide, &value, sizeof value);
        }
    } else if (is_unsigned) {
        for (uint64_t i = 0; i < n; i++)
            good = good && zb__load_element(in + i * size, size) >> (8 * size - 1) == 0;
    }
    return good;
}

/* A lossy mode keeps a finite float, and an integer that leaves two bits free. */
static bool is_kept(const zfp *codec, const uint8_t *element) {
    double real;
    float narrow;
    int64_t value;
    int32_t small;
    switch (codec->type) {
    case ZB__ZFP_FLOAT:
        memcpy(&narrow, element, sizeof narrow);
        return isfinite(narrow);
    case ZB__ZFP_DOUBLE:
        memcpy(&real, element, sizeof real);
        return isfinite(real);
    case ZB__ZFP_INT32:
        memcpy(&small, element, sizeof small);
        return small >= -(1 << 30) && small < 1 << 30;
    case ZB__ZFP_INT64:
        break;
    }
    memcpy(&value, element, sizeof value);
    return value >= -(INT64_C(1) << 62) && value < INT64_C(1) << 62;
}

static enum zb_code check_kept(const zfp *codec, const uint8_t *elements, uint64_t n,
                               zb_error *err) {
    uint32_t wide = zb__zfp_size(codec->type);
    if (zb__zfp_is_reversible(&codec->params))
        return ZB_OK;
    for (uint64_t i = 0; i < n; i++) {
        if (!is_kept(codec, elements + i * wide))
            return zb_fail(err, ZB_EINVAL,
                           "element %llu of a chunk (padding with the fill value included) is not "
                           "finite, or leaves less than two bits free, which only zfp's "
                           "reversible mode keeps",
                           (unsigned long long)i);
    }
    return ZB_OK;
}

/* ---- Decoding ----------------------------------------------------------------------------- */

typedef struct unpacking {
    const zfp *codec;
    uint8_t *out;
} unpacking;

/* Copies what lies inside the field, row by row. */
static void take(void *context, const zb__zfp_field *field, const uint64_t *origin,
                 const void *block) {
    const unpacking *u = context;
    uint32_t size = u->codec->dtype.size, wide = zb__zfp_size(field->type), last = field->ndim - 1;
    uint64_t left = field->shape[last] - origin[last], row = left < 4 ? left : 4;
    const uint8_t *in = block;
    for (uint32_t i = 0; i < 1u << (2 * last); i++, in += 4 * (size_t)wide) {
        uint64_t at = 0;
        bool inside = true;
        for (uint32_t d = 0; d < last; d++) {
            uint64_t place = origin[d] + (i >> (2 * (last - 1 - d)) & 3);
            inside = inside && place < field->shape[d];
            at = at * field->shape[d] + place;
        }
        at = at * field->shape[last] + origin[last];
        for (uint64_t k = 0; k < row && inside; k++)
            demote(u->codec, in + k * wide, u->out + (at + k) * size);
    }
}

static enum zb_code decode(const void *state, const zb__chunk_layout *layout,
                           zb__elements *elements, zb_error *err) {
    const zfp *codec = state;
    const zb__zfp_field field = field_of(codec, layout);
    unpacking u = {.codec = codec, .out = elements->data};
    const zb__zfp_params *params = &codec->params;
    if (codec->other.maxbits &&
        elements->heap_size == zb__zfp_fixed_size(&field, codec->other.maxbits))
        params = &codec->other;
    return zb__zfp_decode(&field, params, elements->heap, elements->heap_size, take, &u, err);
}

/* ---- Encoding ----------------------------------------------------------------------------- */

static const char *read_only(const void *state) {
    const zfp *codec = state;
    return codec->other.maxbits ? "zarrs and the text of the codec zfp disagree on a fixed rate in "
                                  "other than three dimensions, so that such arrays are only read; "
                                  "take the mode fixed_precision, fixed_accuracy or reversible"
                                : NULL;
}

/* Brings the elements together in the scratch, as those of zfp. *is_fill: all are the fill
   value. */
static enum zb_code gather(const zb__encoding *e, const zb__chunk_layout *layout,
                           const zb__elements_view *view, bool *is_fill, zb_error *err) {
    const zb__pipeline *pipeline = layout->pipeline;
    const zfp *codec = pipeline->serializer.state;
    uint32_t size = codec->dtype.size, wide = zb__zfp_size(codec->type);
    uint64_t n = count_of(layout);
    int64_t strides[ZB_MAX_NDIM], stride = size;
    for (uint32_t i = pipeline->ndim; i-- > 0; stride *= (int64_t)layout->stored_shape[i])
        strides[i] = stride;
    enum zb_code code = zb__buffer_reserve(&e->scratch->block, (size_t)(n * wide), err);
    if (code)
        return code;
    uint8_t *memory = e->scratch->block.data, *end = memory + n * (wide - size);
    const zb__box_copy copy = {.ndim = pipeline->ndim,
                               .count = layout->stored_shape,
                               .src_strides = view->strides,
                               .dst_strides = strides,
                               .src_dtype = e->dtype,
                               .dst_dtype = codec->dtype};
    zb__scatter(&copy, view->data, end);
    *is_fill = !e->store_empty && zb__is_all(end, n, e->fill, size);
    if (*is_fill)
        return ZB_OK;
    if (!promote(codec, memory, n))
        return zb_fail(err, ZB_EINVAL,
                       "an unsigned integer of a chunk has its highest bit set, which zfp does not "
                       "hold");
    return check_kept(codec, memory, n, err);
}

static enum zb_code encode(const zb__encoding *e, const zb__chunk_layout *layout,
                           const zb__elements_view *view, zb__serialised *out, zb_error *err) {
    const zfp *codec = layout->pipeline->serializer.state;
    const zb__zfp_field field = field_of(codec, layout);
    const char *reason = read_only(codec);
    bool is_fill;
    if (reason)
        return zb_fail(err, ZB_EUNSUPPORTED, "%s", reason);
    enum zb_code code = gather(e, layout, view, &is_fill, err);
    if (code || is_fill)
        return code;
    size_t capacity = (size_t)bound(layout);
    code = zb__buffer_reserve(&out->own, capacity, err);
    if (!code)
        code = zb__zfp_encode(&field, &codec->params, e->scratch->block.data, out->own.data,
                              capacity, &out->size, err);
    out->data = out->own.data;
    return code;
}

/* ---- The configuration -------------------------------------------------------------------- */

/* The array's type, and the number of dimensions. */
static enum zb_code parse_array(zfp *codec, const zb__binding *binding, zb_error *err) {
    zb_dtype dtype = binding->dtype;
    bool is_integer = dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT;
    bool is_native = dtype.size >= 4 && dtype.kind != ZB_KIND_UINT;
    codec->dtype = dtype;
    if (!(is_integer || (dtype.kind == ZB_KIND_FLOAT && dtype.size >= 4)) ||
        (codec->has_header && !is_native))
        return zb_fail(err, ZB_EFORMAT, "it takes %sint32, int64, float32 and float64 alone",
                       codec->has_header ? "" : "integers, that is int8 to uint64, and of others ");
    if (binding->ndim > ZB__ZFP_MAX_NDIM || (codec->has_header && binding->ndim == 0))
        return zb_fail(err, ZB_EFORMAT, "the array has %u dimensions, expected %d to 4",
                       binding->ndim, codec->has_header);
    if (is_integer)
        codec->type = dtype.size == 8 ? ZB__ZFP_INT64 : ZB__ZFP_INT32;
    else
        codec->type = dtype.size == 8 ? ZB__ZFP_DOUBLE : ZB__ZFP_FLOAT;
    zb__zfp_reversible(&codec->params);
    return ZB_OK;
}

static enum zb_code wrong(const zb_json *value, const char *name, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    if (!value)
        return zb_fail(err, ZB_EFORMAT, "%s is missing", name);
    return zb_fail(err, ZB_EFORMAT, "%s is %s, which zfp does not have", name,
                   zb__json_excerpt(value, excerpt));
}

static enum zb_code set_rate(zfp *codec, const zb_json *value, uint32_t ndim, zb_error *err) {
    double rate;
    bool is_doubtful = !codec->has_header && ndim != 3;
    if (!zb_json_double(value, &rate) ||
        !zb__zfp_rate(rate, codec->type, ndim ? ndim : 1, &codec->params) ||
        (is_doubtful && !zb__zfp_rate(rate, codec->type, 3, &codec->other)))
        return wrong(value, "rate", err);
    return ZB_OK;
}

static enum zb_code set_precision(zfp *codec, const zb_json *value, zb_error *err) {
    uint64_t precision;
    if (!zb_json_uint64(value, &precision) || precision > UINT32_MAX ||
        !zb__zfp_precision((unsigned)precision, &codec->params))
        return wrong(value, "precision", err);
    return ZB_OK;
}

static enum zb_code set_tolerance(zfp *codec, const zb_json *value, zb_error *err) {
    double tolerance;
    if (!zb_json_double(value, &tolerance) || !zb__zfp_accuracy(tolerance, &codec->params))
        return wrong(value, "tolerance", err);
    return ZB_OK;
}

static enum zb_code set_expert(zfp *codec, const zb_json *configuration, zb_error *err) {
    static const char *const names[] = {"minbits", "maxbits", "maxprec"};
    uint64_t values[3];
    int64_t minexp;
    for (int i = 0; i < 3; i++) {
        const zb_json *value = zb_json_get(configuration, names[i]);
        if (!zb_json_uint64(value, &values[i]) || values[i] > UINT32_MAX)
            return wrong(value, names[i], err);
    }
    const zb_json *value = zb_json_get(configuration, "minexp");
    if (!zb_json_int64(value, &minexp) || minexp < INT16_MIN || minexp > INT16_MAX)
        return wrong(value, "minexp", err);
    codec->params = (zb__zfp_params){.minbits = (unsigned)values[0],
                                     .maxbits = (unsigned)values[1],
                                     .maxprec = (unsigned)values[2],
                                     .minexp = (int)minexp};
    if (!zb__zfp_expert(&codec->params))
        return zb_fail(err, ZB_EFORMAT,
                       "minbits, maxbits and maxprec are such that zfp does not have");
    return ZB_OK;
}

enum mode { MODE_EXPERT = 1, MODE_RATE, MODE_PRECISION, MODE_ACCURACY, MODE_REVERSIBLE };

static enum zb_code set_mode(zfp *codec, int mode, const zb_json *configuration, uint32_t ndim,
                             zb_error *err) {
    switch (mode) {
    case MODE_EXPERT:
        return set_expert(codec, configuration, err);
    case MODE_RATE:
        return set_rate(codec, zb_json_get(configuration, "rate"), ndim, err);
    case MODE_PRECISION:
        return set_precision(codec, zb_json_get(configuration, "precision"), err);
    case MODE_ACCURACY:
        return set_tolerance(codec, zb_json_get(configuration, "tolerance"), err);
    default:
        return ZB_OK;
    }
}

static enum zb_code parse(const zb_json *configuration, const zb__binding *binding, void **state,
                          zb_error *err) {
    static const char *const modes[] = {"expert",         "fixed_rate", "fixed_precision",
                                        "fixed_accuracy", "reversible", NULL};
    zfp *codec = zb__codec_new_state(sizeof *codec, state, err);
    size_t mode = 0;
    if (!codec)
        return ZB_ENOMEM;
    enum zb_code code = parse_array(codec, binding, err);
    if (!code && !zb_json_get(configuration, "mode"))
        code = zb_fail(err, ZB_EFORMAT, "mode is missing");
    if (!code)
        code = zb__configuration_choice(configuration, "mode", modes, &mode, err);
    if (!code)
        code = zb__configuration_bool(configuration, "write_header", &codec->has_header, err);
    return code ? code
                : set_mode(codec, (int)mode + MODE_EXPERT, configuration, binding->ndim, err);
}

/* A setting of -1 is none, and zfpy without any is reversible. */
static enum zb_code parse_zfpy(const zb_json *configuration, const zb__binding *binding,
                               void **state, zb_error *err) {
    static const char *const settings[] = {"", "", "rate", "precision", "tolerance", ""};
    zfp *codec = zb__codec_new_state(sizeof *codec, state, err);
    int mode = MODE_ACCURACY;
    double setting = -1;
    if (!codec)
        return ZB_ENOMEM;
    codec->has_header = true;
    enum zb_code code = parse_array(codec, binding, err);
    if (!code)
        code = zb__configuration_integer(configuration, "mode", MODE_RATE, MODE_REVERSIBLE, &mode,
                                         err);
    if (code)
        return code;
    const zb_json *value = zb_json_get(configuration, settings[mode]);
    if (!value || (zb_json_double(value, &setting) && setting == -1))
        return ZB_OK;
    return set_mode(codec, mode, configuration, binding->ndim, err);
}

static bool same(const void *a, const void *b) {
    const zfp *x = a, *y = b;
    return x->has_header == y->has_header &&
           (x->has_header || memcmp(&x->params, &y->params, sizeof x->params) == 0);
}

static const char *const members[] = {"mode",    "rate",    "precision", "tolerance",    "minbits",
                                      "maxbits", "maxprec", "minexp",    "write_header", NULL};
/* compression_kwargs says once more what the others say. */
static const char *const zfpy_members[] = {"mode",      "tolerance",          "rate",
                                           "precision", "compression_kwargs", NULL};
static const char *const zfpy_defaults[] = {"4", "-1", "-1", "-1", NULL};

#define SERIALIZER                                                                                 \
    {.decode_bound = bound,                                                                        \
     .decode = decode,                                                                             \
     .encode_bound = bound,                                                                        \
     .encode = encode,                                                                             \
     .read_only = read_only,                                                                       \
     .cost = 4000}

const zb__codec_ops zb__codec_zfp = {
    .name = "zfp",
    .old_name = "zarrs.zfp",
    .kind = ZB__ARRAY_TO_BYTES,
    .members = members,
    .parse = parse,
    .free = free,
    .same = same,
    .serializer = SERIALIZER,
};

const zb__codec_ops zb__codec_numcodecs_zfpy = {
    .name = "numcodecs.zfpy",
    .kind = ZB__ARRAY_TO_BYTES,
    .members = zfpy_members,
    .defaults = zfpy_defaults,
    .parse = parse_zfpy,
    .free = free,
    .same = same,
    .serializer = SERIALIZER,
};
