/* SPDX-License-Identifier: MIT */
/* URLs of stores, by their words. */
#ifndef ZB_UTIL_URL_H
#define ZB_UTIL_URL_H

#include <stddef.h>

/* The place behind the path of a URL, where a query or options begin. Keys of S3 may hold all
   characters: there is no query, and options follow the last '#'. */
size_t zb__url_path_end(const char *url);

#endif
