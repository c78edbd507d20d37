/* SPDX-License-Identifier: MIT */
/* Elements as bytes: see elements.h. */
#include "attributes/elements.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_SIZE 8       /* bytes of the length of what has a variable one */
#define NO_TEXT UINT64_MAX /* in place of a length: a null pointer */

/* ---- Into bytes ---- */

typedef struct packed {
    unsigned char *bytes;
    size_t size, capacity;
    enum vol_pack kind;
    bool failed; /* memory ran out */
} packed;

static void put(packed *out, const void *bytes, size_t size) {
    if (!out->failed && out->size + size > out->capacity) {
        const size_t capacity = 2 * (out->size + size);
        unsigned char *larger = realloc(out->bytes, capacity);
        out->failed = !larger;
        if (larger) {
            out->bytes = larger;
            out->capacity = capacity;
        }
    }
    if (out->failed || size == 0)
        return;
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

static void put_count(packed *out, uint64_t count) {
    unsigned char bytes[COUNT_SIZE];
    for (unsigned i = 0; i < COUNT_SIZE; i++)
        bytes[i] = (unsigned char)(count >> 8 * i);
    put(out, bytes, sizeof bytes);
}

static void pack(const vol_form *form, size_t count, const char *elements, packed *out);

static bool is_there(const char *element) {
    const char *text;
    memcpy(&text, element, sizeof text); /* in a packed compound it lies anywhere */
    return text != NULL;
}

/* What stands behind the end of a text is a part of it only where all is asked for. */
static void pack_text(const vol_form *form, const char *element, packed *out) {
    const zb_slice text = vol_text_get(&form->text, element);
    if (out->kind != VOL_PACK_VALUES && form->text.is_variable && !is_there(element)) {
        put_count(out, NO_TEXT);
        return;
    }
    if (form->text.is_variable) {
        put_count(out, text.size);
        put(out, text.data, text.size);
        return;
    }
    static const char nothing[64] = {0};
    if (out->kind != VOL_PACK_VALUES || form->text.padding != H5T_STR_NULLTERM) {
        put(out, element, form->size);
        return;
    }
    put(out, text.data, text.size);
    for (size_t left = form->size - text.size; left > 0;) {
        const size_t part = left < sizeof nothing ? left : sizeof nothing;
        put(out, nothing, part);
        left -= part;
    }
}

static void pack_one(const vol_form *form, const char *element, packed *out) {
    static const uint64_t null;
    hvl_t list;
    switch (form->kind) {
    case VOL_FORM_TEXT:
        pack_text(form, element, out);
        return;
    case VOL_FORM_COMPOUND:
        for (size_t i = 0; i < form->count; i++)
            pack(form->member[i].form, 1, element + form->member[i].offset, out);
        return;
    case VOL_FORM_ARRAY:
        pack(form->base, form->count, element, out);
        return;
    case VOL_FORM_VLEN:
        memcpy(&list, element, sizeof list);
        put_count(out, list.p ? list.len : 0);
        if (list.p)
            pack(form->base, list.len, list.p, out);
        return;
    case VOL_FORM_REFERENCE:
        put(out, out->kind == VOL_PACK_STORED ? (const char *)&null : element, sizeof null);
        return;
    default:
        put(out, element, form->size);
    }
}

static void pack(const vol_form *form, size_t count, const char *elements, packed *out) {
    for (size_t i = 0; i < count; i++)
        pack_one(form, elements + i * form->size, out);
}

unsigned char *vol_elements_pack(const vol_form *form, size_t count, const void *elements,
                                 enum vol_pack kind, size_t *size) {
    packed out = {.bytes = malloc(1), .capacity = 1, .kind = kind};
    out.failed = !out.bytes;
    pack(form, count, elements, &out);
    *size = out.size;
    if (!out.failed)
        return out.bytes;
    free(out.bytes);
    return NULL;
}

/* ---- Out of bytes ---- */

typedef struct unpacked {
    const unsigned char *at;
    size_t left;
} unpacked;

static bool take(unpacked *in, void *out, size_t size) {
    if (in->left < size)
        return false;
    if (size > 0)
        memcpy(out, in->at, size);
    in->at += size;
    in->left -= size;
    return true;
}

static bool take_count(unpacked *in, uint64_t *out) {
    unsigned char bytes[COUNT_SIZE];
    if (!take(in, bytes, sizeof bytes))
        return false;
    *out = 0;
    for (unsigned i = 0; i < COUNT_SIZE; i++)
        *out |= (uint64_t)bytes[i] << 8 * i;
    return true;
}

static bool unpack(const vol_form *form, size_t count, unpacked *in, char *elements);

static bool unpack_text(const vol_form *form, unpacked *in, char *element) {
    uint64_t size;
    if (!form->text.is_variable)
        return take(in, element, form->size);
    if (!take_count(in, &size))
        return false;
    if (size == NO_TEXT)
        return true; /* elements begin as zeros */
    if (size > in->left || memchr(in->at, '\0', (size_t)size))
        return false;
    const zb_slice text = {.data = (const char *)in->at, .size = (size_t)size};
    if (vol_text_put(&form->text, text, element, NULL) != ZB_OK)
        return false;
    in->at += size;
    in->left -= (size_t)size;
    return true;
}

/* An element takes a byte at least in the packed form, or the form is one without any. */
static bool unpack_list(const vol_form *form, unpacked *in, char *element) {
    uint64_t count;
    hvl_t list;
    return take_count(in, &count) && count <= in->left &&
           vol_form_new_list(form, count, element, &list) &&
           unpack(form->base, list.len, in, list.p);
}

static bool unpack_one(const vol_form *form, unpacked *in, char *element) {
    switch (form->kind) {
    case VOL_FORM_TEXT:
        return unpack_text(form, in, element);
    case VOL_FORM_COMPOUND:
        for (size_t i = 0; i < form->count; i++)
            if (!unpack(form->member[i].form, 1, in, element + form->member[i].offset))
                return false;
        return true;
    case VOL_FORM_ARRAY:
        return unpack(form->base, form->count, in, element);
    case VOL_FORM_VLEN:
        return unpack_list(form, in, element);
    default:
        return take(in, element, form->size);
    }
}

static bool unpack(const vol_form *form, size_t count, unpacked *in, char *elements) {
    for (size_t i = 0; i < count; i++)
        if (!unpack_one(form, in, elements + i * form->size))
            return false;
    return true;
}

void *vol_elements_unpack(const vol_form *form, size_t count, const unsigned char *bytes,
                          size_t size) {
    unpacked in = {.at = bytes, .left = size};
    char *elements = calloc(count ? count : 1, form->size);
    if (elements && unpack(form, count, &in, elements) && in.left == 0)
        return elements;
    vol_elements_free(form, count, elements);
    return NULL;
}

void *vol_elements_copy(const vol_form *form, size_t count, const void *elements) {
    size_t size;
    unsigned char *bytes = vol_elements_pack(form, count, elements, VOL_PACK_EXACT, &size);
    void *copy = bytes ? vol_elements_unpack(form, count, bytes, size) : NULL;
    free(bytes);
    return copy;
}

void vol_elements_write_base64(zb_json_writer *out, const void *bytes, size_t size) {
    char *text = zb_base64_print(bytes, size);
    zb_json_write_string(text ? out : NULL, text ? text : "");
    free(text);
}

/* ---- Freeing ---- */

/* What an element points at, and where it keeps that; NULL for elements that do not point. */
static void *pointed(const vol_form *form, const char *element, size_t *length) {
    hvl_t list = {.p = NULL};
    char *text = NULL;
    *length = 0;
    if (form->kind == VOL_FORM_TEXT && form->text.is_variable) {
        memcpy(&text, element, sizeof text); /* in a packed compound it lies anywhere */
        return text;
    }
    if (form->kind == VOL_FORM_VLEN)
        memcpy(&list, element, sizeof list);
    *length = list.p ? list.len : 0;
    return list.p;
}

static void drop_one(const vol_form *form, char *element, const char *kept) {
    size_t length, unused;
    void *own = pointed(form, element, &length);
    if (own && !(kept && pointed(form, kept, &unused) == own)) {
        if (form->kind == VOL_FORM_VLEN)
            vol_elements_drop(form->base, length, own, NULL);
        free(own);
    }
    for (size_t m = 0; form->member && m < form->count; m++) {
        const size_t offset = form->member[m].offset;
        vol_elements_drop(form->member[m].form, 1, element + offset, kept ? kept + offset : NULL);
    }
    if (form->kind == VOL_FORM_ARRAY)
        vol_elements_drop(form->base, form->count, element, kept);
}

void vol_elements_drop(const vol_form *form, size_t count, void *elements, const void *kept) {
    const char *others = kept;
    for (size_t i = 0; i < count && vol_form_points(form); i++)
        drop_one(form, (char *)elements + i * form->size, kept ? others + i * form->size : NULL);
}

void vol_elements_free(const vol_form *form, size_t count, void *elements) {
    if (elements)
        vol_elements_drop(form, count, elements, NULL);
    free(elements);
}

/* ---- Sizes ---- */

uint64_t vol_elements_pointed(const vol_form *form, size_t count, const void *elements) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && vol_form_points(form); i++) {
        const char *element = (const char *)elements + i * form->size;
        size_t length;
        const void *at = pointed(form, element, &length);
        if (form->kind == VOL_FORM_TEXT && at)
            bytes += strlen(at) + 1;
        if (form->kind == VOL_FORM_VLEN)
            bytes += length * form->base->size + vol_elements_pointed(form->base, length, at);
        for (size_t m = 0; form->member && m < form->count; m++)
            bytes +=
                vol_elements_pointed(form->member[m].form, 1, element + form->member[m].offset);
        if (form->kind == VOL_FORM_ARRAY)
            bytes += vol_elements_pointed(form->base, form->count, element);
    }
    return bytes;
}
