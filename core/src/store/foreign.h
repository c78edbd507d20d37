/* SPDX-License-Identifier: MIT */
/*
 * What is no Zarr store, by its own signs: the one place that knows them. Looked at
 * only when opening has failed.
 *
 * Both fail with ZB_EUNSUPPORTED, and say what is there and what to do instead; ZB_OK when that is
 * not known.
 */
#ifndef ZB_STORE_FOREIGN_H
#define ZB_STORE_FOREIGN_H

#include "zarrbridge/sys/store.h"

/* A name that is no directory: a URL, or a file. */
enum zb_code zb__foreign_file(const char *path, zb_error *err);

/* A store whose root is no node. */
enum zb_code zb__foreign_root(zb_store *store, zb_error *err);

#endif
