/* SPDX-License-Identifier: MIT */
/*
 * zarrbridge.bytes: structs as they are, in C order, each field in a byte order of its own. No
 * codec of version 3 says that; arrays of version 2 with such structs are translated to this one
 * (array/v2_codecs.c). `endian` is a list with an item for each field: "little", "big", or of a
 * struct such a list. It is only read, so that no new array gets a codec that others do not know.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/encode.h"
#include "types/dtype.h"
#include "util/arena.h"
#include "util/json_excerpt.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

#define HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

typedef struct field_orders {
    zb_dtype stored; /* its details are in the memory, but for names of fields, and details of
                        fields that are no structs, which the array keeps for as long */
    zb__arena memory;
} field_orders;

static enum zb_code set_orders(const zb_json *orders, zb_dtype *dtype, zb__arena *memory,
                               zb_error *err);

/* Fields without several bytes in a component have any order. */
static enum zb_code set_order(const zb_json *order, zb_field *field, zb__arena *memory,
                              zb_error *err) {
    const char *text = zb_json_string(order);
    char excerpt[ZB__BRIEF_SIZE], name[ZB__BRIEF_SIZE];
    if (field->dtype.kind == ZB_KIND_STRUCT)
        return set_orders(order, &field->dtype, memory, err);
    if (!text || (strcmp(text, "little") != 0 && strcmp(text, "big") != 0))
        return zb_fail(err, ZB_EFORMAT, "endian of the field %s is %s, expected little or big",
                       zb__name_excerpt(field->name, name), zb__json_excerpt(order, excerpt));
    field->dtype.swapped =
        zb__dtype_has_order(field->dtype) && (strcmp(text, "big") == 0) != HOST_IS_BIG;
    return ZB_OK;
}

/* The struct becomes one with fields of these orders. As deep as its type. */
static enum zb_code set_orders(const zb_json *orders, zb_dtype *dtype, zb__arena *memory,
                               zb_error *err) {
    size_t count;
    const zb_field *from = zb_dtype_fields(*dtype, &count);
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(orders) != ZB_JSON_ARRAY || zb_json_count(orders) != count || count == 0)
        return zb_fail(err, ZB_EFORMAT, "endian is %s, expected a list for a struct of %zu fields",
                       zb__json_excerpt(orders, excerpt), count);
    zb_dtype_detail *detail = zb__arena_alloc(memory, sizeof *detail);
    zb_field *fields = zb__arena_alloc(memory, count * sizeof *fields);
    if (!detail || !fields)
        return zb_fail(err, ZB_ENOMEM, "no memory for %zu fields", count);
    memcpy(fields, from, count * sizeof *fields);
    *detail = *dtype->detail;
    detail->fields = fields;
    dtype->detail = detail;
    enum zb_code code = ZB_OK;
    const zb_json *order = zb_json_first(orders);
    for (size_t i = 0; i < count && !code; i++, order = zb_json_next(order))
        code = set_order(order, &fields[i], memory, err);
    return code;
}

static enum zb_code parse(const zb_json *configuration, const zb__binding *binding, void **state,
                          zb_error *err) {
    field_orders *orders = zb__codec_new_state(sizeof *orders, state, err);
    if (!orders)
        return ZB_ENOMEM;
    orders->stored = binding->dtype;
    if (binding->filters && binding->filters->count > 0)
        return zb_fail(err, ZB_EUNSUPPORTED, "behind other codecs of arrays it is not supported");
    return set_orders(zb_json_get(configuration, "endian"), &orders->stored, &orders->memory, err);
}

static void free_state(void *state) {
    field_orders *orders = state;
    if (orders)
        zb__arena_free(&orders->memory);
    free(orders);
}

static bool same(const void *a, const void *b) {
    const field_orders *first = a, *second = b;
    return zb_dtype_equal(first->stored, second->stored);
}

static zb_dtype stored_dtype(const void *state, zb_dtype dtype) {
    (void)dtype; /* the one that the state was made for */
    return ((const field_orders *)state)->stored;
}

static uint64_t bound(const zb__chunk_layout *layout) {
    return layout->decoded_size;
}

static const char *read_only(const void *state) {
    (void)state;
    return "its structs have fields of both byte orders, as only version 2 has them; copy the "
           "array into a new one";
}

static enum zb_code encode(const zb__encoding *e, const zb__chunk_layout *layout,
                           const zb__elements_view *view, zb__serialised *out, zb_error *err) {
    (void)e;
    (void)view;
    (void)out;
    return zb_fail(err, ZB_EUNSUPPORTED, "%s", read_only(layout->pipeline->serializer.state));
}

static const char *const members[] = {"endian", NULL};

const zb__codec_ops zb__codec_field_bytes = {
    .name = "zarrbridge.bytes",
    .kind = ZB__ARRAY_TO_BYTES,
    .members = members,
    .parse = parse,
    .free = free_state,
    .same = same,
    .serializer = {.is_elements = true,
                   .stored_dtype = stored_dtype,
                   .decode_bound = bound,
                   .encode_bound = bound,
                   .encode = encode,
                   .read_only = read_only},
};
