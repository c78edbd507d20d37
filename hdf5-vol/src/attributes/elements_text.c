/* SPDX-License-Identifier: MIT */
/* Elements of datasets as texts: see elements.h. */
#include "attributes/elements.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

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
    char *path;
    enum zb_code code = vol_reference_text(form, element, &path, err);
    if (code)
        return code;
    if (!path && memcmp(element, &nothing, sizeof nothing) != 0)
        return fail_reference(err);
    char *copy = path ? path : strdup("");
    if (!copy)
        return fail_memory(err);
    *out = (zb_slice){.data = copy, .size = strlen(copy)};
    return ZB_OK;
}

static bool is_same(const unsigned char *bytes, size_t size, const vol_form *form,
                    const void *other) {
    size_t other_size;
    unsigned char *others = vol_elements_pack(form, 1, other, VOL_PACK_VALUES, &other_size);
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
    zb_json_writer *out = zb_json_writer_new();
    vol_elements_write_base64(out, bytes, size);
    return zb_json_writer_end(out, text_size);
}

static bool is_null(const vol_form *form, uint64_t *token, void *context) {
    (void)form, (void)token, (void)context;
    return false; /* null references are not visited */
}

/* The JSON where that is exact, else the bytes. In those a reference would be a token, which means
   nothing to the next program: elements that hold one are refused. */
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
    if (!vol_elements_references(form, 1, (void *)(uintptr_t)element, is_null, NULL))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "an element whose references cannot be stored as names, or that holds "
                       "beside them what JSON cannot (a NaN of special bits, a text that is no "
                       "UTF-8): write references into a dataset of their own");
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
    unsigned char *bytes = vol_elements_pack(form, 1, element, VOL_PACK_VALUES, &size);
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
