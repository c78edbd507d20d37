/* SPDX-License-Identifier: MIT */
/* The codecs of a new array as JSON. */
#ifndef ZB_CODEC_CODECS_PRINT_H
#define ZB_CODEC_CODECS_PRINT_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* JSON text: the codecs of the index of new shards. */
#define ZB__INDEX_CODECS                                                                           \
    "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}]"

/* Which kinds of codecs a JSON list has. Names that are not known do not count. */
typedef struct zb__codec_kinds {
    bool has_array;      /* array→array */
    bool has_serializer; /* array→bytes */
} zb__codec_kinds;

zb__codec_kinds zb__codecs_kinds(const zb_json *codecs);

/* Appends the codecs that `codecs`, a JSON list, asks for, each in object form with its whole
   configuration. Where the list has no array→bytes codec, the JSON text `serializer` goes behind
   the array→array codecs; likewise in the list of a shard's inner chunks. A fault in the list is
   ZB_EINVAL, a codec that is not known ZB_EUNSUPPORTED. */
enum zb_code zb__codecs_print(zb_json_writer *writer, const zb_json *codecs, zb_dtype dtype,
                              const char *serializer, zb_error *err);

#endif
