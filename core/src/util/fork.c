/* SPDX-License-Identifier: MIT */
#include "util/fork.h"

#include <stddef.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static zb__fork_guard *guards;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before(void) {
    pthread_mutex_lock(&list_lock);
    for (zb__fork_guard *guard = guards; guard; guard = guard->next)
        pthread_mutex_lock(guard->lock);
}

static void in_parent(void) {
    for (zb__fork_guard *guard = guards; guard; guard = guard->next)
        pthread_mutex_unlock(guard->lock);
    pthread_mutex_unlock(&list_lock);
}

static void in_child(void) {
    for (zb__fork_guard *guard = guards; guard; guard = guard->next) {
        if (guard->in_child)
            guard->in_child(guard->context);
    }
    in_parent();
}

static void init(void) {
    pthread_atfork(before, in_parent, in_child);
}

void zb__fork_guard_add(zb__fork_guard *guard) {
    pthread_once(&once, init);
    pthread_mutex_lock(&list_lock);
    guard->previous = NULL;
    guard->next = guards;
    if (guards)
        guards->previous = guard;
    guards = guard;
    pthread_mutex_unlock(&list_lock);
}

void zb__fork_guard_remove(zb__fork_guard *guard) {
    pthread_mutex_lock(&list_lock);
    *(guard->previous ? &guard->previous->next : &guards) = guard->next;
    if (guard->next)
        guard->next->previous = guard->previous;
    pthread_mutex_unlock(&list_lock);
}
