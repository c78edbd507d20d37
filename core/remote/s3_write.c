/* SPDX-License-Identifier: MIT */
#include "s3_write.h"

#include <stdatomic.h>

#include "conditional_put.h"
#include "remote.h"
#include "s3.h"
#include "s3_ability.h"
#include "s3_parts.h"

/* The most that S3 takes in one request, and in parts. */
#define MOST_AT_ONCE ((uint64_t)5 << 30)
#define MOST_IN_PARTS ((uint64_t)5 << 40)

enum zb_code zb__s3_measure(zb__sending *s, zb_error *err) {
    s->in_parts = zb__s3_pays_in_parts(s->size) && zb__s3_takes_parts(s->store);
    if (s->size <= (s->in_parts ? MOST_IN_PARTS : MOST_AT_ONCE))
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT,
                   "%s/%s: an object is put with at most %s here: choose smaller chunks or shards",
                   s->store->base.label, s->put->key, s->in_parts ? "5 TiB" : "5 GiB");
}

enum zb_code zb__s3_send_in_parts(zb__sending *s, const char *mark, const char *condition,
                                  bool *in_doubt, zb_error *err) {
    const zb__s3_upload upload = {.store = s->store,
                                  .put = s->put,
                                  .is_refused = &s->is_refused,
                                  .size = s->size,
                                  .mark = mark,
                                  .condition = condition};
    const zb__version seen = s->version;
    enum zb_code code = zb__s3_upload_run(&upload, &s->version, in_doubt, err);
    if (code != ZB_EUNSUPPORTED || s->is_refused || s->size > MOST_AT_ONCE)
        return code;
    atomic_store(&((zb__s3 *)s->store->state)->takes_parts, ZB__NO);
    s->version = seen;
    return zb__conditional_send_whole(s, mark, condition, in_doubt, err);
}
