/* SPDX-License-Identifier: MIT */
/*
 * The connector's info: options that follow its name in HDF5_VOL_CONNECTOR="zarr native_compat=0"
 * or in a tool's --vol-info. Separated by ';' or blanks; an unknown option is an error.
 */
#include "vol_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const vol_options defaults = {.native_compat = true, .netcdf_dimensions = false};

/* An info, or what stands for a missing one. */
static vol_options options_of(const void *info) {
    return info ? *(const vol_options *)info : defaults;
}

static void *info_copy(const void *info) {
    vol_options *copy = malloc(sizeof *copy);
    if (copy)
        *copy = options_of(info);
    return copy;
}

static int rank(vol_options options) {
    return 2 * options.native_compat + options.netcdf_dimensions;
}

static herr_t info_compare(int *order, const void *a, const void *b) {
    *order = rank(options_of(a)) - rank(options_of(b));
    return 0;
}

static herr_t info_free(void *info) {
    free(info);
    return 0;
}

static herr_t info_to_text(const void *info, char **text) {
    vol_options options = options_of(info);
    return asprintf(text, "native_compat=%d;netcdf_dimensions=%d", options.native_compat,
                    options.netcdf_dimensions) < 0
               ? -1
               : 0;
}

/* "name=0" or "name=1". */
static bool set_option(vol_options *options, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || (strcmp(equals, "=0") != 0 && strcmp(equals, "=1") != 0))
        return false;
    size_t length = (size_t)(equals - text);
    bool value = equals[1] == '1';
    if (length == strlen("native_compat") && strncmp(text, "native_compat", length) == 0)
        options->native_compat = value;
    else if (length == strlen("netcdf_dimensions") &&
             strncmp(text, "netcdf_dimensions", length) == 0)
        options->netcdf_dimensions = value;
    else
        return false;
    return true;
}

static herr_t info_from_text(const char *text, void **info_out) {
    vol_options *info = malloc(sizeof *info);
    char *copy = strdup(text ? text : ""), *rest = copy, *option;
    bool good = info && copy;
    if (good)
        *info = defaults;
    while (good && (option = strsep(&rest, "; \t")))
        good = !*option || set_option(info, option);
    free(copy);
    if (!good) {
        free(info);
        return -1;
    }
    *info_out = info;
    return 0;
}

const H5VL_info_class_t vol_info_class = {
    .size = sizeof(vol_options),
    .copy = info_copy,
    .cmp = info_compare,
    .free = info_free,
    .to_str = info_to_text,
    .from_str = info_from_text,
};

vol_options vol_info_options(h5_lib *lib, hid_t fapl) {
    void *info = NULL;
    if (lib->H5Pget_vol_info(fapl, &info) < 0)
        return defaults;
    vol_options options = options_of(info);
    info_free(info); /* the library made the copy with info_copy */
    return options;
}

bool vol_env_is_ours(void) {
    const char *value = getenv("HDF5_VOL_CONNECTOR");
    size_t length = strlen(VOL_NAME);
    return value && strncmp(value, VOL_NAME, length) == 0 &&
           (value[length] == '\0' || value[length] == ' ');
}
