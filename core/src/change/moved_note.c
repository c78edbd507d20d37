/* SPDX-License-Identifier: MIT */
/* Keeping track of nodes that move: see moved_note.h. */
#include "change/moved_note.h"

#include <stdlib.h>
#include <string.h>

#include "change/tracking.h"
#include "hierarchy/path.h"
#include "node/edit.h"
#include "node/document.h"
#include "node/node.h"
#include "util/list.h"

/* ---- Documents ---- */

static enum zb_code copy_text(const zb__document *document, zb__document *out, zb_error *err) {
    *out = (zb__document){.text = malloc(document->size + 1), .size = document->size};
    if (!out->text)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    memcpy(out->text, document->text, document->size + 1);
    return ZB_OK;
}

static enum zb_code put(zb__change *change, const char *path, const zb__document *document,
                        zb_error *err) {
    return zb__change_put(change, path, document->text, document->size, err);
}

static bool is_same(const zb__document *a, const zb__document *b) {
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static void clear(zb__noted_group *group) {
    free(group->path);
    zb__document_free(&group->before);
    zb__document_free(&group->after);
}

/* ---- Noting ---- */

/* Makes the documents before and after the change; `document` becomes the one that stands
   meanwhile. Where all are the same nothing has to be put. */
static enum zb_code prepare(zb__document *document, const char *from, const char *to,
                            zb__noted_group *noted, zb_error *err) {
    zb__tracking group;
    char *value = NULL;
    enum zb_code code = zb__tracking_load(document, &group, err);
    if (!code)
        code = copy_text(document, &noted->before, err);
    const bool is_noted = !code && group.moved && zb__moved_is_known(group.moved, from);
    if (is_noted)
        code = zb__moved_move(group.moved, from, to, err);
    if (is_noted && !code && to)
        code = zb__moved_put_moving(group.extension, from, to, &value, err);
    if (is_noted && !code)
        code = zb__tracking_set(document, &group, err);
    if (!code && value && !is_same(document, &noted->before)) {
        code = copy_text(document, &noted->after, err);
        if (!code) {
            code = zb__tracking_set_value(document, value, err);
            value = NULL; /* taken over */
        }
    }
    free(value);
    zb__tracking_free(&group);
    return code;
}

static bool is_tracking(const zb__change *change, const char *group) {
    for (size_t i = 0; i < change->tracking.count; i++)
        if (strcmp(change->tracking.name[i].text, group) == 0)
            return true;
    return false;
}

/* from, to: relative to the group. */
static enum zb_code note_in(zb__change *change, const char *path, const char *from, const char *to,
                            zb__moved_note *note, zb_error *err) {
    zb__document document;
    if (!is_tracking(change, path))
        return ZB_OK;
    enum zb_code code = zb__node_outline(change->hierarchy, path, &document, err);
    if (code)
        return code;
    zb__noted_group noted = {.path = strdup(path)};
    if (!noted.path ||
        !zb__list_grow(&note->group, note->count, &note->capacity, sizeof *note->group))
        code = zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    if (!code)
        code = prepare(&document, from, to, &noted, err);
    const bool is_kept = !code && !is_same(&document, &noted.before);
    if (is_kept)
        note->group[note->count++] = noted;
    else
        clear(&noted);
    if (is_kept)
        code = put(change, path, &document, err);
    zb__document_free(&document);
    return code;
}

enum zb_code zb__moved_take_note(zb__change *change, const char *from, const char *to,
                                 zb__moved_note *note, zb_error *err) {
    char *group = strdup(from);
    enum zb_code code = group ? ZB_OK : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    while (!code && *group) {
        zb__path_up(group);
        code = note_in(change, group, zb__path_below(from, group),
                       to ? zb__path_below(to, group) : NULL, note, err);
    }
    free(group);
    return code;
}

/* A document that cannot be put leaves what the next change settles. */
void zb__moved_note_end(zb__change *change, zb__moved_note *note, bool undo) {
    for (size_t i = 0; i < note->count; i++) {
        zb__noted_group *group = &note->group[i];
        const zb__document *end = undo ? &group->before : &group->after;
        if (end->text)
            (void)put(change, group->path, end, NULL);
        clear(group);
    }
    free(note->group);
    *note = (zb__moved_note){.count = 0};
}
