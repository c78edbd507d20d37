/* SPDX-License-Identifier: MIT */
/*
 * Kinds of data types.
 *
 * A kind is a constant zb__kind in a file of its own, or of its family, and a line in the table of
 * kinds.c: documents, fill values, conversions and what plugins show go by that row alone.
 * docs/adding-a-data-type.md follows an example. A member that is NULL or 0 takes the meaning that
 * its comment gives. Functions are called by any thread. Elements are in host byte order, and need
 * no alignment.
 */
#ifndef ZB_TYPES_KINDS_H
#define ZB_TYPES_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "types/format.h"
#include "types/move.h"
#include "util/arena.h"
#include "util/extension.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* A type of the kind, as documents name it. */
typedef struct zb__type_name {
    const char *name;
    uint32_t size;     /* bytes of an element; 0: the configuration says it */
    const char *numpy; /* numpy's code without the byte order: "f4"; or its letter alone, behind
                          which any number stands: "S"; NULL: numpy has no such type */
    const zb_dtype_detail *detail; /* static; NULL: there is none */
} zb__type_name;

/* A fill value that is being parsed. */
typedef struct zb__fill {
    zb__arena *memory;    /* of bytes that the element points at */
    const char *expected; /* what should stand there: the caller makes the message of ZB_EFORMAT */
    bool is_packed;       /* see zb__fill_form */
    zb_error *err;        /* not NULL; for errors without `expected` */
} zb__fill;

static inline enum zb_code zb__fill_expect(zb__fill *fill, const char *expected) {
    fill->expected = expected;
    return ZB_EFORMAT;
}

/* What `measure` says of bytes that should be text. */
#define ZB__NO_TEXT "is no UTF-8 text"

typedef struct zb__kind zb__kind;
struct zb__kind {
    enum zb_kind kind;

    /* ---- Types in documents ---- */

    /* All names, an empty one at the end. Of those for one size the first is written and shown. */
    const zb__type_name *names;
    const char *name; /* of all types of the kind; NULL: those of their sizes */
    /* Is that a name of the kind beside `names`? NULL: no. */
    bool (*claims)(const char *name);
    /* From a name and its configuration, which it checks, to a type. Details are made in `memory`,
       texts stay in the document. NULL: the name says all. */
    enum zb_code (*parse)(const zb__kind *kind, const zb__extension *type, zb__arena *memory,
                          zb_dtype *out, zb_error *err);
    /* Writes the members of the configuration of names[0]. NULL: the name is written alone. */
    void (*write)(zb_json_writer *writer, zb_dtype dtype);
    /* Is there a type of this size and detail? NULL: the sizes of `names`. */
    bool (*exists)(zb_dtype dtype);
    /* The same where there is more to say than the size: with an error. */
    enum zb_code (*check)(zb_dtype dtype, zb_error *err);
    bool prints_size;    /* people are told the size behind the name, in brackets */
    uint8_t numpy_unit;  /* bytes that the number behind numpy's letter counts; 0: 1 */
    const char *objects; /* of variable length: the codec that serialises them */

    /* ---- Elements ---- */

    uint8_t components;       /* numbers side by side, of equal size, in a byte order; 0: none */
    uint8_t order_bytes;      /* without components: bytes of what has a byte order; 0: nothing */
    const zb__format *format; /* of numbers of few bits; of ZB_KIND_SMALL the detail tells it */
    /* As what programs see elements that know the types of processors alone. NULL: as they are. */
    zb_dtype (*shown)(zb_dtype dtype);

    /* ---- Fill values ---- */

    /* Parses a value that is not null into dtype.size bytes. */
    enum zb_code (*fill_parse)(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out);
    /* Writes one that `fill_parse` reads back to the same element. Out of memory: the writer
       fails. */
    void (*fill_print)(zb_json_writer *writer, zb_dtype dtype, const void *element);
    /* Can a document hold it? NULL: any element. */
    bool (*fill_fits)(zb_dtype dtype, const void *element);

    /* ---- Conversion ---- */

