/* SPDX-License-Identifier: MIT */
/* Finding out what a service does, by puts of an object of its own that is erased again. */
#ifndef ZB_NET_S3_ABILITY_H
#define ZB_NET_S3_ABILITY_H

#include "request.h"

/* Whether objects may go in parts, which is found out once for a store. AWS is not asked. */
bool zb__s3_takes_parts(zb__remote *store);

/* Whether the service keeps to the conditions of puts: likewise. ZB_EUNSUPPORTED: it does not. */
enum zb_code zb__s3_check_conditions(zb__remote *store, zb_error *err);

/* Whether it keeps to those of DELETE. The same questions tell; before they are asked nothing is
   known to be kept to, but by AWS. */
bool zb__s3_erases_as_seen(zb__remote *store);

#endif
