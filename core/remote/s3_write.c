/* SPDX-License-Identifier: MIT */
#include "s3_write.h"

#include "fetch.h"
#include "remote.h"
#include "s3_ability.h"
#include "s3_lock.h"
#include "s3_parts.h"
#include "s3_send.h"

static enum zb_code measure(const zb_put *put, zb__s3_sending *s, zb_error *err) {
    *s = (zb__s3_sending){.store = s->store, .put = put};
    for (size_t i = 0; i < put->count; i++) {
        if (__builtin_add_overflow(s->size, put->parts[i].size, &s->size))
            return zb_fail(err, ZB_ELIMIT, "%s/%s: too many bytes", s->store->base.label, put->key);
    }
    s->in_parts = zb__s3_pays_in_parts(s->size) && zb__s3_takes_parts(s->store);
    if (s->size <= (s->in_parts ? ZB__S3_MOST_IN_PARTS : ZB__S3_MOST_AT_ONCE))
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT,
                   "%s/%s: an object is put with at most %s here: choose smaller chunks or shards",
                   s->store->base.label, s->put->key, s->in_parts ? "5 TiB" : "5 GiB");
}

enum zb_code zb__s3_put(zb_store *store, const zb_put *put, zb_error *err) {
    zb__s3_sending s = {.store = (zb__remote *)store};
    if (put->expected == ZB_EXPECT_NOTHING || put->expected == ZB_EXPECT_FREE)
        return ZB_EUNSUPPORTED;
    enum zb_code code = measure(put, &s, err);
    if (!code && !zb__s3_is_checked_on_the_way(&s))
        code = zb_put_check(put, err);
    if (!code) {
        s.seen = zb__s3_seen(s.store, put->key, &s.version);
        if (s.seen == ZB__UNSEEN && put->expected == ZB_EXPECT_NO_OBJECT &&
            zb__s3_is_locked(s.store, put->key))
            s.seen = ZB__ABSENT;
        code = zb__s3_send(&s, err);
    }
    s.version.size = s.size;
    if (!code)
        zb__s3_replaced(s.store, put->key, &s.version);
    else if (code == ZB_ECONFLICT && !s.is_refused && zb__key_is_document(put->key))
        zb__s3_refused(s.store, put->key);
    return code;
}
