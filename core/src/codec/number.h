/* SPDX-License-Identifier: MIT */
/*
 * One real number of any type, for codecs that compute with elements. Integers keep all of their 64
 * bits, with the sign apart; floats of every width are doubles.
 */
#ifndef ZB_CODEC_NUMBER_H
#define ZB_CODEC_NUMBER_H

#include "util/half.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

typedef struct zb__number {
    bool is_float;
    bool negative;      /* of an integer; not for zero */
    uint64_t magnitude; /* likewise */
    double real;        /* of a float */
} zb__number;

/* Bool, integers and floats have a number; complex ones, bytes and times have none. */
bool zb__is_number(zb_dtype dtype);

/* Numbers of few bits, too, are loaded, stored exactly and clamped; the numbers of
   all of their formats are floats here. */
bool zb__is_small(zb_dtype dtype);

/* The name of a number's type, for messages. Static. */
const char *zb__number_name(zb_dtype dtype);

/* Elements lie anywhere, in host byte order. */
zb__number zb__number_load(zb_dtype dtype, const void *element);

/* The nearest double. */
double zb__number_real(zb__number number);

/* Stores a number that the type holds exactly; false, and nothing stored, for any other. NaN is a
   number of every float. */
bool zb__number_store(zb_dtype dtype, zb__number number, void *element);

/* Stores the nearest float of that width (ties to even; beyond its range infinity). */
void zb__real_store(uint32_t size, double real, void *element);

/* The nearest float of that width, as a double. */
static inline double zb__real_narrow(uint32_t size, double real) {
    if (size == 4)
        return (double)(float)real;
    return size == 8 ? real : (double)zb__half_to_float(zb__half_from_double(real));
}

/* A float without fraction as an integer; false for others, and from 2^64 on. */
bool zb__number_integer(double real, zb__number *out);

/* Stores a number as numpy converts it where it has one answer: fractions are cut off. False for a
   number outside the range of an integer type. */
bool zb__number_cut(zb_dtype dtype, zb__number number, void *element);

/* Stores the end of the range that is nearest to a number outside of it; NaN gives zero. */
void zb__number_clamp(zb_dtype dtype, zb__number number, void *element);

/* ---- numpy's names of data types, which stand in the configurations of numcodecs. */

/* Reads the member of that name: "<f4", "|u1", "float32". Only numbers in the byte order of the
   host are taken, since zarr-python, too, reads no other in a codec. A missing or null member
   leaves *out as it is. */
enum zb_code zb__numpy_type(const zb_json *configuration, const char *name, zb_dtype *out,
                            zb_error *err);

/* The same for a member that says what the codec is given, which must be `expected`, or an integer
   of another sign. */
enum zb_code zb__numpy_type_check(const zb_json *configuration, const char *name, zb_dtype expected,
                                  zb_error *err);

#endif
