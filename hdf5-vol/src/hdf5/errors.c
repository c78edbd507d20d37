/* SPDX-License-Identifier: MIT */
/* Pushing errors, and keeping those that are there: see errors.h. */
#include "hdf5/errors.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tools swallow the stack: with ZARRBRIDGE_VERBOSE our messages go to stderr, too. */
bool vol_is_verbose(void) {
    const char *value = getenv("ZARRBRIDGE_VERBOSE");
    return value && *value && strcmp(value, "0") != 0;
}

void vol_say(const char *format, ...) {
    va_list args;
    if (!vol_is_verbose())
        return;
    va_start(args, format);
    fputs("zarrbridge: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
}

/* The text is formatted here: HDF5 would read the format's % again. H5Epush2 is one of the few
   calls that leave the stack as it is. */
herr_t vol_push(h5_lib *lib, const char *func, unsigned line, const char *file, hid_t major,
                hid_t minor, const char *format, ...) {
    char text[2 * ZB_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (vol_is_verbose())
        fprintf(stderr, "zarrbridge: %s\n", text);
    lib->H5Epush2(H5E_DEFAULT, file, func, line, *lib->H5E_ERR_CLS_g, major, minor, "%s", text);
    return -1;
}

/* h5py turns the number into the subclass of OSError: ENOENT becomes FileNotFoundError, and so
   on. */
int vol_errno(const zb_error *err) {
    if (err->sys_errno)
        return err->sys_errno;
    switch (err->code) {
    case ZB_ENOTFOUND:
        return ENOENT;
    case ZB_ENOMEM:
        return ENOMEM;
    case ZB_EFORMAT:
    case ZB_EINVAL:
        return EINVAL;
    case ZB_EUNSUPPORTED:
        return ENOTSUP;
    case ZB_ECHECKSUM:
        return EBADMSG;
    case ZB_ELIMIT:
        return EFBIG;
    case ZB_ECONFLICT:
        return EBUSY;
    case ZB_ECANCELLED:
        return ECANCELED;
    case ZB_OK:
    case ZB_EIO:
        break;
    }
    return EIO;
}

const char *vol_errno_text(const zb_error *err) {
    return strerror(vol_errno(err));
}

herr_t vol_push_making(h5_lib *lib, hid_t minor, const zb_error *err) {
    if (err->code == ZB_ECONFLICT)
        return VOL_PUSH(lib, SYM, EXISTS, "%s", err->message);
    if (err->code == ZB_ENOTFOUND)
        return VOL_PUSH(lib, SYM, NOTFOUND, "%s", err->message);
    return vol_push(lib, __func__, __LINE__, VOL_FILE, *lib->H5E_SYM_g, minor, VOL_ZB_FORMAT,
                    VOL_ZB_ARGS(err));
}

herr_t vol_refuse(h5_lib *lib, const char *what) {
    return VOL_PUSH(lib, VOL, UNSUPPORTED, "%s is not supported for Zarr stores", what);
}

hid_t vol_stack_save(h5_lib *lib) {
    return lib->H5Eget_current_stack();
}

void vol_stack_restore(h5_lib *lib, hid_t saved) {
    if (saved >= 0)
        lib->H5Eset_current_stack(saved); /* closes `saved` as well */
}

/* What vol_stack_lacks_memory looks for. */
typedef struct lack {
    h5_lib *lib;
    bool is_there;
} lack;

static herr_t look_for_lack(unsigned n, const H5E_error2_t *error, void *context) {
    lack *found = context;
    const h5_lib *lib = found->lib;
    (void)n;
    found->is_there |= error->maj_num == *lib->H5E_RESOURCE_g ||
                       error->min_num == *lib->H5E_NOSPACE_g ||
                       error->min_num == *lib->H5E_CANTALLOC_g;
    return 0;
}

bool vol_stack_lacks_memory(h5_lib *lib) {
    lack found = {.lib = lib};
    lib->H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look_for_lack, &found);
    return found.is_there;
}

void vol_silence_begin(h5_lib *lib, vol_silence *silence) {
    silence->stack = vol_stack_save(lib);
    silence->known = lib->H5Eget_auto2(H5E_DEFAULT, &silence->print, &silence->context) >= 0;
    if (silence->known)
        lib->H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void vol_silence_end(h5_lib *lib, const vol_silence *silence) {
    if (silence->known)
        lib->H5Eset_auto2(H5E_DEFAULT, silence->print, silence->context);
    vol_stack_restore(lib, silence->stack);
}

void vol_release_id(h5_lib *lib, hid_t id) {
    if (id < 0)
        return;
    hid_t saved = vol_stack_save(lib);
    lib->H5Idec_ref(id);
    vol_stack_restore(lib, saved);
}
