/* SPDX-License-Identifier: MIT */
#include "read/retry.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hierarchy/markers.h"
#include "node/current.h"
#include "node/node.h"
#include "util/clock.h"
#include "zarrbridge/sys/store.h"

/* A chunk that a writer is changing in place is read again every RETRY_NS, for at most
   RETRY_MOST_NS; for RETRY_QUIET_NS when nothing changes and no journal tells of a change, but its
   time stamps are not sure (they may lie in the future). Nanoseconds.
   RETRY_TRIES count whatever time they take: a process may stand still for longer. */
#define RETRY_NS 1000000
#define RETRY_QUIET_NS 100000000
#define RETRY_MOST_NS 1000000000
#define RETRY_TRIES 20

enum { UNCHANGED, UNSURE, CHANGING };

/* True if a journal has been put beside the object lately. Its change may take some time; a journal
   that has been there for longer was left by a kill. */
static bool has_young_journal(const zb__stored_chunk *chunk, const char *name) {
    zb_object_info info;
    char *journal = zb__journal_key(name);
    bool there =
        journal && zb_store_stat(zb__node_store(chunk->node), journal, &info, NULL) == ZB_OK;
    free(journal);
    return there && info.age != 0 && info.age < RETRY_MOST_NS;
}

/* True if the stored chunk's object has changed since it was opened for the last try, or is being
   changed. */
static int change_of(const zb__stored_chunk *chunk) {
    const zb_validator *opened = &chunk->info.validator;
    zb_object_info now;
    if (opened->word[0] == 0) /* not opened, or not there */
        return UNCHANGED;
    char *name = zb__array_chunk_key(chunk->node, chunk->index);
    bool there = name && zb_store_stat(zb__node_store(chunk->node), name, &now, NULL) == ZB_OK;
    int change = there && !now.validator.valid ? UNSURE : UNCHANGED;
    if (there && (memcmp(now.validator.word, opened->word, sizeof opened->word) != 0 ||
                  has_young_journal(chunk, name)))
        change = CHANGING;
    free(name);
    return change;
}

bool zb__retry_pays(zb__retry *r, const zb__stored_chunk *chunks, size_t count, enum zb_code code) {
    if (!zb_store_can_change(zb__node_store(chunks->node)) ||
        (code != ZB_ECHECKSUM && code != ZB_EFORMAT && code != ZB_EIO))
        return false;
    int change = UNCHANGED;
    for (size_t i = 0; i < count && change != CHANGING; i++) {
        int one = change_of(&chunks[i]);
        change = one > change ? one : change;
    }
    int64_t now = zb__now();
    r->first = r->first ? r->first : now;
    if (change == CHANGING || !r->changed)
        r->changed = now;
    const bool in_time = now - r->first <= RETRY_MOST_NS && now - r->changed <= RETRY_QUIET_NS;
    if (change == UNCHANGED || (r->tries++ >= RETRY_TRIES && !in_time))
        return false;
    struct timespec pause = {.tv_nsec = RETRY_NS};
    nanosleep(&pause, NULL);
    return true;
}

/* ---- Chunks that were not found ----------------------------------------------------------- */

/* Looks for chunks that are in doubt, until their array counts as gone: a chunk that another
   program stores between two looks is in doubt as well. */
#define TRIES 8

/* Frees the names. */
static bool lacks(const zb_node *node, char **names, size_t count) {
    const bool all =
        count == 0 || zb_store_confirm_absent(zb__node_store(node), node->path, node->home,
                                              (const char *const *)names, count);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return all;
}

/* NULL when each chunk that was not found is not stored, else an array of which that is not
   sure. */
static const zb_node *doubt(const zb__stored_chunk *chunks, size_t count) {
    char *names[ZB__MISSING_TOGETHER];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const zb_node *node = chunks[i].node;
        bool known = true;
        if (chunks[i].is_missing)
            zb__array_note_missing(node);
        if (chunks[i].is_missing && node->home && !chunks[i].is_fresh) {
            names[n] = zb__array_chunk_key(node, chunks[i].index);
            known = names[n] != NULL;
            n += known;
        }
        if (known && n < ZB__MISSING_TOGETHER && i + 1 < count && chunks[i + 1].node == node)
            continue;
        if (!lacks(node, names, n) || !known)
            return node;
        n = 0;
    }
    return NULL;
}

enum zb_code zb__missing_surely(zb__stored_chunk *chunks, size_t count, zb__look_fn look,
                                void *context, zb_error *err) {
    for (int tries = 1;; tries++) {
        const enum zb_code code = look(context, chunks, count, err);
        const zb_node *array = code ? NULL : doubt(chunks, count);
        if (!array || tries == TRIES)
            return array ? zb__array_gone(array, err) : code;
    }
}
