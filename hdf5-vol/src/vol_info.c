/* SPDX-License-Identifier: MIT */
/*
 * The connector's info: options that follow its name in HDF5_VOL_CONNECTOR="zarr native_compat=0"
 * or in a tool's --vol-info. Separated by ';' or blanks; an unknown option is an error.
 */
#include "vol_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct vol_info {
    bool native_compat; /* default true */
} vol_info;

static void *info_copy(const void *info) {
    vol_info *copy = malloc(sizeof *copy);
    if (copy)
        *copy = *(const vol_info *)info;
    return copy;
}

static herr_t info_compare(int *order, const void *a, const void *b) {
    bool left = !a || ((const vol_info *)a)->native_compat;
    bool right = !b || ((const vol_info *)b)->native_compat;
    *order = (int)left - (int)right;
    return 0;
}

static herr_t info_free(void *info) {
    free(info);
    return 0;
}

static herr_t info_to_text(const void *info, char **text) {
    bool native_compat = !info || ((const vol_info *)info)->native_compat;
    *text = strdup(native_compat ? "native_compat=1" : "native_compat=0");
    return *text ? 0 : -1;
}

static bool set_option(vol_info *info, const char *option) {
    if (strcmp(option, "native_compat=1") == 0)
        info->native_compat = true;
    else if (strcmp(option, "native_compat=0") == 0)
        info->native_compat = false;
    else
        return false;
    return true;
}

static herr_t info_from_text(const char *text, void **info_out) {
    vol_info *info = malloc(sizeof *info);
    char *copy = strdup(text ? text : ""), *rest = copy, *option;
    bool good = info && copy;
    if (good)
        info->native_compat = true;
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
    .size = sizeof(vol_info),
    .copy = info_copy,
    .cmp = info_compare,
    .free = info_free,
    .to_str = info_to_text,
    .from_str = info_from_text,
};

bool vol_info_native_compat(h5_lib *lib, hid_t fapl) {
    void *info = NULL;
    bool native_compat = true;
    if (lib->H5Pget_vol_info(fapl, &info) >= 0 && info) {
        native_compat = ((const vol_info *)info)->native_compat;
        info_free(info); /* the library made the copy with info_copy */
    }
    return native_compat;
}

bool vol_env_is_ours(void) {
    const char *value = getenv("HDF5_VOL_CONNECTOR");
    size_t length = strlen(VOL_NAME);
    return value && strncmp(value, VOL_NAME, length) == 0 &&
           (value[length] == '\0' || value[length] == ' ');
}
