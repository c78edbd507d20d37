/* SPDX-License-Identifier: MIT */
/* The settings of a profile in the files that the AWS tools share. libinih reads them. */
#ifndef ZB_NET_PROFILE_H
#define ZB_NET_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/error.h"

/* Texts are malloc'ed; NULL where the files do not say. */
typedef struct zb__profile {
    char *id, *secret, *token; /* secrets */
    char *process;             /* a command that prints credentials */
    char *region, *endpoint;
    bool exists;
    bool is_elsewhere; /* credentials are to be had by other ways (a role, single sign-on) */
} zb__profile;

/* Reads the profile of both files; a file that is not there says nothing (NULL: the same). What the
   file of credentials says counts first. ZB_EINVAL for a file that cannot be read; no error has
   values. */
enum zb_code zb__profile_read(const char *credentials_file, const char *config_file,
                              const char *name, zb__profile *out, zb_error *err);
void zb__profile_clear(zb__profile *profile);

/* The same of the text of one file; sections of its profiles begin with `head`, but "default". */
enum zb_code zb__profile_parse(const char *text, size_t size, const char *head, const char *name,
                               zb__profile *out, zb_error *err);

#endif
