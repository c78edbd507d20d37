/* SPDX-License-Identifier: MIT */
/* Lists of extents in JSON: of shapes, and of chunks that have several. */
#include "array/grid.h"

#include "util/extension.h"
#include "util/json_excerpt.h"
#include "zarrbridge/json.h"

enum zb_code zb__extents_parse(const zb_json *list, const char *what, uint64_t least, uint64_t *out,
                               zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    size_t i = 0;
    for (const zb_json *item = zb_json_first(list); item; item = zb_json_next(item), i++) {
        if (!zb_json_uint64(item, &out[i]) || out[i] < least)
            return zb_fail(err, ZB_EFORMAT, "%s[%zu] is %s, expected an integer of at least %llu",
                           what, i, zb__json_excerpt(item, excerpt), (unsigned long long)least);
        if (out[i] > INT64_MAX)
            return zb_fail(err, ZB_ELIMIT, "%s[%zu] is %llu, the limit is 2^63-1", what, i,
                           (unsigned long long)out[i]);
    }
    return ZB_OK;
}

/* ---- Lists of chunks of several extents --------------------------------------------------- */

/* An extent or a count: at least 1, and below 2^63. */
static bool is_amount(const zb_json *item, uint64_t *out) {
    return zb_json_uint64(item, out) && *out > 0 && *out <= INT64_MAX;
}

static enum zb_code add_item(const zb_json *item, bool has_counts, zb__runs *runs, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    uint64_t extent, count = 1;
    const zb_json *first = zb_json_first(item);
    bool is_run = has_counts && zb_json_kind_of(item) == ZB_JSON_ARRAY && zb_json_count(item) == 2;
    bool good = is_run ? is_amount(first, &extent) && is_amount(zb_json_next(first), &count)
                       : is_amount(item, &extent);
    if (!good)
        return zb_fail(err, ZB_EFORMAT, "%s is no extent of a chunk, expected an integer%s",
                       zb__json_excerpt(item, excerpt),
                       has_counts ? " or [extent, count], of at least 1 and below 2^63"
                                  : " of at least 1 and below 2^63");
    return zb__runs_add(runs, extent, count, err);
}

static enum zb_code parse_list(const zb_json *list, bool has_counts, zb__runs *runs,
                               zb_error *err) {
    enum zb_code code = ZB_OK;
    if (zb_json_count(list) == 0)
        return zb_fail(err, ZB_EFORMAT, "the list is empty, expected the extents of chunks");
    for (const zb_json *item = zb_json_first(list); item && !code; item = zb_json_next(item))
        code = add_item(item, has_counts, runs, err);
    return code;
}

enum zb_code zb__chunk_shapes_parse(const zb_json *value, const char *what, bool has_counts,
                                    uint32_t ndim, uint64_t *extent, zb__runs *runs,
                                    zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != ndim)
        return zb_fail(err, ZB_EFORMAT,
                       "%s is %s, expected an integer or a list of integers for each of the %u "
                       "dimensions",
                       what, zb__json_excerpt(value, excerpt), ndim);
    const zb_json *item = zb_json_first(value);
    for (uint32_t d = 0; d < ndim; d++, item = zb_json_next(item)) {
        extent[d] = 0;
        if (zb_json_kind_of(item) == ZB_JSON_ARRAY) {
            enum zb_code code = parse_list(item, has_counts, &runs[d], err);
            if (code)
                return zb_error_prefix(err, code, "%s[%u]", what, d);
        } else if (!is_amount(item, &extent[d])) {
            return zb_fail(err, ZB_EFORMAT,
                           "%s[%u] is %s, expected an integer of at least 1 and below 2^63, or a "
                           "list",
                           what, d, zb__json_excerpt(item, excerpt));
        }
    }
    return ZB_OK;
}

static void print_list(zb_json_writer *writer, const zb__runs *runs) {
    zb_json_begin_array(writer);
    for (size_t i = 0; i < runs->count; i++) {
        uint64_t cells = zb__run_cells(runs, i);
        if (cells > 1)
            zb_json_begin_array(writer);
        zb_json_write_uint64(writer, runs->run[i].extent);
        if (cells > 1) {
            zb_json_write_uint64(writer, cells);
            zb_json_end_array(writer);
        }
    }
    zb_json_end_array(writer);
}

void zb__rectilinear_print(zb_json_writer *writer, uint32_t ndim, const uint64_t *extent,
                           const zb__runs *runs) {
    zb__extension_begin(writer, "rectilinear");
    zb_json_write_name(writer, "kind");
    zb_json_write_string(writer, "inline");
    zb_json_write_name(writer, "chunk_shapes");
    zb_json_begin_array(writer);
    for (uint32_t d = 0; d < ndim; d++) {
        if (runs[d].count > 0)
            print_list(writer, &runs[d]);
        else
            zb_json_write_uint64(writer, extent[d]);
    }
    zb_json_end_array(writer);
    zb__extension_end(writer);
}
