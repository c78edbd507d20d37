/* SPDX-License-Identifier: MIT */
/*
 * What is no Zarr store, by its own signs: the one place that knows them. Looked at
 * only when opening has failed. The errors say what is there, and what to do or to write instead.
 */
#ifndef ZB_STORE_FOREIGN_H
#define ZB_STORE_FOREIGN_H

#include "zarrbridge/sys/store.h"

/* A name that is no directory: a URL, a file, a form that other programs know. ZB_EUNSUPPORTED or
   ZB_ENOTFOUND; ZB_OK when it is none of these. */
enum zb_code zb__foreign_file(const char *path, zb_error *err);

/* The same of a file *.json that holds kerchunk references, and of no other. */
enum zb_code zb__foreign_references(const char *path, zb_error *err);

/* A store whose root has no document, which `err` says already. ZB_EUNSUPPORTED where it is of
   another kind; else ZB_ENOTFOUND, of a local directory with the place of the document. */
enum zb_code zb__foreign_root(zb_store *store, zb_error *err);

#endif
