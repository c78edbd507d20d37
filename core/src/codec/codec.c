/* SPDX-License-Identifier: MIT */
#include "codec/codec.h"

#include <stdlib.h>

void zb__codec_free(zb__codec *codec) {
    if (codec->ops && codec->ops->free)
        codec->ops->free(codec->state);
    *codec = (zb__codec){.ops = NULL};
}

void *zb__codec_new_state(size_t size, void **state, zb_error *err) {
    *state = calloc(1, size);
    if (!*state)
        zb_fail(err, ZB_ENOMEM, "no memory for a codec");
    return *state;
}
