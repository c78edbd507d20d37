/* SPDX-License-Identifier: MIT */
/* CF's words for the units of times. */
#include <stdio.h>
#include <stdlib.h>

#include "zarrbridge/conventions.h"

/* Years and months of numpy are those of the calendar, which no unit of CF is. */
char *zb_time_units(zb_dtype dtype) {
    static const char *const words[ZB_UNIT_ATTOSECOND + 1] = {
        [ZB_UNIT_WEEK] = "weeks",
        [ZB_UNIT_DAY] = "days",
        [ZB_UNIT_HOUR] = "hours",
        [ZB_UNIT_MINUTE] = "minutes",
        [ZB_UNIT_SECOND] = "seconds",
        [ZB_UNIT_MILLISECOND] = "milliseconds",
        [ZB_UNIT_MICROSECOND] = "microseconds",
        [ZB_UNIT_NANOSECOND] = "nanoseconds",
        [ZB_UNIT_PICOSECOND] = "picoseconds",
        [ZB_UNIT_FEMTOSECOND] = "femtoseconds",
        [ZB_UNIT_ATTOSECOND] = "attoseconds",
    };
    uint32_t scale;
    const char *word = words[zb_dtype_unit(dtype, &scale)];
    const char *since = dtype.kind == ZB_KIND_DATETIME ? " since 1970-01-01" : "";
    char number[16] = "", name[64], *text = NULL;
    if (scale == 0)
        return NULL;
    if (scale > 1)
        snprintf(number, sizeof number, "%u ", scale);
    const int length = word ? asprintf(&text, "%s%s%s", number, word, since)
                            : asprintf(&text, "%s", zb_dtype_print(dtype, name, sizeof name));
    return length < 0 ? NULL : text;
}
