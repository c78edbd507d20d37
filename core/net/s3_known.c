/* SPDX-License-Identifier: MIT */
#include "s3_known.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/fork.h"

#define MOST 100

typedef struct service {
    char *endpoint, *bucket;
    bool has[ZB__ABILITIES];
} service;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static service services[MOST]; /* guarded by the mutex, for as long as the process lives */
static size_t count;

static void prepare(void) {
    static zb__fork_guard guard = {.lock = &mutex};
    zb__fork_guard_add(&guard);
}

static void enter(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    pthread_mutex_lock(&mutex);
}

/* With the mutex. NULL: none. */
static service *find(const zb__s3 *s3) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(services[i].endpoint, s3->endpoint.base) == 0 &&
            strcmp(services[i].bucket, s3->name.bucket) == 0)
            return &services[i];
    }
    return NULL;
}

/* With the mutex. NULL: there is no room, or no memory. */
static service *add(const zb__s3 *s3) {
    if (count == MOST)
        return NULL;
    service new = {.endpoint = strdup(s3->endpoint.base), .bucket = strdup(s3->name.bucket)};
    if (!new.endpoint || !new.bucket) {
        free(new.endpoint);
        free(new.bucket);
        return NULL;
    }
    services[count] = new;
    return &services[count++];
}

bool zb__s3_is_known(const zb__s3 *s3, enum zb__s3_ability ability) {
    enter();
    const service *found = find(s3);
    const bool is = found && found->has[ability];
    pthread_mutex_unlock(&mutex);
    return is;
}

void zb__s3_learn(const zb__s3 *s3, enum zb__s3_ability ability) {
    enter();
    service *at = find(s3);
    if (!at)
        at = add(s3);
    if (at)
        at->has[ability] = true;
    pthread_mutex_unlock(&mutex);
}
