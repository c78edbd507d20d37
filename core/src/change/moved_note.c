/* SPDX-License-Identifier: MIT */
/* Keeping track of nodes that move: see moved_note.h. */
#include "change/moved_note.h"

#include <stdlib.h>
#include <string.h>

#include "extension/moved.h"
#include "hierarchy/path.h"
#include "node/document.h"
#include "node/edit.h"
#include "node/node.h"
#include "util/list.h"

static const char *const in_attributes[] = {"attributes", NULL};

/* ---- A group above ---- */

/* A group that keeps track. */
typedef struct tracking {
    zb_hdf5_extension *extension;
    zb_moved *moved; /* NULL: it does not */
} tracking;

static enum zb_code load(const zb__document *document, tracking *out, zb_error *err) {
    const zb_json *attributes = zb_json_get(document->json, "attributes");
    out->moved = NULL;
    enum zb_code code =
        zb_hdf5_extension_parse(zb_json_get(attributes, ZB_HDF5_EXTENSION), &out->extension, err);
    if (!code)
        code =
            zb_moved_parse(zb_hdf5_extension_get(out->extension, ZB_HDF5_MOVED), &out->moved, err);
    return code;
}

static void unload(tracking *group) {
    zb_moved_free(group->moved);
    zb_hdf5_extension_free(group->extension);
}

/* Puts another value of the attribute (malloc'ed JSON text, which it takes over) into a document. */
static enum zb_code set_value(zb__document *document, char *value, zb_error *err) {
    enum zb_code code =
        zb__document_replace(document, in_attributes, ZB_HDF5_EXTENSION, value, err);
    free(value);
    return code ? code : zb__node_check_size(document->text, document->size, document->json, err);
}

static enum zb_code set_moved(zb__document *document, const tracking *group, zb_error *err) {
    char *value;
    enum zb_code code = zb__moved_put(group->extension, group->moved, &value, err);
    return code ? code : set_value(document, value, err);
}

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
    tracking group;
    char *value = NULL;
    enum zb_code code = load(document, &group, err);
    if (!code)
        code = copy_text(document, &noted->before, err);
    if (!code && group.moved)
        code = zb__moved_move(group.moved, from, to, err);
    if (!code && group.moved && to)
        code = zb__moved_put_moving(group.extension, from, to, &value, err);
    if (!code && group.moved)
        code = set_moved(document, &group, err);
    if (!code && value && !is_same(document, &noted->before)) {
        code = copy_text(document, &noted->after, err);
        if (!code)
            code = set_value(document, value, err);
        value = NULL;
    }
    free(value);
    unload(&group);
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

/* ---- What a kill has left ---- */

static enum zb_code settle(zb__change *change, const char *path, zb_error *err) {
    zb__document document;
    tracking group = {.extension = NULL};
    bool is_settled = false;
    enum zb_code code = zb__node_outline(change->hierarchy, path, &document, err);
    if (code)
        return code;
    code = load(&document, &group, err);
    if (!code)
        code =
            zb__moved_look(change->hierarchy, path, group.extension, group.moved, &is_settled, err);
    if (!code && is_settled)
        code = set_moved(&document, &group, err);
    if (!code && is_settled)
        code = put(change, path, &document, err);
    unload(&group);
    zb__document_free(&document);
    return code;
}

enum zb_code zb__moved_settle_above(zb__change *change, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < change->unsettled.count && !code; i++) {
        const char *path = change->unsettled.name[i].text;
        code = change->is_unlocked
                   ? zb__change_refuse(change, path,
                                       "what a killed move has left has to be settled", err)
                   : settle(change, path, err);
    }
    if (!code)
        zb__names_free(&change->unsettled);
    return code;
}
