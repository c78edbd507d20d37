/* SPDX-License-Identifier: MIT */
#include "model/extents.h"

#include "base/json_brief.h"
#include "zarrbridge/json.h"

enum zb_code zb__extents_parse(const zb_json *list, const char *what, uint64_t least, uint64_t *out,
                               zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    size_t i = 0;
    for (const zb_json *item = zb_json_first(list); item; item = zb_json_next(item), i++) {
        if (!zb_json_uint64(item, &out[i]) || out[i] < least)
            return zb_fail(err, ZB_EFORMAT, "%s[%zu] is %s, expected an integer of at least %llu",
                           what, i, zb__json_brief(item, brief), (unsigned long long)least);
        if (out[i] > INT64_MAX)
            return zb_fail(err, ZB_ELIMIT, "%s[%zu] is %llu, the limit is 2^63-1", what, i,
                           (unsigned long long)out[i]);
    }
    return ZB_OK;
}
