/* SPDX-License-Identifier: MIT */
/* How objects go to S3: by one request, or large ones in parts. */
#ifndef ZB_REMOTE_S3_WRITE_H
#define ZB_REMOTE_S3_WRITE_H

#include "conditional.h"

/* As in zb__service. */
enum zb_code zb__s3_measure(zb__sending *sending, zb_error *err);
enum zb_code zb__s3_send_in_parts(zb__sending *sending, const char *mark, const char *condition,
                                  bool *in_doubt, zb_error *err);

#endif
