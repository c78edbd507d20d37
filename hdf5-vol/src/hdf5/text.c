/* SPDX-License-Identifier: MIT */
/* Text in HDF5's memory: see text.h. */
#include "hdf5/text.h"

#include "types/types.h"
#include "zarrbridge/json.h"

#include <stdlib.h>
#include <string.h>

bool vol_text_form_of(h5_lib *lib, hid_t type, vol_text_form *out) {
    const size_t item = vol_type_item(lib, type);
    if (item > 0) {
        *out = (vol_text_form){
            .is_variable = true, .is_bytes = true, .item = item, .size = sizeof(hvl_t)};
        return true;
    }
    if (lib->H5Tget_class(type) != H5T_STRING)
        return false;
    *out = (vol_text_form){.is_variable = lib->H5Tis_variable_str(type) > 0,
                           .size = lib->H5Tget_size(type)};
    if (!out->is_variable)
        out->padding = lib->H5Tget_strpad(type);
    return out->size > 0;
}

/* Blanks at the end say where a text ends that is padded with them, and NULs elsewhere. In a form
   without an end of its own, NULs before the end of the text are kept. */
static bool holds(const vol_text_form *form, zb_slice text) {
    if (text.size == 0 || form->is_bytes ||
        (!form->is_variable && form->padding == H5T_STR_SPACEPAD))
        return true;
    if (!form->is_variable && form->padding == H5T_STR_NULLPAD)
        return text.data[text.size - 1] != '\0';
    return !memchr(text.data, '\0', text.size);
}

static enum zb_code put_bytes(zb_slice bytes, size_t item, void *element, zb_error *err) {
    hvl_t made = {.len = bytes.size / item};
    if (bytes.size % item != 0)
        return zb_fail(err, ZB_EINVAL, "%zu bytes are no sequence of items of %zu bytes",
                       bytes.size, item);
    if (bytes.size > 0) {
        made.p = malloc(bytes.size);
        if (!made.p)
            return zb_fail(err, ZB_ENOMEM, "no memory for %zu bytes", bytes.size);
        memcpy(made.p, bytes.data, bytes.size);
    }
    memcpy(element, &made, sizeof made);
    return ZB_OK;
}

static enum zb_code put_variable(zb_slice text, void *element, zb_error *err) {
    char *copy = malloc(text.size + 1);
    if (!copy)
        return zb_fail(err, ZB_ENOMEM, "no memory for a text of %zu bytes", text.size);
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    memcpy(element, &copy, sizeof copy);
    return ZB_OK;
}

enum zb_code vol_text_put(const vol_text_form *form, zb_slice text, void *element, zb_error *err) {
    if (!holds(form, text))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "the text holds a NUL (byte %zu of %zu), which would end it; read it with a "
                       "fixed-length string type that is padded with %s",
                       (size_t)((char *)memchr(text.data, '\0', text.size) - text.data), text.size,
                       text.data[text.size - 1] ? "NULs (H5T_STR_NULLPAD)"
                                                : "blanks (H5T_STR_SPACEPAD)");
    if (form->is_bytes)
        return put_bytes(text, form->item, element, err);
    if (form->is_variable)
        return put_variable(text, element, err);
    const size_t used = text.size < form->size ? text.size : form->size;
    if (used > 0)
        memcpy(element, text.data, used);
    memset((char *)element + used, form->padding == H5T_STR_SPACEPAD ? ' ' : '\0',
           form->size - used);
    if (form->padding == H5T_STR_NULLTERM)
        ((char *)element)[form->size - 1] = '\0';
    return ZB_OK;
}

zb_slice vol_text_get(const vol_text_form *form, const void *element) {
    zb_slice text = {.data = element, .size = form->size};
    if (form->is_bytes) {
        hvl_t bytes;
        memcpy(&bytes, element, sizeof bytes);
        text = (zb_slice){.data = bytes.p, .size = bytes.p ? bytes.len * form->item : 0};
    } else if (form->is_variable) {
        memcpy(&text.data, element, sizeof text.data);
        text.size = text.data ? strlen(text.data) : 0;
    } else if (form->padding == H5T_STR_NULLTERM) {
        text.size = strnlen(text.data, form->size);
    } else {
        const char padding = form->padding == H5T_STR_SPACEPAD ? ' ' : '\0';
        while (text.size > 0 && text.data[text.size - 1] == padding)
            text.size--;
    }
    return text;
}

void *vol_text_memory(const vol_text_form *form, const void *element) {
    return form->is_variable ? (void *)(uintptr_t)vol_text_get(form, element).data : NULL;
}

void vol_text_free(const vol_text_form *form, void *elements, size_t count) {
    for (size_t i = 0; form->is_variable && i < count; i++) {
        char *element = (char *)elements + i * form->size;
        free(vol_text_memory(form, element));
        memset(element, 0, form->size);
    }
}

bool vol_text_is_utf8(const char *text) {
    zb_json *json = NULL;
    zb_json_writer *writer = zb_json_writer_new();
    size_t size;
    zb_json_write_string(writer, text);
    char *printed = zb_json_writer_end(writer, &size);
    const bool good = printed && zb_json_parse(printed, size, &json, NULL) == ZB_OK;
    zb_json_free(json);
    free(printed);
    return good;
}
