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

/* ---- A group above ---- */

/* Edits the document, if the group keeps track; else *changed is false. */
static enum zb_code edit(zb__document *document, const char *from, const char *to, bool *changed,
                         zb_error *err) {
    static const char *const path[] = {"attributes", NULL};
    const zb_json *attributes = zb_json_get(document->json, "attributes");
    zb_hdf5_extension *extension;
    zb_moved *moved = NULL;
    char *text = NULL;
    zb_json *value = NULL;
    enum zb_code code =
        zb_hdf5_extension_parse(zb_json_get(attributes, ZB_HDF5_EXTENSION), &extension, err);
    if (!code)
        code = zb_moved_parse(zb_hdf5_extension_get(extension, ZB_HDF5_MOVED), &moved, err);
    *changed = moved != NULL;
    if (!code && moved)
        code = zb__moved_move(moved, from, to, err);
    if (!code && moved)
        code = zb__moved_put(extension, moved, &text, err);
    if (!code && text)
        code = zb_json_parse(text, strlen(text), &value, err);
    if (!code && value)
        code = zb__document_edit(document, path, ZB_HDF5_EXTENSION, value, NULL, err);
    if (!code && value)
        code = zb__node_check_size(document->text, document->size, document->json, err);
    zb_json_free(value);
    free(text);
    zb_moved_free(moved);
    zb_hdf5_extension_free(extension);
    return code;
}

static bool remember(zb__moved_note *note, const char *path, const zb__document *document) {
    zb__entries *list = &note->before;
    char *copy = strdup(path), *text = malloc(document->size + 1);
    if (!copy || !text ||
        !zb__list_grow(&list->entry, list->count, &list->capacity, sizeof *list->entry)) {
        free(copy);
        free(text);
        return false;
    }
    memcpy(text, document->text, document->size);
    text[document->size] = '\0';
    list->entry[list->count++] =
        (zb__entry){.path = copy, .document = {.text = text, .size = document->size}};
    return true;
}

static bool is_tracking(const zb__change *change, const char *group) {
    for (size_t i = 0; i < change->tracking.count; i++)
        if (strcmp(change->tracking.name[i].text, group) == 0)
            return true;
    return false;
}

/* from, to: relative to the group. */
static enum zb_code note_in(zb__change *change, const char *group, const char *from, const char *to,
                            zb__moved_note *note, zb_error *err) {
    zb__document document;
    bool changed = false;
    if (!is_tracking(change, group))
        return ZB_OK;
    enum zb_code code = zb__node_outline(change->hierarchy, group, &document, err);
    if (code)
        return code;
    if (!remember(note, group, &document))
        code = zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    if (!code)
        code = edit(&document, from, to, &changed, err);
    if (!code && changed)
        code = zb__change_put(change, group, document.text, document.size, err);
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

void zb__moved_note_end(zb__change *change, zb__moved_note *note, bool undo) {
    for (size_t i = 0; i < note->before.count; i++) {
        zb__entry *group = &note->before.entry[i];
        if (undo)
            (void)zb__change_put(change, group->path, group->document.text, group->document.size,
                                 NULL);
        free(group->path);
        zb__document_free(&group->document);
    }
    free(note->before.entry);
    *note = (zb__moved_note){.before = {.count = 0}};
}
