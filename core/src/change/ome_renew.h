/* SPDX-License-Identifier: MIT */
#ifndef ZB_CHANGE_OME_RENEW_H
#define ZB_CHANGE_OME_RENEW_H

#include "zarrbridge/node.h"

/* Of a group of OME-NGFF 0.4 the attributes that it has in version 0.5, as JSON in the place of
   *attributes; those of others stay. Only ZB_ENOMEM. */
enum zb_code zb__ome_renew(const zb_node *group, char **attributes, zb_error *err);

#endif
