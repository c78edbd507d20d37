/* SPDX-License-Identifier: MIT */
#include "store/thread_locks.h"

void zb__thread_lock_enter(zb__thread_lock **list, zb__thread_lock *lock) {
    lock->owner = pthread_self();
    lock->next = *list;
    *list = lock;
}

void zb__thread_lock_leave(zb__thread_lock **list, const zb__thread_lock *lock) {
    while (*list && *list != lock)
        list = &(*list)->next;
    if (*list)
        *list = lock->next;
}

void zb__thread_locks_keep_own(zb__thread_lock **list) {
    while (*list) {
        if (pthread_equal((*list)->owner, pthread_self()))
            list = &(*list)->next;
        else
            *list = (*list)->next;
    }
}
