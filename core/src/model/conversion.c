/* SPDX-License-Identifier: MIT */
#include "model/conversion.h"

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
