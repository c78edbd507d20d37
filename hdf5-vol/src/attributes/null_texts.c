/* SPDX-License-Identifier: MIT */
/* See null_texts.h. */
#include "attributes/null_texts.h"

#include "tree/side.h"
#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

/* ---- Walking ---- */

typedef struct bits {
    unsigned char *bytes; /* NULL: only counted */
    uint64_t count;       /* of the texts so far */
    uint64_t nulls;       /* those among them that are null */
} bits;

static void walk(const vol_form *form, size_t count, char *elements,
                 void (*visit)(char *element, bits *all), bits *all);

static void walk_one(const vol_form *form, char *element, void (*visit)(char *element, bits *all),
                     bits *all) {
    hvl_t list;
    switch (form->kind) {
    case VOL_FORM_TEXT:
        if (form->text.is_variable)
            visit(element, all);
        return;
    case VOL_FORM_COMPOUND:
        for (size_t m = 0; m < form->count; m++)
            walk(form->member[m].form, 1, element + form->member[m].offset, visit, all);
        return;
    case VOL_FORM_ARRAY:
        walk(form->base, form->count, element, visit, all);
        return;
    case VOL_FORM_VLEN:
        memcpy(&list, element, sizeof list);
        if (list.p)
            walk(form->base, list.len, list.p, visit, all);
        return;
    default:
        return;
    }
}

static void walk(const vol_form *form, size_t count, char *elements,
                 void (*visit)(char *element, bits *all), bits *all) {
    if (!vol_form_has(form, VOL_FORM_TEXT))
        return;
    for (size_t i = 0; i < count; i++)
        walk_one(form, elements + i * form->size, visit, all);
}

static char *text_at(const char *element) {
    char *text;
    memcpy(&text, element, sizeof text); /* in a packed compound it lies anywhere */
    return text;
}

/* ---- Printing ---- */

static void note(char *element, bits *all) {
    const bool is_null = !text_at(element);
    if (is_null && all->bytes)
        all->bytes[all->count / 8] |= (unsigned char)(1u << all->count % 8);
    all->nulls += is_null;
    all->count++;
}

static char *print_member(const bits *all) {
    char *base64 = zb_base64_print(all->bytes, (size_t)(all->count + 7) / 8);
    zb_json_writer *out = base64 ? zb_json_writer_new() : NULL;
    zb_json_write_string(out, base64 ? base64 : "");
    free(base64);
    return zb_json_writer_end(out, NULL);
}

enum zb_code vol_null_texts_print(const vol_form *form, size_t count, const void *elements,
                                  char **out, zb_error *err) {
    char *from = (char *)(uintptr_t)elements; /* it is only read */
    bits all = {.bytes = NULL};
    vol_changes members = {.count = 0};
    *out = NULL;
    walk(form, count, from, note, &all);
    if (all.nulls == 0)
        return ZB_OK;
    all = (bits){.bytes = calloc(1, (size_t)(all.count + 7) / 8)};
    if (all.bytes)
        walk(form, count, from, note, &all);
    char *text = all.bytes ? print_member(&all) : NULL;
    free(all.bytes);
    if (text && vol_side_put(&members, ZB_HDF5_NULL_TEXTS, text, err) == ZB_OK)
        *out = vol_side_print_new(&members);
    vol_changes_clear(&members);
    free(text);
    return *out ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for the null pointers of texts");
}

/* ---- Applying ---- */

static void forget(char *element, bits *all) {
    static char *const nothing;
    char *text = text_at(element);
    const bool was_null = all->bytes[all->count / 8] >> all->count % 8 & 1;
    all->count++;
    if (!was_null || !text || *text)
        return;
    free(text);
    memcpy(element, &nothing, sizeof nothing);
}

enum zb_code vol_null_texts_apply(const vol_form *form, size_t count, void *elements,
                                  const zb_node *array, zb_error *err) {
    zb_hdf5_extension *side;
    const enum zb_code code = zb_hdf5_extension_of(array, &side, err);
    const char *base64 = zb_json_string(zb_hdf5_extension_get(side, ZB_HDF5_NULL_TEXTS));
    size_t size = 0;
    bits all = {.bytes = base64 ? zb_base64_parse(base64, &size) : NULL}, counted = {.count = 0};
    if (all.bytes) {
        walk(form, count, elements, note, &counted);
        if (size == (counted.count + 7) / 8)
            walk(form, count, elements, forget, &all);
    }
    free(all.bytes);
    zb_hdf5_extension_free(side);
    return code;
}
