/* SPDX-License-Identifier: MIT */
#include "read/flight.h"

#include <pthread.h>

#include "base/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all flights */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static zb__flight *firsts;

/* The threads that asked are not in the child. */
static void forget_all(void *unused) {
    (void)unused;
    firsts = NULL;
}

static void init(void) {
    static zb__fork_guard guard = {.lock = &lock, .in_child = forget_all};
    zb__fork_guard_add(&guard);
}

static zb__flight **find_first(const zb__flight *flight) {
    zb__flight **at = &firsts;
    while (*at && ((*at)->array != flight->array || (*at)->number != flight->number))
        at = &(*at)->next;
    return at;
}

bool zb__flight_begin(zb__flight *flight) {
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    zb__flight *first = *find_first(flight), **list = first ? &first->waiting : &firsts;
    flight->is_first = !first;
    flight->waiting = NULL;
    flight->next = *list;
    *list = flight;
    pthread_mutex_unlock(&lock);
    return !first;
}

/* Takes a flight out of a list; false when it is not there. */
static bool unlink_from(zb__flight **list, const zb__flight *flight) {
    while (*list && *list != flight)
        list = &(*list)->next;
    if (!*list)
        return false;
    *list = flight->next;
    return true;
}

void zb__flight_end(zb__flight *flight) {
    if (!flight->wake)
        return;
    pthread_mutex_lock(&lock);
    zb__flight *first = *find_first(flight);
    if (flight->is_first && unlink_from(&firsts, flight)) {
        for (zb__flight *other = flight->waiting, *next; other; other = next) {
            next = other->next;
            other->wake(other);
        }
    } else if (first) {
        unlink_from(&first->waiting, flight);
    }
    flight->wake = NULL;
    pthread_mutex_unlock(&lock);
}
