/* SPDX-License-Identifier: MIT */
#include "write/chunk_layout.h"

#include <stdlib.h>

#include "model/chunk_form.h"
#include "node/node.h"

/* Layouts that no chunk uses stay, up to this many: the months of a year have three lengths. */
#define KEPT 8

struct zb__shaped_layout {
    zb__layout layout; /* first: given back by its address. Its fill is the writer's */
    const zb__form *form;
    struct zb__shaped_layout *next;
    size_t users;
};

static void free_layout(zb_writer *writer, struct zb__shaped_layout *shaped) {
    zb__chunk_form_end(writer->node->array, shaped->form);
    free(shaped);
}

/* Frees the unused ones behind the first `kept` of them. */
static void trim(zb_writer *writer, size_t kept) {
    struct zb__shaped_layout **link = &writer->shaped;
    while (*link) {
        struct zb__shaped_layout *one = *link;
        if (one->users > 0 || kept > 0) {
            kept -= one->users > 0 ? 0 : 1;
            link = &one->next;
            continue;
        }
        *link = one->next;
        free_layout(writer, one);
    }
}

void zb__chunk_layouts_free(zb_writer *writer) {
    trim(writer, 0);
}

static enum zb_code add(zb_writer *writer, const zb__form *form, struct zb__shaped_layout **out,
                        zb_error *err) {
    struct zb__shaped_layout *shaped = *out = malloc(sizeof *shaped);
    if (!shaped)
        return zb_fail(err, ZB_ENOMEM, "no memory for the layout of a chunk");
    *shaped =
        (struct zb__shaped_layout){.layout = writer->layout, .form = form, .next = writer->shaped};
    enum zb_code code = zb__layout_shape(&shaped->layout, form, err);
    if (code)
        free(shaped);
    else
        writer->shaped = shaped;
    return code;
}

enum zb_code zb__chunk_layout_take(zb_writer *writer, const uint64_t *index, const zb__layout **out,
                                   zb_error *err) {
    const zb__array *array = writer->node->array;
    const zb__form *form;
    *out = &writer->layout;
    enum zb_code code = zb__chunk_form(array, index, &form, err);
    if (code || form == array->form)
        return code;
    struct zb__shaped_layout *shaped = writer->shaped;
    while (shaped && shaped->form != form)
        shaped = shaped->next;
    if (shaped)
        zb__chunk_form_end(array, form); /* the layout holds one */
    else
        code = add(writer, form, &shaped, err);
    if (code) {
        zb__chunk_form_end(array, form);
        return code;
    }
    shaped->users++;
    *out = &shaped->layout;
    return ZB_OK;
}

void zb__chunk_layout_give(zb_writer *writer, const zb__layout *layout) {
    if (!layout || layout == &writer->layout)
        return;
    struct zb__shaped_layout *shaped = (struct zb__shaped_layout *)(void *)(uintptr_t)layout;
    if (--shaped->users == 0)
        trim(writer, KEPT);
}
