/* SPDX-License-Identifier: MIT */
/* Converts the decimal text of a number to its nearest value and back, in any locale of the
   process. */
#ifndef ZB_UTIL_DECIMAL_H
#define ZB_UTIL_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* `text` is a JSON number token throughout ("-12.5e3", NUL-terminated), not NaN or an infinity. */

/* The value is rounded once, to nearest, ties to even; a number that is too large gives an
   infinity. A float16 comes as its bits. */
double zb__decimal_to_double(const char *text);
float zb__decimal_to_float(const char *text);
uint16_t zb__decimal_to_half(const char *text);

/* True when the value is exactly an integer below 2^64 in magnitude; "7.0" and "70e-1" are. */
bool zb__decimal_to_integer(const char *text, bool *negative, uint64_t *magnitude);

/* The other way: the fewest digits that both a correct reader of the type (4: float, 8: double, 2:
   float16 given as its value) and one that rounds a double to it turn back into the same bits. A
   JSON number that always has a point or an exponent, so that no reader takes it for an integer and
   loses the sign of -0.0. Finite values only. */
#define ZB__DECIMAL_SIZE 40
const char *zb__decimal_print(double value, uint32_t size, char text[ZB__DECIMAL_SIZE]);

#endif
