/* SPDX-License-Identifier: MIT */
/*
 * Credentials for S3, from the places where the AWS tools have them. What speaks to a service of
 * its own (single sign-on, roles, the metadata of a machine) is left to the AWS command line.
 */
#ifndef ZB_REMOTE_CRED_H
#define ZB_REMOTE_CRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

/* All malloc'ed. id NULL: none. */
typedef struct zb__cred {
    char *id, *secret, *token; /* token may be NULL */
    int64_t expires;           /* seconds of 1970; 0: not known to expire */
} zb__cred;

void zb__cred_clear(zb__cred *cred);
enum zb_code zb__cred_copy(const zb__cred *from, zb__cred *to, zb_error *err);

/* No byte of them may end a header, or begin another one. */
enum zb_code zb__cred_check(const zb__cred *cred, zb_error *err);

/* The places, as the environment tells when a store is opened. */
typedef struct zb__cred_places {
    zb__cred variables;
    char *profile, *credentials_file, *config_file;
    bool is_chosen;  /* the profile: by the store's name or a variable; it has to exist */
    bool goes_first; /* the profile, before variables */
    bool is_service; /* a variable says that this is a container, or has a token of an identity */
    bool is_ec2;     /* a machine that may have a role */
} zb__cred_places;

enum zb_code zb__cred_places_read(const zb__options *options, zb__cred_places *out, zb_error *err);
void zb__cred_places_clear(zb__cred_places *places);

/* Finds credentials; id is NULL where there are none. May wait for a program, whose answer serves
   all stores of the process until it expires; `anew`: what it answered before is of no use. */
enum zb_code zb__cred_find(const zb__cred_places *places, bool anew, zb__cred *out, zb_error *err);

/* Credentials are renewed so many seconds before they expire. */
#define ZB__CRED_AHEAD 300

/* There are some, and it is not yet time to renew them. */
bool zb__cred_is_good(const zb__cred *cred);

#endif
