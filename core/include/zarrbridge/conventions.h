/* SPDX-License-Identifier: MIT */
/*
 * Conventions: the questions that the Zarr specification leaves to programs, answered once for all.
 *
 * They tell which array is a dimension's coordinate, which value means "no data", what type an
 * attribute has, how a new array is cut, where a hierarchy begins and what may be replaced. The
 * plugins translate the answers into the words of their hosts and have no rules of their own.
 * docs/conventions.md says where each rule comes from.
 */
#ifndef ZARRBRIDGE_CONVENTIONS_H
#define ZARRBRIDGE_CONVENTIONS_H

#include "zarrbridge/zarrbridge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Coordinates --------------------------------------------------------------------------- */

/* True if an array that has a dimension's name is the coordinate of that dimension, of this name
   and length. Such an array has one dimension of that length, which is called like it. A dimension
   without a name will do when the array lies `beside` the one that is described: in the same
   group. */
ZB_API bool zb_coordinate_fits(const zb_array_info *candidate, const char *name, uint64_t length,
                               bool beside);

/* The groups around an array, from its own group (level 0) upwards. */
typedef struct zb_surroundings {
    unsigned levels; /* number of groups, up to the topmost one that the caller can see */
    /* The array called `name` in the group of that level; NULL when there is none. */
    const zb_array_info *(*array)(void *context, unsigned level, const char *name);
    void *context;
} zb_surroundings;

/* The level at which the coordinate of dimension `dim` lies, an array with the dimension's name; -1
   when there is none. The nearest one that fits counts: namesakes that do not fit are passed. */
ZB_API int zb_coordinate_find(const zb_array_info *array, uint32_t dim,
                              const zb_surroundings *around);

/* ---- Elements ------------------------------------------------------------------------------ */

/* The `units` of CF for a datetime ("days since 1970-01-01", in the calendar proleptic_gregorian)
   or a timedelta ("10 hours"); of units that CF lacks (calendar years and months, generic ones) the
   name of the type. NULL for other types. malloc'ed. Both plugins show times as int64 with it,
   where an array has no such attribute of its own. */
ZB_API char *zb_time_units(zb_dtype dtype);

/* The type in which both plugins show elements of a type that their hosts lack, and which holds all
   of them: int64 of times, int8 or uint8 of integers of 2 and 4 bits, float32 of small floats
   (bfloat16), complex64 of pairs of them. Any other type as it is. */
ZB_API zb_dtype zb_dtype_shown(zb_dtype stored);

/* One element of an integer or float type, in host byte order, from a number. False, and *element
   is left alone, when the type cannot hold the number: a fraction or a number out of range for
   integers, a number that would become an infinity for floats. Floats are rounded to the type.
   False for all other types. */
ZB_API bool zb_element_from_double(double value, zb_dtype dtype, void *element);
ZB_API bool zb_element_from_int64(int64_t value, zb_dtype dtype, void *element);
ZB_API bool zb_element_from_uint64(uint64_t value, zb_dtype dtype, void *element);

/* The double nearest to an element of an integer or float type; 0 for all other types. */
ZB_API double zb_element_to_double(const void *element, zb_dtype dtype);

/* ---- _FillValue and nodata ----------------------------------------------------------------- */

/* The value of an attribute `_FillValue` or `missing_value` as one element of an integer or float
   type. Accepted are numbers; the forms of `fill_value` in zarr.json ("NaN", "Infinity",
   "-Infinity", hexadecimal bits); the base64 text of a little-endian double, as xarray writes it;
   nan, inf and infinity in any case of letters; of a list the first element. False for all else,
   and for a number that the type cannot hold. */
ZB_API bool zb_fill_attribute_parse(const zb_json *value, zb_dtype dtype, void *element);

/* The JSON text of `_FillValue` for an element of an integer or float type: a number for integers,
   base64 for floats. malloc'ed, the caller frees; NULL when memory runs out. */
ZB_API char *zb_fill_attribute_print(const void *element, zb_dtype dtype);

/* The value that stands for "no data" in an integer or float array; false when there is none. The
   first that applies: `_FillValue`; `missing_value`; the array's fill value, unless it is zero, was
   not stated, or ZB_GDAL_FILL_IS_NODATA (gdal_extension.h) is false. (In arrays that GDAL's own
   driver wrote, zero counts.) `shown` is the array's type or, where the attribute `_Unsigned` says
   so, the same with the other sign. *element has that type. */
ZB_API bool zb_array_nodata(const zb_node *array, zb_dtype shown, void *element);

/* True if the array's fill value would be its nodata value without `_FillValue` and
   `missing_value`, also of complex numbers and of structs of numbers: they are zero if all of their
   parts are. Of text (`string`) every fill value is but the empty one. */
ZB_API bool zb_array_fill_is_nodata(const zb_node *array);

/* ---- Bytes in attributes ------------------------------------------------------------------- */

