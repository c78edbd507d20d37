/* SPDX-License-Identifier: MIT */
/* Types that hosts of plugins lack. */
#include "types/kinds.h"
#include "zarrbridge/conventions.h"

zb_dtype zb_dtype_shown(zb_dtype stored) {
    const zb__kind *kind = zb__kind_of(stored);
    return kind->shown ? kind->shown(stored) : stored;
}
