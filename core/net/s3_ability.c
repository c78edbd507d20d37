/* SPDX-License-Identifier: MIT */
#include "s3_ability.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "conditional_put.h"
#include "fetch.h"
#include "hierarchy/markers.h"
#include "options.h"
#include "remote.h"
#include "s3.h"
#include "s3_known.h"
#include "util/token.h"

static const zb_part test_content = {.data = "1", .size = 1};

/* With the token; both have a NUL. */
#define TEST_KEY (sizeof ZB__TEST_OBJECT + ZB__TOKEN_SIZE - 1)

static enum zb_code make_test_key(char key[TEST_KEY], zb_error *err) {
    char id[ZB__TOKEN_SIZE];
    enum zb_code code = zb__token_make(id, err);
    snprintf(key, TEST_KEY, ZB__TEST_OBJECT "%s", id);
    return code;
}

/* Nobody else knows the key, so that no lock has to hear of it. condition: a header, or NULL. */
static enum zb_code erase(zb__remote *store, const char *key, const char *condition) {
    const char *const headers[] = {condition, NULL};
    zb__request request = {.store = store,
                           .method = ZB__DELETE,
                           .key = key,
                           .headers = headers,
                           .most = ZB__MOST_REPLY};
    const enum zb_code code = zb__request_wait(&request, NULL);
    free(request.buffer);
    return code;
}

/* ---- Large objects ---- */

/* An object that is there must not be replaced by one in parts that asks for none to be there. */
static int test_parts(zb__remote *store) {
    char key[TEST_KEY];
    const zb_put put = {.key = key, .parts = &test_content, .count = 1};
    zb__sending s = {.store = store, .put = &put, .size = 1, .seen = ZB__ABSENT};
    if (make_test_key(key, NULL))
        return ZB__UNSAID;
    const bool is_there = zb__conditional_send(&s, NULL) == ZB_OK;
    s.seen = ZB__ABSENT;
    s.in_parts = true;
    const bool is_refused = is_there && zb__conditional_send(&s, NULL) == ZB_ECONFLICT;
    (void)erase(store, key, NULL);
    return !is_there ? ZB__UNSAID : is_refused ? ZB__YES : ZB__NO;
}

/* Not every service that keeps to the conditions of puts keeps to those of uploads in parts. */
bool zb__s3_takes_parts(zb__remote *store) {
    zb__s3 *s3 = store->state;
    int known = s3->endpoint.base ? atomic_load(&s3->takes_parts) : ZB__YES;
    if (known == ZB__UNSAID) {
        known = zb__s3_is_known(s3, ZB__TAKES_PARTS) ? ZB__YES : test_parts(store);
        int unsaid = ZB__UNSAID; /* the test may have met an upload that cannot be signed for */
        if (!atomic_compare_exchange_strong(&s3->takes_parts, &unsaid, known))
            known = unsaid;
        if (known == ZB__YES)
            zb__s3_learn(s3, ZB__TAKES_PARTS);
    }
    return known == ZB__YES;
}

/* ---- Conditions ---- */

#define NO_ETAG "\"00000000000000000000000000000000\""

/* *is: a put whose condition does not hold is no success. An error: the answer is not known. */
static enum zb_code is_kept_to(zb__sending *s, bool *is, zb_error *err) {
    const enum zb_code code = zb__conditional_send(s, err);
    const bool is_unknown = s->status == 400 || s->status == 405 || s->status == 501;
    *is = code == ZB_ECONFLICT;
    return *is || is_unknown ? ZB_OK : code;
}

/* The object with the test's key is put, and stays. */
static enum zb_code test_conditions(zb__remote *store, const char *key, bool *are_kept,
                                    zb_error *err) {
    const zb_put put = {.key = key, .parts = &test_content, .count = 1};
    zb__sending s = {.store = store, .put = &put, .size = 1, .seen = ZB__ABSENT};
    enum zb_code code = zb__conditional_send(&s, err);
    if (code)
        return code;
    s.seen = ZB__ABSENT;
    code = is_kept_to(&s, are_kept, err);
    if (code || !*are_kept)
        return code;
    s.seen = ZB__PRESENT;
    snprintf(s.version.etag, sizeof s.version.etag, NO_ETAG);
    return is_kept_to(&s, are_kept, err);
}

/* By a DELETE whose condition does not hold: where the service carries it out, the object has gone
   by that. */
static void erase_test(zb__remote *store, const char *key, bool asks) {
    const enum zb_code code = asks ? erase(store, key, "If-Match: " NO_ETAG) : ZB_EUNSUPPORTED;
    if (code == ZB_ECONFLICT)
        zb__s3_learn(store->state, ZB__ERASES_AS_SEEN);
    if (code)
        (void)erase(store, key, NULL);
}

/* The test is made to its end, so that its object is erased. */
static enum zb_code ask_for_conditions(zb__remote *store, int *known, zb_error *err) {
    char key[TEST_KEY];
    bool are_kept = false;
    enum zb_code code = make_test_key(key, err);
    if (code)
        return code;
    zb__stopper *stopper = store->stopper(), before = *stopper;
    *stopper = (zb__stopper){.is_stopped = false};
    code = test_conditions(store, key, &are_kept, err);
    erase_test(store, key, are_kept);
    *stopper = before;
    *known = are_kept ? ZB__YES : ZB__NO;
    if (!code && *known == ZB__YES)
        zb__s3_learn(store->state, ZB__KEEPS_CONDITIONS);
    return code;
}

enum zb_code zb__s3_check_conditions(zb__remote *store, zb_error *err) {
    zb__s3 *s3 = store->state;
    int known = s3->endpoint.base ? atomic_load(&s3->conditions) : ZB__YES;
    if (known == ZB__UNSAID && zb__s3_is_known(s3, ZB__KEEPS_CONDITIONS))
        known = ZB__YES;
    if (known == ZB__UNSAID) {
        enum zb_code code = ask_for_conditions(store, &known, err);
        if (code)
            return code;
        atomic_store(&s3->conditions, known);
    }
    return known == ZB__YES
               ? ZB_OK
               : zb_fail(err, ZB_EUNSUPPORTED,
                         "%s: the service takes no notice of If-Match and If-None-Match, so that "
                         "programs could undo each other's changes",
                         store->base.label);
}

bool zb__s3_erases_as_seen(zb__remote *store) {
    const zb__s3 *s3 = store->state;
    return !s3->endpoint.base || zb__s3_is_known(s3, ZB__ERASES_AS_SEEN);
}
