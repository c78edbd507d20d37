/* SPDX-License-Identifier: MIT */
/*
 * References in what is copied from an HDF5 file, by HDF5's rules: with
 * H5O_COPY_EXPAND_REFERENCE_FLAG they lead to the copies of their objects, else nowhere. HDF5 would
 * copy objects elsewhere, too, which get no name; a store has no place for such, so that these are
 * refused.
 *
 * An object that keeps its path in the other file (h5repack copies one by one so) keeps references
 * to all that keep theirs. Where the copy of an object will lie is not known before it is there of
 * objects in other files, which external links lead to, and of those that expanded links lead to:
 * references to such get a path that stands for the object (`later`), and the right one in the end.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_REFERENCES_H
#define ZARRBRIDGE_HDF5_VOL_COPY_REFERENCES_H

#include "attributes/elements.h"
#include "copy/nested.h"
#include "copy/walk.h"
#include "tree/tree.h"
#include "tree/map.h"

/* An object whose copy is not there yet. */
typedef struct vol_reference_later {
    const vol_imported_file *file;
    uint64_t address; /* there */
    char *path;       /* names both, and no node of the store; owned */
} vol_reference_later;

/* References of one copy. */
typedef struct vol_import_references {
    h5_lib *lib;
    void *source; /* the native object: borrowed */
    H5I_type_t type;
    hid_t dxpl;
    vol_file *file;
    char *from, *to; /* the paths of what is copied: in the HDF5 file, and of the copy */
    bool expand;
    const vol_imported_file *own, *now; /* the source's file, and that of the references met now */
    vol_map tokens;                     /* paths in the store by addresses; owned */
    vol_map to_come;                    /* the same by tokens, for the file */
    vol_map later;                      /* vol_reference_later by their tokens; owned */
    bool met_later;                     /* by the object that is copied now */
} vol_import_references;

/* Both due in pairs, also after a failure. Pushes errors. */
herr_t vol_import_references_begin(vol_import_references *out, hid_t source, const vol_place *place,
                                   unsigned flags);
void vol_import_references_end(vol_import_references *references);

/* The references that come next are of an object in that file. The first one is the source's. */
void vol_import_references_of(vol_import_references *references, const vol_imported_file *file);

/* All references of an object have been met. */
void vol_import_references_met(vol_import_references *references, vol_copied *copied);

/* All objects have been copied, from the first on: references get their right paths. An error where
   one leads to an object that was not copied. */
herr_t vol_import_references_settle(vol_import_references *references, const vol_copied *first);

/* A vol_reference_visit: from an address in the HDF5 file to a token in the store. Pushes
   errors. */
bool vol_import_reference(const vol_form *form, uint64_t *token, void *references);

/* ---- In one node ---- */

/* Changes the references in the attributes and elements of one node. Pushes errors. */
herr_t vol_references_change(vol_node *node, const vol_reference_map *map);

#endif