/* Bytes as base64 text (RFC 4648, section 4); malloc'ed, NULL when memory runs out. */
ZB_API char *zb_base64_print(const void *bytes, size_t size);

/* The bytes of such a text, malloc'ed; NULL for any other text, and when memory runs out. */
ZB_API void *zb_base64_parse(const char *text, size_t *size);

/* ---- Values of attributes ------------------------------------------------------------------ */

enum zb_value_kind {
    ZB_VALUE_NULL,    /* no element */
    ZB_VALUE_NUMBERS, /* elements of `dtype` */
    ZB_VALUE_TEXTS    /* elements are char pointers */
};

/*
 * A JSON value with a type. Integers are int64; uint64 when one is above 2^63-1; float64 when one
 * has a fraction or an exponent, or both a negative number and one above 2^63-1 are there, also for
 * the strings "NaN", "Infinity" and "-Infinity" alone or among numbers. A list of elements of one
 * kind has one dimension, nested lists of equal lengths have more; a list without elements is
 * float64. All else (objects, mixed and ragged lists) is one text: its JSON text.
 */
typedef struct zb_value {
    enum zb_value_kind kind;
    zb_dtype dtype; /* of numbers: int64, uint64, float64 or bool */
    uint32_t ndim;  /* 0: a single element */
    uint64_t shape[ZB_MAX_NDIM];
    size_t count; /* the product of shape */
    void *data;   /* count elements; texts are malloc'ed one by one, data is, too */
} zb_value;

/* *out is to be cleared by zb_value_clear. False when memory runs out; *out owns nothing then. */
ZB_API bool zb_value_parse(const zb_json *json, zb_value *out);
ZB_API void zb_value_clear(zb_value *value);

/* The JSON text of a value: nested lists as its shape says, floats with a point or an exponent,
   "NaN" and infinities as strings. A NULL text is empty. malloc'ed; NULL when memory runs out. */
ZB_API char *zb_value_print(const zb_value *value);

/* A number with the fewest digits that read back as the same double, for people: "59", "0.1",
   "NaN", "-Infinity". Returns `text`. */
#define ZB_NUMBER_TEXT_SIZE 48
ZB_API const char *zb_number_text(double value, char text[ZB_NUMBER_TEXT_SIZE]);

/* ---- Shapes of new arrays ------------------------------------------------------------------ */

/* The role of a dimension of a new array, where it is known. */
enum zb_role {
    ZB_ROLE_UNKNOWN,
    ZB_ROLE_PLANE,   /* rows or columns of pictures; an array has two such dimensions or none */
    ZB_ROLE_SAMPLES, /* samples of one pixel, which are read together */
    ZB_ROLE_SERIES   /* pictures that are read one by one */
};

/* A good shape for the chunks, the units of decoding, of an array whose creator chose none. roles:
   [ndim], or NULL when nothing is known. Planes are cut into windows of 512 x 512 elements (longer
   ones where the plane is narrow) of at most 16 MiB with all of their samples; without planes,
   chunks have about 1 MiB and the same length along all dimensions. */
ZB_API void zb_default_chunk(uint32_t ndim, const uint64_t *shape, uint32_t element_size,
                             const enum zb_role *roles, uint64_t *chunk);

/* A good shape for shards of such chunks: 32 to 64 MiB, for arrays above 256 MiB. Planes grow
   first. False when the array is better off without shards. */
ZB_API bool zb_default_shard(uint32_t ndim, const uint64_t *shape, uint32_t element_size,
                             const enum zb_role *roles, const uint64_t *chunk, uint64_t *shard);

/* ---- Names of nodes ------------------------------------------------------------------------- */

/*
 * Names that a Zarr node cannot have, or that trouble programs, are stored in another form, and
 * shown as they are. They are reserved (zb_name_is_reserved), consist of dots, or have control
 * characters or backslashes. Their offending characters, and each "%", are stored as "%" and two
 * upper-case hexadecimal digits:
 *
 *     ".."        %2E.
 *     "__x"       %5F_x
 *     "a\b%"      a%5Cb%25
 *
 * A name of the store is taken for such a form only where it is the form of a name that needs one;
 * any other is shown as it is. A name that looks like a form needs one, so that no two names meet.
 */

/* True for names that need a form: no node can have them, or should. */
ZB_API bool zb_name_needs_form(const char *name);

/* True for those, and for names that look like a form. */
ZB_API bool zb_name_has_form(const char *name);

/* The name in the store of a name that programs use, and back. malloc'ed; NULL when memory runs
   out. */
ZB_API char *zb_name_stored(const char *name);
ZB_API char *zb_name_shown(const char *stored);

/* True for names of the store that are surely shown as they are. */
ZB_API bool zb_name_is_plain(const char *stored);

/* ---- Places -------------------------------------------------------------------------------- */

