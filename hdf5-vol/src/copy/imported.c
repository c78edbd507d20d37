/* SPDX-License-Identifier: MIT */
/* Objects that have been copied: see imported.h. */
#include "copy/imported.h"

#include "hdf5/errors.h"

#include <stdlib.h>
#include <string.h>

char *vol_filename_of(h5_lib *lib, hid_t object) {
    const ssize_t length = lib->H5Fget_name(object, NULL, 0);
    char *name = length > 0 ? malloc((size_t)length + 1) : NULL;
    if (!name || lib->H5Fget_name(object, name, (size_t)length + 1) < 0) {
        free(name);
        return NULL;
    }
    return name;
}

/* The path of the file that holds an object: malloc'ed. Files of some drivers have a name that is
   no path; that one then. */
static char *path_of(h5_lib *lib, hid_t object) {
    char *name = vol_filename_of(lib, object), *real = name ? realpath(name, NULL) : NULL;
    if (real)
        free(name);
    return real ? real : name;
}

static void keep_open(vol_imported *all, hid_t object) {
    if (all->kept > 0)
        vol_release_id(all->lib, all->kept);
    all->kept = all->lib->H5Iinc_ref(object) < 0 ? 0 : object;
}

vol_imported_file *vol_imported_in(vol_imported *all, hid_t object, unsigned long number) {
    vol_imported_file *of = all->first;
    while (of && of->number != number)
        of = of->next;
    if (of)
        return of;
    /* The file that is copied, the list's last, stays open and keeps its number. Its path may be
       another file's by now: relative ones are told as they were given. */
    char *path = path_of(all->lib, object);
    for (of = path ? all->first : NULL; of && (!of->next || strcmp(of->path, path) != 0);)
        of = of->next;
    if (!of && path && (of = calloc(1, sizeof *of))) {
        of->next = all->first;
        of->path = path;
        all->first = of;
        path = NULL;
    }
    free(path);
    if (!of) {
        VOL_PUSH(all->lib, SYM, CANTCOPY, "cannot tell the file of an object, or have no memory");
        return NULL;
    }
    of->number = number;
    keep_open(all, object);
    return of;
}

void vol_imported_clear(vol_imported *all) {
    for (vol_imported_file *of = all->first, *next; of; of = next) {
        next = of->next;
        vol_map_clear(&of->by_address);
        free(of->path);
        free(of);
    }
    if (all->kept > 0)
        vol_release_id(all->lib, all->kept);
    all->first = NULL;
    all->kept = 0;
}
