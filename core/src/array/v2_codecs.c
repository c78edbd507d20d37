/* SPDX-License-Identifier: MIT */
/*
 * Version 2 encodes a chunk by its filters in their order, then by its compressor; each is a codec
 * of numcodecs, with its configuration beside its "id". Version 3 wants them sorted: codecs of
 * arrays, one that serialises, codecs of bytes. The memory order "F" becomes a transpose before all
 * of them, since the filters of version 2 see a chunk as it lies in memory.
 *
 * Names and configurations are those that zarr-python gives to migrated arrays: "numcodecs.ID" with
 * the same configuration, but for codecs whose bytes a codec of version 3 describes as well.
 * Whether a codec of that name is there is the affair of the table of codecs.
 */
#include "array/v2_array.h"

#include <stdio.h>
#include <string.h>

#include "codec/table.h"
#include "types/dtype.h"
#include "util/extension.h"
#include "util/json_excerpt.h"
#include "util/json_writer.h"
#include "zarrbridge/json.h"

/* What a codec takes and gives. */
enum kind {
    ARRAYS,     /* array to array */
    SERIALIZER, /* array to bytes */
    BYTES,      /* bytes to bytes */
    REFUSED,    /* with the reason */
};

typedef struct codec_row {
    const char *id;
    enum kind kind;
    const char *name; /* in version 3; of refused ones the reason */
    /* Writes the members of the configuration; NULL: they stay as they are. */
    void (*write)(zb_json_writer *w, const zb_json *codec, zb_dtype dtype);
} codec_row;

/* ---- Configurations ----------------------------------------------------------------------- */

static void put_integer(zb_json_writer *w, const char *name, const zb_json *codec, int64_t low,
                        int64_t high, int64_t otherwise) {
    int64_t value;
    if (!zb_json_int64(zb_json_get(codec, name), &value) || value < low || value > high)
        value = otherwise;
    zb_json_write_name(w, name);
    zb_json_write_int64(w, value);
}

/* The header of a container tells all that decoding needs. -1 leaves the shuffle to the size of the
   elements. */
static void write_blosc(zb_json_writer *w, const zb_json *codec, zb_dtype dtype) {
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
    const char *cname = zb_json_string(zb_json_get(codec, "cname"));
    int64_t shuffle,
        size = dtype.size > 0 && dtype.size < 256 && !zb__is_slice(dtype) ? dtype.size : 1;
    if (!zb_json_int64(zb_json_get(codec, "shuffle"), &shuffle) || shuffle < 0 || shuffle > 2)
        shuffle = size == 1 ? 2 : 1;
    zb_json_write_name(w, "cname");
    zb_json_write_string(w, cname ? cname : "lz4");
    put_integer(w, "clevel", codec, 0, 9, 5);
    zb_json_write_name(w, "shuffle");
    zb_json_write_string(w, shuffles[shuffle]);
    put_integer(w, "typesize", codec, 1, 255, size);
    put_integer(w, "blocksize", codec, 0, INT32_MAX, 0);
}

/* The frame tells whether it has a checksum. */
static void write_zstd(zb_json_writer *w, const zb_json *codec, zb_dtype dtype) {
    (void)dtype;
    put_integer(w, "level", codec, -131072, 22, 0);
    zb_json_write_name(w, "checksum");
    zb_json_write_bool(w, zb_json_bool(zb_json_get(codec, "checksum")));
}

static void write_gzip(zb_json_writer *w, const zb_json *codec, zb_dtype dtype) {
    (void)dtype;
    put_integer(w, "level", codec, 0, 9, 1);
}

static void write_nothing(zb_json_writer *w, const zb_json *codec, zb_dtype dtype) {
    (void)w;
    (void)codec;
    (void)dtype;
}

static const char pickled[] = "pickle runs programs that are stored in the data, and is never "
                              "read; store the array with vlen-utf8 or vlen-bytes instead";