/* True if the directory holds a zarr.json. */
typedef bool (*zb_holds_fn)(void *context, const char *directory);

/* Splits the path of a directory into the root of the hierarchy that it is in, or would be in, and
   the path of the node below that root ("" for the root itself). The directories above are followed
   as long as each holds a document; not beyond ".", ".." and "/". Slashes at the end do not count.
   A URL is split by zb_url_split instead, and nothing is asked. Both texts are malloc'ed; without
   memory ZB_ENOMEM. */
ZB_API enum zb_code zb_path_split(const char *path, zb_holds_fn holds, void *context, char **root,
                                  char **node, zb_error *err);

/* The names of the documents that stand for the node which they describe where a path ends in one:
   zarr.json first, then those of version 2. NULL behind the last. Any thread. */
ZB_API const char *zb_document_name(unsigned index);

/* The place in a path, or URL, of `length` bytes where such a name begins, if it is the last part;
   else `length`. Any thread. */
ZB_API size_t zb_document_start(const char *path, size_t length);

/* True if a URL says that it is that of a Zarr store: a part of its path ends in .zarr, .zarr.zip
   or .ozx, or the last one is the name of a document (zarr.json). No host is asked. */
ZB_API bool zb_url_is_zarr(const char *url);

/* True if a URL may name a store that is written: those in S3 are, except zip archives. */
ZB_API bool zb_url_is_writable(const char *url);

/* Splits a URL into the URL of a store and the path of a node in it. The store's ends with the last
   part that is named *.zarr, *.zarr.zip or *.ozx; without one it is all of the URL. A document at
   the end stands for the node that it describes. A query and a fragment stay with the store's URL.
   Both texts are malloc'ed; without memory ZB_ENOMEM. */
ZB_API enum zb_code zb_url_split(const char *url, char **root, char **node, zb_error *err);

/* A store's name for messages: of a URL the scheme, host and path, since all else may hold secrets;
   any other name as it is. malloc'ed; NULL without memory. */
ZB_API char *zb_name_without_secrets(const char *name);

/* True if a path, or a URL of any kind, ends in .zarr, in letters of either case. */
ZB_API bool zb_name_is_zarr(const char *name);

/* The name of an array that is the root of a store of this name, for hosts whose arrays have names:
   the last part of its path without the suffix (without both of x.zarr.zip), "data" where that
   leaves none. malloc'ed; NULL without memory. */
ZB_API char *zb_name_of_root(const char *name);

/* The content that a new node finds at its place: the verdict on what may be filled, replaced or
   deleted. Both plugins ask for it here, and so it is one. */
enum zb_place {
    ZB_PLACE_EMPTY, /* nothing, or what killed writers left: it may be filled */
    ZB_PLACE_NODE,  /* a Zarr version 3 node, readable or not: it may be replaced when asked for */
    ZB_PLACE_OTHER  /* something else, nodes of version 2 included, which is left alone */
};

/* The place of a node in a store, by its path. Store errors, where it cannot be told. Any
   thread. */
ZB_API enum zb_code zb_place_look(zb_hierarchy *hierarchy, const char *path, enum zb_place *out,
                                  zb_error *err);

/* The place of a store that zb_hierarchy_create would make by this name, or of the node at `path`
   in it: the path of a directory or of an archive, or a URL, with its settings or NULL. A node has
   no place in a store that is ZB_PLACE_OTHER; an archive is replaced whole, whatever the path.
   ZB_PLACE_EMPTY also for an empty file, as programs make it to have a name for themselves:
   zb_hierarchy_create replaces it. Store errors, and those of zb_hierarchy_open. Any thread. */
ZB_API enum zb_code zb_destination_look(const char *name, const char *path,
                                        const zb_store_settings *settings, enum zb_place *out,
                                        zb_error *err);

/* The error for a destination that is ZB_PLACE_OTHER: ZB_EIO with EEXIST. The caller says before
   what it was about to do (zb_error_prefix). */
ZB_API enum zb_code zb_destination_refuse(zb_error *err);

/* Whether a name that a program could not open is that of a store that went wrong: a directory
   called *.zarr without a document, a store of another kind (kerchunk, Icechunk, N5), a form of
   name that is not known here (~, file://). *err then says what is there, and what to do. False,
   with *err as it was, for all other names, after one or two system calls. No host is asked. */
ZB_API bool zb_name_explain(const char *name, zb_error *err);

/* True if the document at a path says "zarr_format": 3, whether the rest of it is readable or
   not. Any thread. */
ZB_API bool zb_place_claims_v3(zb_hierarchy *hierarchy, const char *path);

/* Is there a zip archive with a Zarr node at its root, as zb_hierarchy_open reads it? Of files
   with another name two system calls tell that they are none. Any thread. */
ZB_API bool zb_place_is_zip(const char *path);

#ifdef __cplusplus
}
#endif
#endif