    /* Does it convert elements of one type to those of another, one of them of this kind, the sizes
       not 0, and the types not equal but for their order? With a `move`, which then does it: they
       convert, or are equal, or `writes` holds. False, and *move as it was: another kind is to be
       asked. NULL: no conversion. */
    bool (*convert)(zb_dtype from, zb_dtype to, zb__move *move);
    /* Is `from`, of this kind, taken for an array of `to`, too, though it is not read as that? */
    bool (*writes)(zb_dtype from, zb_dtype to);
    /* What keeps an element from becoming one of `to` (as zb_dtype_refuses says it), or NULL. Adds
       the bytes that it points at, if it does. NULL: nothing. */
    const char *(*measure)(zb_dtype dtype, const char *element, zb_dtype to, uint64_t *bytes);
};

/* The row of a type. That of a type which no row describes has no name, no size and no function. */
const zb__kind *zb__kind_of(zb_dtype dtype);

/* The row that has a name of documents, with the name's entry in *entry, or NULL there where the
   kind claims it. NULL: nobody has it. */
const zb__kind *zb__kind_named(const char *name, const zb__type_name **entry);

/* The row that has numpy's code (without a byte order: "f4", "S12", "M8"). *count: the number in
   it; *rest: what follows. NULL: nobody has it. */
const zb__kind *zb__kind_coded(const char *code, const zb__type_name **entry, uint64_t *count,
                               const char **rest);

/* The type of an entry that has a size. */
static inline zb_dtype zb__type_of(const zb__kind *kind, const zb__type_name *entry) {
    return (zb_dtype){.kind = kind->kind, .size = entry->size, .detail = entry->detail};
}

/* The format of a number of few bits, or of both parts of a complex one; NULL for other types. */
static inline const zb__format *zb__format_of(zb_dtype dtype) {
    if (dtype.kind != ZB_KIND_EXTENSION)
        return zb__format_at(zb_dtype_format(dtype));
    return dtype.detail && dtype.detail->extension ? dtype.detail->extension->format : NULL;
}

/* ---- Bytes in fill values: for the kinds that have such. */

/* Reads a list of integers from 0 to 255, or base64 text: the two forms of bytes. They are made in
   the fill's memory. */
enum zb_code zb__fill_bytes(zb__fill *fill, const zb_json *value, zb_slice *out);

/* Writes bytes as base64. */
void zb__fill_print_bytes(zb_json_writer *writer, zb_slice bytes);

/* ---- Integers of documents: for the kinds that are stored as such. */

/* Parses an integer of that many bytes, into host byte order. False for what is none, or out of
   range. */
bool zb__integer_parse(const zb_json *value, uint32_t size, bool is_signed, void *out);

/* Writes a signed one. */
void zb__integer_print(zb_json_writer *writer, uint32_t size, const void *element);

/* ---- What documents say of floats beside their digits: for all kinds of them. */

/* The words for infinities and NaN, as strings or as bare tokens: the bits of a float of `size`
   bytes (2, 4, 8). */
bool zb__float_word(const char *text, uint32_t size, uint64_t *bits);

/* The bits of a number of `size` bytes as "0x" and exactly two digits for each byte, the most
   significant first; or as "0b" and at most eight for each byte, from a draft of the format, which
   GDAL reads, too. */
bool zb__float_digits(const char *text, uint32_t size, uint64_t *bits);

/*
 * Numbers of few bits: what all kinds of them share. A kind with a format of its own takes these
 * functions into its row: see ZB__SMALL.
 */

zb_dtype zb__small_shown(zb_dtype dtype);
enum zb_code zb__small_fill_parse(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out);
void zb__small_fill_print(zb_json_writer *writer, zb_dtype dtype, const void *element);
bool zb__small_convert(zb_dtype from, zb_dtype to, zb__move *move);

/* The members of a row whose elements are codes of its format, so many side by side: 1, or 2 for
   complex numbers. */
#define ZB__SMALL(count)                                                                           \
    .components = (count), .shown = zb__small_shown, .fill_parse = zb__small_fill_parse,           \
    .fill_print = zb__small_fill_print, .convert = zb__small_convert

#endif
