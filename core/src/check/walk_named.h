/* SPDX-License-Identifier: MIT */
/* The walk over a store that cannot list names: over nodes that consolidated metadata name, and the
   chunks that their grids have. What nothing leads to is not met. */
#ifndef ZB_CHECK_WALK_NAMED_H
#define ZB_CHECK_WALK_NAMED_H

#include "check/walk.h"

enum zb_code zb__check_walk_named(zb_hierarchy *hierarchy, const zb__visitor *visitor,
                                  zb_error *err);

#endif
