/* SPDX-License-Identifier: MIT */
/* Whose certificates are trusted when neither an option nor a variable names a file of them. */
#ifndef ZB_NET_AUTHORITIES_H
#define ZB_NET_AUTHORITIES_H

/* The file of their certificates; NULL where libcurl was built with a place of its own, or none is
   there. It stays as it is found first. */
const char *zb__authorities_file(void);

#endif
