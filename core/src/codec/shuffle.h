/* SPDX-License-Identifier: MIT */
/* The codec numcodecs.shuffle, for chains that stand for blosc's shuffle (chain.h). */
#ifndef ZB_CODEC_SHUFFLE_H
#define ZB_CODEC_SHUFFLE_H

#include <stddef.h>

/* The bytes of an element, of the codec's state. */
size_t zb__shuffle_element_size(const void *state);

#endif
