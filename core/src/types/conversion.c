/* SPDX-License-Identifier: MIT */
/* Conversion of elements of all kinds, by their rows: zb__scatter goes by zb__move_convert. */
#include "types/conversion.h"

#include "types/dtype.h"
#include "types/kinds.h"
#include "types/move.h"
#include "types/scatter.h"

/* Numbers of processors, which most boxes have, convert without a look at their rows. */
static bool are_numbers(zb_dtype from, zb_dtype to) {
    return from.kind <= ZB_KIND_COMPLEX && to.kind <= ZB_KIND_COMPLEX;
}

/* The kind of the source is asked first. */
static bool find(zb_dtype from, zb_dtype to, zb__move *move) {
    const zb__kind *a = zb__kind_of(from), *b = zb__kind_of(to);
    return (a->convert && a->convert(from, to, move)) ||
           (b != a && b->convert && b->convert(from, to, move));
}

bool zb_dtype_converts(zb_dtype from, zb_dtype to) {
    zb_dtype same_order = to;
    same_order.swapped = from.swapped;
    if (from.size == 0 || to.size == 0)
        return false;
    if (are_numbers(from, to))
        return zb__numbers_convert(from, to, NULL);
    if (zb_dtype_equal(from, same_order))
        return true;
    return find(from, to, NULL);
}

bool zb_dtype_writes(zb_dtype from, zb_dtype to) {
    const zb__kind *kind = zb__kind_of(from);
    if (zb_dtype_converts(from, to))
        return zb__dtype_has_fields(to, from);
    return kind->writes && kind->writes(from, to);
}

/* ---- Moves -------------------------------------------------------------------------------- */

/* Do elements of both have the same bytes but for their order: numbers of one kind, or a count of
   time and its int64? */
static bool same_but_order(zb_dtype a, zb_dtype b) {
    b.swapped = a.swapped;
    return zb_dtype_equal(a, b) || zb__numbers_same(a, b);
}

bool zb__dtype_copies_any(zb_dtype src_dtype, zb_dtype dst_dtype) {
    if (!same_but_order(src_dtype, dst_dtype) || zb__dtype_holds_bool(src_dtype))
        return false;
    return src_dtype.swapped == dst_dtype.swapped || zb_dtype_equal(src_dtype, dst_dtype);
}

/* Between numbers of one type that differ in their order, or of two types. The byte of a bool is no
   copy: it is made 0 or 1. */
static zb__move move_numbers(zb_dtype from, zb_dtype to) {
    const bool are_same = from.kind == to.kind && from.size == to.size;
    if (!are_same || from.kind == ZB_KIND_BOOL)
        return zb__numbers_move(from, to);
    return zb__move_swap(from.size, from.kind == ZB_KIND_COMPLEX ? from.size / 2 : from.size);
}

zb__move zb__move_convert(zb_dtype src_dtype, zb_dtype dst_dtype) {
    if (zb__dtype_copies(src_dtype, dst_dtype))
        return zb__move_copy(src_dtype.size);
    if (are_numbers(src_dtype, dst_dtype))
        return move_numbers(src_dtype, dst_dtype);
    const uint32_t components = zb__kind_of(src_dtype)->components;
    if (components && same_but_order(src_dtype, dst_dtype))
        return zb__move_swap(src_dtype.size, src_dtype.size / components);
    zb__move move = zb__move_copy(src_dtype.size);
    find(src_dtype, dst_dtype, &move);
    return move;
}

void zb__convert(zb_dtype src_dtype, const void *src, int64_t src_stride, zb_dtype dst_dtype,
                 void *dst, int64_t dst_stride, size_t n) {
    zb__move move = zb__move_convert(src_dtype, dst_dtype);
    move.run(&move, src, src_stride, dst, dst_stride, n);
}

bool zb_dtype_convert(zb_dtype from, const void *src, zb_dtype to, void *dst, size_t count) {
    if (zb_dtype_is_variable(from) || (!zb_dtype_converts(from, to) && !zb_dtype_writes(from, to)))
        return false;
    const bool looks = !zb_dtype_converts(from, to);
    for (size_t i = 0; i < count && looks; i++)
        if (zb_dtype_refuses(from, (const char *)src + i * from.size, to))
            return false;
    zb__convert(from, src, from.size, to, dst, to.size, count);
    return true;
}

/* ---- Elements that are looked at ---------------------------------------------------------- */

/* The type that a field becomes, by its name; its own where `to` has no such field. */
static zb_dtype target_of(const zb_field *field, zb_dtype to) {
    const zb_field *target = zb_dtype_field(to, field->name);
    return target ? target->dtype : field->dtype;
}

static const char *measure_fields(zb_dtype dtype, const char *element, zb_dtype to,
                                  uint64_t *bytes) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    const char *problem = NULL;
    for (size_t i = 0; i < count && !problem; i++)
        problem = zb__measure_of(fields[i].dtype)(fields[i].dtype, element + fields[i].offset,
                                                  target_of(&fields[i], to), bytes);
    return problem;
}

zb__measure_fn zb__measure_of(zb_dtype dtype) {
    const zb__kind *kind = zb__kind_of(dtype);
    return kind->measure ? kind->measure : measure_fields;
}

const char *zb_dtype_refuses(zb_dtype from, const void *element, zb_dtype to) {
    uint64_t bytes = 0;
    return zb__measure_of(from)(from, element, to, &bytes);
}

/* Elements of one size that convert are right as they are. */
bool zb__elements_are_measured(zb_dtype from, zb_dtype to) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(from, &count);
    bool measured =
        zb__kind_of(from)->measure && (zb__is_slice(from) || !zb_dtype_converts(from, to));
    for (size_t i = 0; i < count && !measured; i++)
        measured = zb__elements_are_measured(fields[i].dtype, target_of(&fields[i], to));
    return measured;
}

/* ---- Why not ------------------------------------------------------------------------------ */

/* The first field that keeps one struct from becoming the other. `all`: `from` may have no
   others. */
static const zb_field *bad_field(zb_dtype from, zb_dtype to, bool all) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(to, &count);
    for (size_t i = 0; i < count; i++) {
        const zb_field *source = zb_dtype_field(from, fields[i].name);
        if (!source || !(all ? zb_dtype_writes : zb_dtype_converts)(source->dtype, fields[i].dtype))
            return &fields[i];
    }
    fields = zb_dtype_fields(from, &count);
    for (size_t i = 0; i < count && all; i++) {
        if (!zb_dtype_field(to, fields[i].name))
            return &fields[i];
    }
    return NULL;
}

enum zb_code zb__no_conversion(const char *path, zb_dtype from, zb_dtype to, bool all,
                               zb_error *err) {
    const char *name = NULL;
    const zb_field *bad, *source = NULL, *target = NULL;
    while (from.kind == ZB_KIND_STRUCT && to.kind == ZB_KIND_STRUCT &&
           (bad = bad_field(from, to, all)) != NULL) {
        name = bad->name;
        source = zb_dtype_field(from, name);
        target = zb_dtype_field(to, name);
        if (!source || !target)
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "array /%s: struct does not convert to struct: only one of them has the "
                           "field '%s'",
                           path, name);
        from = source->dtype;
        to = target->dtype;
    }
    char a[ZB_DTYPE_NAME_SIZE], b[ZB_DTYPE_NAME_SIZE];
    return zb_fail(err, ZB_EUNSUPPORTED, "array /%s: %s%s%s%s does not convert to %s", path,
                   name ? "struct does not convert to struct: in field '" : "", name ? name : "",
                   name ? "' " : "", zb_dtype_name(from, a), zb_dtype_name(to, b));
}
