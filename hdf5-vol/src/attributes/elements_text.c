/* SPDX-License-Identifier: MIT */
/* Elements of datasets as texts: see elements.h. */
#include "attributes/elements.h"

#include "model/map.h"
#include "model/paths.h"
#include "model/token_search.h"
#include "model/tokens.h"
#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

/* ---- References ---- */

/* The path of an object that is still to come. */
static const char *path_to_come(const vol_form *form, uint64_t token) {
    return form->file->to_come ? vol_map_get(form->file->to_come, token) : NULL;
}

const char *vol_reference_path(const vol_form *form, const void *element) {
    uint64_t token;
    memcpy(&token, element, sizeof token);
    const char *path = token ? path_to_come(form, token) : NULL;
    if (path || !token)
        return path;
    const vol_node *node = vol_node_by_token(form->file, token, NULL);
    return node && !node->loose ? node->path : NULL;
}

/* A path that leads nowhere is a null reference; one that cannot be followed for another reason, as
   a limit, is none. */
bool vol_reference_parse(const vol_form *form, const char *path, void *element) {
    zb_error err = {0};
    const vol_node *node = vol_node_find(form->file->root, path, &err);
    const uint64_t to_come = vol_token_of_path(path);
    const uint64_t token = node ? node->token : path_to_come(form, to_come) ? to_come : 0;
    memcpy(element, &token, sizeof token);
    return node || (err.code != ZB_ELIMIT && err.code != ZB_ENOMEM);
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

/* ---- Into texts ---- */

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the text of an element");
}

static enum zb_code fail_reference(zb_error *err) {
    return zb_fail(
        err, ZB_EINVAL,
        "a reference to no object of this store; write a null reference (zeros), or link "
        "the object first");
}

static bool is_found(const vol_form *form, uint64_t *token, void *context) {
    (void)context;
    return vol_reference_path(form, token) != NULL;
}

static enum zb_code print_path(const vol_form *form, const void *element, zb_slice *out,
                               zb_error *err) {
    static const uint64_t nothing;
    const char *path = vol_reference_path(form, element);
    if (!path && memcmp(element, &nothing, sizeof nothing) != 0)
        return fail_reference(err);
    char *copy = strdup(path ? path : "");
    if (!copy)
        return fail_memory(err);
    *out = (zb_slice){.data = copy, .size = strlen(copy)};
    return ZB_OK;
}

static bool is_same(const unsigned char *bytes, size_t size, const vol_form *form,
                    const void *other) {
    size_t other_size;
    unsigned char *others = vol_elements_pack(form, 1, other, false, &other_size);
    const bool same = others && other_size == size && memcmp(bytes, others, size) == 0;
    free(others);
    return same;
}

/* Whether a text gives back an element of these bytes. */
static bool gives_back(const vol_form *form, zb_slice text, const unsigned char *bytes,
                       size_t size) {
    void *back = calloc(1, form->size);
    const bool same = back && vol_element_parse(form, text, back, NULL) == ZB_OK &&
                      is_same(bytes, size, form, back);
    vol_elements_free(form, 1, back);
    return same;
}

static char *print_json(const vol_form *form, const void *element, size_t *size) {
    zb_json_writer *out = zb_json_writer_new();
    vol_elements_print(form, 0, NULL, element, out);
    return zb_json_writer_end(out, size);
}

static char *print_bytes(const unsigned char *bytes, size_t size, size_t *text_size) {
    char *base64 = zb_base64_print(bytes, size);
    zb_json_writer *out = base64 ? zb_json_writer_new() : NULL;
    zb_json_write_string(out, base64 ? base64 : "");
    free(base64);
    return zb_json_writer_end(out, text_size);
}

/* The JSON where that is exact, else the bytes. */
static enum zb_code choose_text(const vol_form *form, const void *element,
                                const unsigned char *bytes, size_t size, zb_slice *out,
                                zb_error *err) {
    char *text = print_json(form, element, &out->size);
    out->data = text;
    if (!text)
        return fail_memory(err);
    if (gives_back(form, *out, bytes, size))
        return ZB_OK;
    free(text);
    out->data = text = print_bytes(bytes, size, &out->size);
    if (!text)
        return fail_memory(err);
    if (gives_back(form, *out, bytes, size))
        return ZB_OK;
    free(text);
    return zb_fail(err, ZB_ELIMIT, "an element with a list of more than %zu bytes",
                   VOL_ATTR_LARGEST);
}

enum zb_code vol_element_print(const vol_form *form, const void *element, zb_slice *out,
                               zb_error *err) {
    size_t size;
    *out = (zb_slice){.data = NULL};
    if (form->kind == VOL_FORM_REFERENCE)
        return print_path(form, element, out, err);
    if (!vol_elements_references(form, 1, (void *)(uintptr_t)element, is_found, NULL))
        return fail_reference(err);
    unsigned char *bytes = vol_elements_pack(form, 1, element, false, &size);
    const enum zb_code code =
        bytes ? choose_text(form, element, bytes, size, out, err) : fail_memory(err);
    free(bytes);
    if (code)
        *out = (zb_slice){.data = NULL};
    return code;
}

/* ---- Out of texts ---- */

/* Takes over what parsed elements point at. */
static bool take(const vol_form *form, void *parsed, void *element) {
    if (parsed)
        memcpy(element, parsed, form->size);
    free(parsed);
    return parsed != NULL;
}

static bool parse_bytes(const vol_form *form, const char *base64, void *element) {
    size_t size;
    void *bytes = zb_base64_parse(base64, &size);
    void *parsed = bytes ? vol_elements_unpack(form, 1, bytes, size) : NULL;
    free(bytes);
    return take(form, parsed, element);
}

static bool parse_json(const vol_form *form, zb_slice text, void *element) {
    zb_json *json = NULL;
    void *parsed = NULL;
    if (zb_json_parse(text.data, text.size, &json, NULL) != ZB_OK)
        return false;
    const char *base64 = zb_json_string(json);
    const bool good = base64 ? parse_bytes(form, base64, element)
                             : vol_elements_parse(form, 0, NULL, 1, json, &parsed) == ZB_OK &&
                                   take(form, parsed, element);
    zb_json_free(json);
    return good;
}

static bool parse_path(const vol_form *form, zb_slice text, void *element) {
    char *path = memchr(text.data, '\0', text.size) ? NULL : strndup(text.data, text.size);
    const bool good = path && vol_reference_parse(form, path, element);
    free(path);
    return good;
}

enum zb_code vol_element_parse(const vol_form *form, zb_slice text, void *element, zb_error *err) {
    if (text.size == 0 || (form->kind == VOL_FORM_REFERENCE ? parse_path(form, text, element)
                                                            : parse_json(form, text, element)))
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "the text is no element of the dataset's HDF5 type");
}
