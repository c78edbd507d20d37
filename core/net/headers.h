/* SPDX-License-Identifier: MIT */
/* The headers that a program wants to go along with the requests of a store on a web server. */
#ifndef ZB_NET_HEADERS_H
#define ZB_NET_HEADERS_H

#include <stddef.h>

#include "zarrbridge/error.h"

/* text: a header a line, "Name: value"; NULL or empty for none. ZB_EINVAL for a line that is no
   header, or one that the engine sets itself. *out is malloc'ed, as are its lines, and ends with a
   NULL; NULL for none. No message has a value. */
enum zb_code zb__headers_read(const char *text, char ***out, zb_error *err);
void zb__headers_free(char **headers);

#endif
