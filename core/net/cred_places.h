/* SPDX-License-Identifier: MIT */
/*
 * The places where the AWS tools have credentials. What speaks to a service of its own (single
 * sign-on, roles, the metadata of a machine) is left to the AWS command line.
 */
#ifndef ZB_NET_CRED_PLACES_H
#define ZB_NET_CRED_PLACES_H

#include <stdbool.h>

#include "cred.h"
#include "options.h"
#include "util/wait.h"

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
enum zb_code zb__cred_find(const zb__cred_places *places, bool anew, zb__stopper *stopper,
                           zb__cred *out, zb_error *err);

#endif
