/* SPDX-License-Identifier: MIT */
/* The functions that the core's own writing of JSON needs beyond zarrbridge/json.h. */
#ifndef ZB_UTIL_JSON_WRITER_H
#define ZB_UTIL_JSON_WRITER_H

#include "util/text.h"
#include "zarrbridge/json.h"

/* All zeros is a writer of compact text, to be ended by zb__text_take(&writer.text, ...). */
struct zb_json_writer {
    zb__text text;
    unsigned level; /* of the lines of the next value, where it stands on lines of its own */
    bool lines;     /* items of the innermost container stand on lines of their own */
    bool spaced;    /* blanks behind colons, and behind the commas of a container on one line */
    bool follows;   /* an item came before in the innermost container */
    bool named;     /* a name came before; the next value follows at once */
};

/* A writer that puts one value into an indented text, in which the value's first line is at this
   level (0 for a whole document). Values that were parsed are indented, lists of scalars stay on
   one line. */
static inline zb_json_writer zb__json_indented(unsigned level) {
    return (zb_json_writer){.level = level, .lines = true, .spaced = true, .named = true};
}

/* A string of `size` bytes, in which NULs are escaped, too. */
void zb__json_write_text(zb_json_writer *writer, const char *text, size_t size);

/* The name of a member that was parsed, as it stood. */
void zb__json_write_name_of(zb_json_writer *writer, const zb_json *member);

/* NaN and infinities too; size: 8 double, 4 float, 2 float16. */
void zb__json_write_real(zb_json_writer *writer, double value, uint32_t size);

/* Lists. A NULL among the names is a null. */
void zb__json_write_extents(zb_json_writer *writer, const uint64_t *extents, uint32_t ndim);
void zb__json_write_names(zb_json_writer *writer, const char *const *names, uint32_t count);

#endif
