/* SPDX-License-Identifier: MIT */

/* The place of a new array. */
#ifndef ZB_CHANGE_CREATE_H
#define ZB_CHANGE_CREATE_H

#include "zarrbridge/node.h"

/* Before an array comes to the node's path: ZB_ECONFLICT when nodes lie there or below; chunks that
   a killed deletion has left are erased. create.c. */
enum zb_code zb__array_clear_place(const zb_node *node, zb_error *err);

#endif
