/* SPDX-License-Identifier: MIT */
#include "write/writable.h"

#include <string.h>

#include "codec/form.h"

/* Where filters stand in front of a shard, a missing inner chunk may have another value than a
   missing shard. A writer that left out what is missing would change values then. And version 1.0
   of the codec, which all readers know, wants inner chunks that divide the shard. */
enum zb_code zb__array_check_writable(const zb__array *array, zb_error *err) {
    const zb__form *form = array->form;
    if (array->is_cut)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "the inner chunks do not divide their shards, as it is proposed for version "
                       "1.1 of sharding_indexed; such arrays are only read; copy the array into a "
                       "new one");
    const char *reason = zb__form_read_only(form);
    if (reason)
        return zb_fail(err, ZB_EUNSUPPORTED, "%s", reason);
    for (; form; form = form->shard ? form->shard->inner : NULL) {
        const void *missing = form->chain->missing;
        if (missing && memcmp(missing, array->info.fill_value, array->info.dtype.size) != 0)
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "the fill value does not pass the codecs in front of the shards "
                           "unchanged, so that the array can only be read");
    }
    return ZB_OK;
}
