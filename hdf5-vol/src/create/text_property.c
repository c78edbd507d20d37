/* SPDX-License-Identifier: MIT */
/* Properties that are text: see text_property.h. */
#include "create/text_property.h"

#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

enum zb_code vol_text_property_read(h5_lib *lib, hid_t dcpl, const char *name, char **out,
                                    zb_error *err) {
    size_t size = 0;
    *out = NULL;
    if (lib->H5Pexist(dcpl, name) <= 0)
        return ZB_OK;
    if (lib->H5Pget_size(dcpl, name, &size) < 0 || size > zb_limits_get()->document_bytes)
        return zb_fail(err, ZB_EINVAL, "the property %s must hold JSON text", name);
    *out = calloc(1, size + 1);
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for the property %s", name);
    if (size == 0 || lib->H5Pget(dcpl, name, *out) >= 0)
        return ZB_OK;
    free(*out);
    *out = NULL;
    return zb_fail(err, ZB_EINVAL, "the property %s cannot be read", name);
}

void vol_text_property_add(h5_lib *lib, hid_t dcpl, const char *name, char *text) {
    lib->H5Pinsert2(dcpl, name, strlen(text) + 1, text, NULL, NULL, NULL, NULL, NULL, NULL);
}
