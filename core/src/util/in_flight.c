/* SPDX-License-Identifier: MIT */
#include "util/in_flight.h"

#include "util/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Who leads or waits, in the order of coming; guarded by the lock, with all that is in them. */
static zb__in_flight *all;

/* The threads that asked are not in the child. */
static void forget_all(void *unused) {
    (void)unused;
    all = NULL;
    pthread_cond_init(&changed, NULL);
}

static void init(void) {
    static zb__fork_guard guard = {.lock = &lock, .in_child = forget_all};
    zb__fork_guard_add(&guard);
}

void zb__answer_drop(zb__answer *answer) {
    if (answer && atomic_fetch_sub(&answer->others, 1) == 0)
        answer->free(answer);
}

/* The place of the next one that wants the same: the first of all leads. */
static zb__in_flight **find(zb__in_flight **at, const zb__in_flight *own) {
    while (*at && ((*at)->is_same != own->is_same || !own->is_same(*at, own)))
        at = &(*at)->next;
    return at;
}

/* False: it is not there. */
static bool take_out(const zb__in_flight *own) {
    zb__in_flight **at = &all;
    while (*at && *at != own)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = own->next;
    return true;
}

static void rouse(zb__in_flight *one, int state) {
    one->state = state;
    if (one->wake)
        one->wake(one);
    else
        pthread_cond_broadcast(&changed);
}

bool zb__in_flight_join(zb__in_flight *own) {
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    zb__in_flight **at = find(&all, own);
    const bool leads = !*at;
    own->state = leads ? ZB__LEADS : ZB__WAITS;
    own->next = NULL;
    while (*at)
        at = &(*at)->next;
    *at = own;
    pthread_mutex_unlock(&lock);
    return leads;
}

void zb__in_flight_leave(zb__in_flight *own) {
    if (!own->is_same)
        return;
    pthread_mutex_lock(&lock);
    zb__in_flight *heir = take_out(own) && own->state == ZB__LEADS ? *find(&all, own) : NULL;
    if (heir)
        rouse(heir, ZB__LEADS);
    pthread_mutex_unlock(&lock);
    zb__answer_drop(own->answer);
    own->answer = NULL;
    own->is_same = NULL;
}

void zb__in_flight_share(zb__in_flight *own, zb__answer *answer, enum zb_code code,
                         const zb_error *error) {
    if (zb__is_of_call(code))
        zb__in_flight_leave(own);
    if (!own->is_same)
        return;
    pthread_mutex_lock(&lock);
    zb__in_flight **at = take_out(own) ? find(&all, own) : NULL, *other;
    for (; at && (other = *at); at = find(at, own)) {
        *at = other->next;
        other->code = code;
        if (code && other->err)
            *other->err = *error;
        if (answer)
            atomic_fetch_add(&answer->others, 1);
        other->answer = answer;
        rouse(other, ZB__SHARES);
    }
    pthread_mutex_unlock(&lock);
    own->is_same = NULL;
}

enum zb_code zb__in_flight_ask(zb__in_flight *own, zb__stopper *stopper, zb__ask_fn ask,
                               zb__answer **out, zb_error *err) {
    zb_error error = {.code = ZB_OK};
    *out = NULL;
    own->err = &error;
    zb__in_flight_join(own);
    pthread_mutex_lock(&lock);
    while (own->state == ZB__WAITS &&
           zb__wait(stopper, &changed, &lock, ZB__FOR_EVER) != ZB__STOPPED)
        continue;
    const int state = own->state;
    pthread_mutex_unlock(&lock);
    enum zb_code code = own->code;
    if (state == ZB__WAITS) {
        zb__in_flight_leave(own); /* nobody shares an error with it any more */
        code = zb__fail_stopped(&error);
    } else if (state == ZB__SHARES) {
        *out = own->answer;
        own->answer = NULL; /* the caller's */
    } else {
        code = ask(own, out, &error);
        zb__in_flight_share(own, *out, code, &error);
    }
    zb__in_flight_leave(own);
    if (code && err)
        *err = error;
    return code;
}
