/* SPDX-License-Identifier: MIT */
/*
 * HDF5's error stack. We push one record for each failure, deepest first; HDF5 adds its own above
 * it. h5py takes the exception's class from the topmost record and its text and errno from ours,
 * where it looks for "errno = N". Push last: any other HDF5 call would clear the stack.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_ERRORS_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_ERRORS_H

#include "hdf5/library.h"
#include "zarrbridge/error.h"

#ifdef __FILE_NAME__
#define VOL_FILE __FILE_NAME__
#else
#define VOL_FILE "zarrbridge"
#endif

/* Pushes a record with HDF5's major and minor codes, e.g. VOL_PUSH(lib, SYM, NOTFOUND, "...").
   Always gives -1, as all below. */
#define VOL_PUSH(lib, major, minor, ...)                                                           \
    vol_push(lib, __func__, __LINE__, VOL_FILE, *(lib)->H5E_##major##_g, *(lib)->H5E_##minor##_g,  \
             __VA_ARGS__)

/* Pushes a failure of the core likewise: its message, and an errno that stands for its code. */
#define VOL_PUSH_ZB(lib, major, minor, err)                                                        \
    VOL_PUSH(lib, major, minor, VOL_ZB_FORMAT, VOL_ZB_ARGS(err))
#define VOL_ZB_FORMAT "%s (errno = %d, error message = '%s')"
#define VOL_ZB_ARGS(err) (err)->message, vol_errno(err), vol_errno_text(err)

herr_t vol_push(h5_lib *lib, const char *func, unsigned line, const char *file, hid_t major,
                hid_t minor, const char *format, ...) ZB_PRINTF(7, 8);

/* Whether ZARRBRIDGE_VERBOSE asks for messages on stderr, and a message there alone, for what is no
   error of a call. */
bool vol_is_verbose(void);
void vol_say(const char *format, ...) ZB_PRINTF(1, 2);

/* Pushes why something with a name could not be made: that the name is taken, that its group is not
   there, or, with the minor code, anything else. */
herr_t vol_push_making(h5_lib *lib, hid_t minor, const zb_error *err);

/* The errno that describes err best, and its text. */
int vol_errno(const zb_error *err);
const char *vol_errno_text(const zb_error *err);

/* Refuses an operation that Zarr stores cannot serve. */
herr_t vol_refuse(h5_lib *lib, const char *what);

/* Takes the current error stack away, and puts it back, around HDF5 calls that must not lose it. */
hid_t vol_stack_save(h5_lib *lib);
void vol_stack_restore(h5_lib *lib, hid_t saved);

/* Whether the current error stack tells of a lack of memory. */
bool vol_stack_lacks_memory(h5_lib *lib);

/* Saving and restoring around calls whose failure is an answer: HDF5 prints no stack for them. Due
   in pairs. */
typedef struct vol_silence {
    hid_t stack;
    H5E_auto2_t print; /* what the program wants printed */
    void *context;
    bool known;
} vol_silence;
void vol_silence_begin(h5_lib *lib, vol_silence *silence);
void vol_silence_end(h5_lib *lib, const vol_silence *silence);

/* Closes an id of any kind (negative: none) and keeps the error stack. */
void vol_release_id(h5_lib *lib, hid_t id);

#endif