/* A codec that is not here is one of bytes by the name numcodecs.ID. */
static const codec_row rows[] = {
    {"blosc", BYTES, "blosc", write_blosc},
    {"zstd", BYTES, "zstd", write_zstd},
    {"gzip", BYTES, "gzip", write_gzip},
    {"zlib", BYTES, "numcodecs.zlib", NULL},
    {"lz4", BYTES, "numcodecs.lz4", NULL},
    {"lzma", BYTES, "numcodecs.lzma", NULL},
    {"bz2", BYTES, "numcodecs.bz2", NULL},
    {"shuffle", BYTES, "numcodecs.shuffle", NULL},
    {"fletcher32", BYTES, "numcodecs.fletcher32", NULL},
    {"crc32", BYTES, "numcodecs.crc32", NULL},
    {"crc32c", BYTES, "crc32c", write_nothing}, /* at the end; see name_of */
    {"adler32", BYTES, "numcodecs.adler32", NULL},
    {"jenkins_lookup3", BYTES, "numcodecs.jenkins_lookup3", NULL},
    {"delta", ARRAYS, "numcodecs.delta", NULL},
    {"fixedscaleoffset", ARRAYS, "numcodecs.fixedscaleoffset", NULL},
    {"quantize", ARRAYS, "numcodecs.quantize", NULL},
    {"astype", ARRAYS, "numcodecs.astype", NULL},
    {"bitround", ARRAYS, "numcodecs.bitround", NULL},
    {"packbits", ARRAYS, "numcodecs.packbits", NULL},
    {"vlen-utf8", SERIALIZER, "vlen-utf8", write_nothing},
    {"vlen-bytes", SERIALIZER, "vlen-bytes", write_nothing},
    {"pcodec", SERIALIZER, "numcodecs.pcodec", NULL},
    {"zfpy", SERIALIZER, "numcodecs.zfpy", NULL},
    {"pickle", REFUSED, pickled, NULL},
    {"json2", REFUSED, "objects as JSON are not supported", NULL},
    {"msgpack2", REFUSED, "objects as MessagePack are not supported", NULL},
    {"vlen-array", REFUSED, "elements that are arrays are not supported", NULL},
    {"categorize", REFUSED, "categories of objects are not supported", NULL},
};

/* ---- The pipeline ---------------------------------------------------------------------------- */

typedef struct pipeline {
    zb_json_writer *w;
    zb_dtype dtype;
    char order; /* of the elements behind the codecs of arrays, as zb__v2_order tells it */
    bool transposed, serialised;
} pipeline;

static const char *id_of(const zb_json *codec) {
    return zb_json_string(zb_json_get(codec, "id"));
}

static const codec_row *find_row(const char *id) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].id, id) == 0)
            return &rows[i];
    }
    return NULL;
}

/* The types that codecs of arrays name. In version 3 they are those of elements in memory, and the
   codec that serialises has the byte order. */
static const char *const type_members[] = {"encode_dtype", "decode_dtype", "astype", "dtype", NULL};

static void write_member(zb_json_writer *w, const zb_json *member) {
    static const char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    const char *text = zb_json_string(member);
    char type[16];
    zb_json_write_name(w, zb_json_name(member));
    if (text && zb__name_in(zb_json_name(member), type_members) && (*text == '<' || *text == '>') &&
        strlen(text) < sizeof type) {
        snprintf(type, sizeof type, "%c%s", native, text + 1);
        zb_json_write_string(w, type);
    } else {
        zb_json_write_value(w, member);
    }
}

/* Members that a codec of ours does not know cannot change what it decodes: writers add them. Of
   others all are kept, for the message. */
static void copy_members(zb_json_writer *w, const zb_json *codec, const char *name) {
    const zb__codec_ops *ops = zb__codec_find(name);
    for (const zb_json *m = zb_json_first(codec); m; m = zb_json_next(m)) {
        const char *member = zb_json_name(m);
        if (strcmp(member, "id") == 0 ||
            (ops && !(ops->members && zb__name_in(member, ops->members))))
            continue;
        write_member(w, m);
    }
}

static void write_codec(pipeline *c, const codec_row *row, const char *name, const zb_json *codec) {
    zb__extension_begin(c->w, name);
    if (row && row->write)
        row->write(c->w, codec, c->dtype);
    else
        copy_members(c->w, codec, name);
    zb__extension_end(c->w);
}

static void write_bytes(pipeline *c) {
    zb_json_begin_object(c->w);
    zb_json_write_name(c->w, "name");
    zb_json_write_string(c->w, c->order == ZB__V2_BOTH ? "zarrbridge.bytes" : "bytes");
    if (c->order != '|') {
        zb_json_write_name(c->w, "configuration");
        zb_json_begin_object(c->w);
        zb_json_write_name(c->w, "endian");
        if (c->order == ZB__V2_BOTH)
            zb__v2_orders_write(c->w, c->dtype);
        else
            zb_json_write_string(c->w, c->order == '>' ? "big" : "little");
        zb_json_end_object(c->w);
    }
    zb_json_end_object(c->w);
    c->serialised = true;
}

/* The byte order of what a codec of arrays stores: that of the type it names, if it names one. */
static char order_behind(const zb_json *codec, char before) {
    static const char *const members[] = {"encode_dtype", "astype", "dtype"};
    if (strcmp(id_of(codec), "packbits") == 0)
        return '|';
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *type = zb_json_string(zb_json_get(codec, members[i]));
        if (type && *type && strchr("<>|", *type))
            return *type;
    }
    return before;
}

