/* SPDX-License-Identifier: MIT */
/* References to objects, and the names that they are stored as: see elements.h. */
#include "attributes/elements.h"

#include "objects/paths.h"
#include "objects/token_search.h"
#include "objects/tokens.h"
#include "tree/map.h"

#include <stdlib.h>
#include <string.h>

/* The path of an object that is still to come. */
static const char *path_to_come(const vol_form *form, uint64_t token) {
    return form->file->to_come ? vol_map_get(form->file->to_come, token) : NULL;
}

/* *node is the one that has the path; NULL for an object that is still to come. */
static const char *find_path(const vol_form *form, const void *element, const vol_node **node) {
    uint64_t token;
    memcpy(&token, element, sizeof token);
    const char *path = token ? path_to_come(form, token) : NULL;
    *node = path || !token ? NULL : vol_node_by_token(form->file, token, NULL);
    return *node && !(*node)->loose ? (*node)->path : path;
}

const char *vol_reference_path(const vol_form *form, const void *element) {
    const vol_node *node;
    return find_path(form, element, &node);
}

enum zb_code vol_reference_text(const vol_form *form, const void *element, char **text,
                                zb_error *err) {
    const vol_node *node;
    const char *path = find_path(form, element, &node);
    *text = NULL;
    if (path && !form->by_path)
        return vol_moved_refer(form->file, path, node && !node->is_dimension, text, err);
    if (path && !(*text = strdup(path)))
        return zb_fail(err, ZB_ENOMEM, "no memory for a reference");
    return ZB_OK;
}

/* A text that leads nowhere is a null reference; one that cannot be followed for another reason, as
   a limit, is none. Paths to come are not looked for: some of them stand for no node of the
   store. */
bool vol_reference_parse(const vol_form *form, const char *text, void *element) {
    zb_error err = {0};
    char *moved = form->by_path ? NULL : vol_moved_path(form->file, text, &err);
    if (!form->by_path && !moved && err.code)
        return false;
    const char *path = form->by_path ? text : moved;
    uint64_t token = path ? vol_token_of_path(path) : 0;
    const bool comes = path && path_to_come(form, token) != NULL;
    const vol_node *node = comes || !path ? NULL : vol_node_find(form->file->root, path, &err);
    if (!comes)
        token = node ? node->token : 0;
    free(moved);
    memcpy(element, &token, sizeof token);
    return comes || node ||
           (err.code != ZB_ELIMIT && err.code != ZB_ENOMEM && err.code != ZB_ECANCELLED);
}

static bool visit_one(const vol_form *form, char *element, vol_reference_visit visit,
                      void *context) {
    uint64_t token, before;
    hvl_t list;
    if (form->kind == VOL_FORM_REFERENCE) {
        memcpy(&before, element, sizeof before); /* in a packed compound it lies anywhere */
        token = before;
        if (token && !visit(form, &token, context))
            return false;
        if (token != before) /* the program's memory may be one that cannot be written */
            memcpy(element, &token, sizeof token);
        return true;
    }
    if (form->kind == VOL_FORM_VLEN) {
        memcpy(&list, element, sizeof list);
        return !list.p || vol_elements_references(form->base, list.len, list.p, visit, context);
    }
    if (form->kind == VOL_FORM_ARRAY)
        return vol_elements_references(form->base, form->count, element, visit, context);
    for (size_t m = 0; form->member && m < form->count; m++)
        if (!vol_elements_references(form->member[m].form, 1, element + form->member[m].offset,
                                     visit, context))
            return false;
    return true;
}

bool vol_elements_references(const vol_form *form, size_t count, void *elements,
                             vol_reference_visit visit, void *context) {
    bool going = true;
    if (!vol_form_has(form, VOL_FORM_REFERENCE))
        return true;
    for (size_t i = 0; i < count && going; i++)
        going = visit_one(form, (char *)elements + i * form->size, visit, context);
    return going;
}

static bool take_lists(const vol_form *form, const char *element, const char *from) {
    hvl_t list, other;
    memcpy(&list, element, sizeof list);
    memcpy(&other, from, sizeof other);
    return list.len == other.len &&
           (list.len == 0 || vol_elements_take_references(form->base, list.len, list.p, other.p));
}

static bool take_one(const vol_form *form, char *element, const char *from) {
    if (form->kind == VOL_FORM_REFERENCE)
        memcpy(element, from, form->size);
    if (form->kind == VOL_FORM_VLEN)
        return take_lists(form, element, from);
    if (form->kind == VOL_FORM_ARRAY)
        return vol_elements_take_references(form->base, form->count, element, from);
    for (size_t m = 0; form->member && m < form->count; m++) {
        const size_t offset = form->member[m].offset;
        if (!vol_elements_take_references(form->member[m].form, 1, element + offset, from + offset))
            return false;
    }
    return true;
}

bool vol_elements_take_references(const vol_form *form, size_t count, void *elements,
                                  const void *from) {
    bool going = true;
    if (!vol_form_has(form, VOL_FORM_REFERENCE))
        return true;
    for (size_t i = 0; i < count && going; i++)
        going =
            take_one(form, (char *)elements + i * form->size, (const char *)from + i * form->size);
    return going;
}
