/* SPDX-License-Identifier: MIT */
#include "types/fill.h"

#include <string.h>

#include "types/kinds.h"
#include "util/json_excerpt.h"

/* The one message of fill values: the value that stands there, and the form that the type wants. */
static enum zb_code fail(const zb_json *value, zb_dtype dtype, const char *expected,
                         zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    char name[ZB_DTYPE_NAME_SIZE];
    return zb_fail(err, ZB_EFORMAT, "fill_value is %s, expected %s for %s",
                   zb__json_excerpt(value, excerpt), expected, zb_dtype_name(dtype, name));
}

enum zb_code zb__fill_parse(const zb_json *value, zb_dtype dtype, zb__arena *memory, void *out,
                            zb__fill_form *form, zb_error *err) {
    zb_error local;
    zb__fill fill = {.memory = memory, .err = err ? err : &local};
    *form = (zb__fill_form){.is_default = zb_json_kind_of(value) == ZB_JSON_NULL};
    if (form->is_default) {
        memset(out, 0, dtype.size);
        return ZB_OK;
    }
    enum zb_code code = zb__kind_of(dtype)->fill_parse(&fill, value, dtype, out);
    form->is_packed = fill.is_packed;
    return code && fill.expected ? fail(value, dtype, fill.expected, err) : code;
}

bool zb__fill_fits(zb_dtype dtype, const void *element) {
    const zb__kind *kind = zb__kind_of(dtype);
    return !kind->fill_fits || kind->fill_fits(dtype, element);
}

void zb__fill_print(zb_json_writer *w, zb_dtype dtype, const void *element) {
    zb__kind_of(dtype)->fill_print(w, dtype, element);
}
