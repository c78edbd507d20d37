/* SPDX-License-Identifier: MIT */
/* Times of numpy: counts of a unit. */
#include <string.h>

#include "types/kinds.h"
#include "types/move.h"
#include "util/bytes.h"
#include "util/json_excerpt.h"

/* "μs" is the unit "us", with either letter that looks so. */
static bool find_unit(const char *name, enum zb_time_unit *unit) {
    if (strcmp(name, "\u03bcs") == 0 || strcmp(name, "\u00b5s") == 0)
        name = "us";
    for (int i = ZB_UNIT_GENERIC; i <= ZB_UNIT_ATTOSECOND; i++) {
        *unit = (enum zb_time_unit)i;
        if (strcmp(zb_time_unit_name(*unit), name) == 0)
            return true;
    }
    return false;
}

static enum zb_code parse(const zb__kind *kind, const zb__extension *type, zb__arena *memory,
                          zb_dtype *out, zb_error *err) {
    static const char *const known[] = {"unit", "scale_factor", NULL};
    const zb_json *unit = zb_json_get(type->configuration, "unit");
    const zb_json *scale = zb_json_get(type->configuration, "scale_factor");
    const char *name = zb_json_string(unit);
    uint64_t number;
    char excerpt[ZB__BRIEF_SIZE];
    zb_dtype_detail *detail = zb__arena_alloc(memory, sizeof *detail);
    if (!detail)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a data type");
    *detail = (zb_dtype_detail){.scale = 0};
    if (!name || !find_unit(name, &detail->unit))
        return zb_fail(err, ZB_EFORMAT,
                       "data_type: unit is %s, expected one of Y M W D h m s ms us ns ps fs as "
                       "generic",
                       zb__json_excerpt(unit, excerpt));
    if (!zb_json_uint64(scale, &number) || number < 1 || number > INT32_MAX)
        return zb_fail(err, ZB_EFORMAT,
                       "data_type: scale_factor is %s, expected an integer from 1 to 2147483647",
                       zb__json_excerpt(scale, excerpt));
    detail->scale = (uint32_t)number;
    *out = (zb_dtype){.kind = kind->kind, .size = sizeof(int64_t), .detail = detail};
    return zb__extension_check(type, "data_type", known, err);
}

static void write(zb_json_writer *w, zb_dtype dtype) {
    uint32_t scale;
    zb_json_write_name(w, "unit");
    zb_json_write_string(w, zb_time_unit_name(zb_dtype_unit(dtype, &scale)));
    zb_json_write_name(w, "scale_factor");
    zb_json_write_uint64(w, scale);
}

static bool exists(zb_dtype dtype) {
    uint32_t scale;
    zb_dtype_unit(dtype, &scale);
    return dtype.size == sizeof(int64_t) && scale > 0 && scale <= INT32_MAX;
}

static zb_dtype shown(zb_dtype dtype) {
    (void)dtype;
    return (zb_dtype){.kind = ZB_KIND_INT, .size = sizeof(int64_t)};
}

/* The count of units, or the word for no time, which numpy has, too. */
static enum zb_code parse_fill(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    const char *text = zb_json_string(value);
    if (text && strcmp(text, "NaT") == 0) {
        zb__store_element((uint64_t)INT64_MIN, dtype.size, out);
        return ZB_OK;
    }
    if (zb__integer_parse(value, dtype.size, true, out))
        return ZB_OK;
    return zb__fill_expect(fill, "an integer or \"NaT\"");
}

static void print_fill(zb_json_writer *w, zb_dtype dtype, const void *element) {
    zb__integer_print(w, dtype.size, element);
}

#define TIME(number, text, code)                                                                   \
    {.kind = number,                                                                               \
     .names = (const zb__type_name[]){{text, 0, code, NULL}, {0}},                                 \
     .name = text,                                                                                 \
     .parse = parse,                                                                               \
     .write = write,                                                                               \
     .exists = exists,                                                                             \
     .components = 1,                                                                              \
     .shown = shown,                                                                               \
     .fill_parse = parse_fill,                                                                     \
     .fill_print = print_fill,                                                                     \
     .convert = zb__numbers_convert}

const zb__kind zb__kind_datetime = TIME(ZB_KIND_DATETIME, "numpy.datetime64", "M8");
const zb__kind zb__kind_timedelta = TIME(ZB_KIND_TIMEDELTA, "numpy.timedelta64", "m8");
