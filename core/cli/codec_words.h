/* SPDX-License-Identifier: MIT */
/* The codecs of an array in words. */
#ifndef ZB_CLI_CODEC_WORDS_H
#define ZB_CLI_CODEC_WORDS_H

#include "zarrbridge/array.h"

/* Prints "shards of [bytes (little-endian), zstd (level 3)], gzip (level 1)" on standard output: of
   each codec its name and what its configuration says. */
void print_codecs(const zb_array_info *array);

#endif