/* The codec crc32c of version 3 knows one place for its checksum. */
static const char *name_of(const codec_row *row, const zb_json *codec, const char *otherwise) {
    const char *location = zb_json_string(zb_json_get(codec, "location"));
    bool moved = location && strcmp(location, "end") != 0;
    return row && !(moved && strcmp(row->id, "crc32c") == 0) ? row->name : otherwise;
}

static enum zb_code add_codec(pipeline *c, const zb_json *codec, zb_error *err) {
    const char *id = id_of(codec);
    char excerpt[ZB__BRIEF_SIZE], name[96];
    if (!id)
        return zb_fail(err, ZB_EFORMAT, "%s, expected an object with an id",
                       zb__json_excerpt(codec, excerpt));
    const codec_row *row = find_row(id);
    enum kind kind = row ? row->kind : BYTES;
    if (kind == REFUSED)
        return zb_fail(err, ZB_EUNSUPPORTED, "%s: %s", id, row->name);
    if (strlen(id) > 64)
        return zb_fail(err, ZB_EUNSUPPORTED, "codec %s is not supported",
                       zb__name_excerpt(id, excerpt));
    if (kind != BYTES && c->serialised)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "%s: a codec of arrays behind one of bytes is not supported", id);
    if (kind == SERIALIZER && !zb__is_slice(c->dtype) && c->transposed)
        return zb_fail(err, ZB_EUNSUPPORTED, "%s: in the memory order F it is not supported", id);
    if (kind == BYTES && !c->serialised)
        write_bytes(c);
    if (kind == ARRAYS)
        c->order = order_behind(codec, c->order);
    c->serialised = c->serialised || kind == SERIALIZER;
    snprintf(name, sizeof name, "numcodecs.%s", id);
    const char *known = name_of(row, codec, name);
    write_codec(c, known == name ? NULL : row, known, codec);
    return ZB_OK;
}

static enum zb_code add_filters(pipeline *c, const zb_json *filters, zb_error *err) {
    enum zb_code code = ZB_OK;
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(filters) == ZB_JSON_NULL)
        return ZB_OK;
    if (zb_json_kind_of(filters) != ZB_JSON_ARRAY)
        return zb_fail(err, ZB_EFORMAT, "filters is %s, expected a list or null",
                       zb__json_excerpt(filters, excerpt));
    size_t i = 0;
    for (const zb_json *item = zb_json_first(filters); item && !code; item = zb_json_next(item)) {
        code = add_codec(c, item, err);
        if (code)
            zb_error_prefix(err, code, "filters[%zu]", i);
        i++;
    }
    return code;
}

/* Dimensions in reverse. With fewer than two of them both orders are the same. */
static enum zb_code add_order(pipeline *c, const zb_json *order, uint32_t ndim, zb_error *err) {
    const char *text = zb_json_string(order);
    char excerpt[ZB__BRIEF_SIZE];
    bool reversed = text && strcmp(text, "F") == 0;
    if (order && !reversed && !(text && strcmp(text, "C") == 0))
        return zb_fail(err, ZB_EFORMAT, "order is %s, expected \"C\" or \"F\"",
                       zb__json_excerpt(order, excerpt));
    if (!reversed || ndim < 2)
        return ZB_OK;
    uint64_t axes[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < ndim; d++)
        axes[d] = ndim - 1 - d;
    zb__extension_begin(c->w, "transpose");
    zb_json_write_name(c->w, "order");
    zb__json_write_extents(c->w, axes, ndim);
    zb__extension_end(c->w);
    c->transposed = true;
    return ZB_OK;
}

enum zb_code zb__v2_serializer(const zb_json *zarray, const char **out, zb_error *err) {
    const char *id = id_of(zb_json_first(zb_json_get(zarray, "filters")));
    const codec_row *row = id ? find_row(id) : NULL;
    *out = row && row->kind == SERIALIZER ? id : NULL;
    return row && row->kind == REFUSED
               ? zb_fail(err, ZB_EUNSUPPORTED, "filters[0]: %s: %s", id, row->name)
               : ZB_OK;
}

enum zb_code zb__v2_codecs_write(zb_json_writer *w, const zb_json *zarray, uint32_t ndim,
                                 zb_dtype dtype, zb_error *err) {
    pipeline c = {.w = w, .dtype = dtype, .order = zb__v2_order(dtype)};
    const zb_json *compressor = zb_json_get(zarray, "compressor");
    zb_json_begin_array(w);
    enum zb_code code = add_order(&c, zb_json_get(zarray, "order"), ndim, err);
    if (!code)
        code = add_filters(&c, zb_json_get(zarray, "filters"), err);
    if (!code && zb_json_kind_of(compressor) != ZB_JSON_NULL) {
        code = add_codec(&c, compressor, err);
        if (code)
            zb_error_prefix(err, code, "compressor");
    }
    if (!code && !c.serialised)
        write_bytes(&c);
    zb_json_end_array(w);
    return code;
}
