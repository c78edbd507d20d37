/* SPDX-License-Identifier: MIT */
/*
 * Decimal text to binary numbers. The C library rounds correctly to double and float, but reads
 * the decimal point of the locale that the program has set, hence strtod_l with the "C" locale.
 *
 * It has no float16, and rounding twice (to double, then to float16) is wrong where the double
 * falls on the middle between two float16 values and the text does not. There, and only there,
 * the digits of the text are compared with the exact digits of the double.
 */
#include "util/decimal.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/half.h"

/* Kept for the life of the process; (locale_t)0 when memory ran out. */
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

/* The locale is a handle of its own: setlocale belongs to the whole process and to the program in
   it. */
static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double zb__decimal_to_double(const char *text) {
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

float zb__decimal_to_float(const char *text) {
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? strtof_l(text, NULL, c_locale) : strtof(text, NULL);
}

/* ---- Digits ------------------------------------------------------------------------------- */

/* A magnitude as 0.d1d2d3... times ten to the exponent; d1 is not 0, or there are no digits. */
typedef struct digits {
    const char *at;
    int64_t exponent;
} digits;

/* Exponents beyond this are as good as infinite; it leaves room for adding text lengths. */
#define EXPONENT_CAP (INT64_C(1) << 60)

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The number behind the "e", which the scan has found to be digits with an optional sign. */
static int64_t read_exponent(const char *text) {
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    int64_t value = 0;
    for (; is_digit(*text); text++)
        value = value < EXPONENT_CAP / 10 ? 10 * value + (*text - '0') : EXPONENT_CAP;
    return negative ? -value : value;
}

/* Any other byte than a digit or a sign counts as the decimal point: the byte that printf puts
   there depends on the locale. */
static digits digits_begin(const char *text) {
    digits d = {.at = NULL, .exponent = 0};
    bool point = false;
    for (; *text && *text != 'e' && *text != 'E'; text++) {
        if (!is_digit(*text)) {
            point = point || *text != '-';
            continue;
        }
        if (!d.at && *text != '0')
            d.at = text;
        if (d.at && !point)
            d.exponent++;
        if (!d.at && point)
            d.exponent--;
    }
    if (!d.at)
        return (digits){.at = text, .exponent = 0};
    if (*text)
        d.exponent += read_exponent(text + 1);
    return d;
}

static bool digits_end(digits *d) {
    while (*d->at && *d->at != 'e' && *d->at != 'E' && !is_digit(*d->at))
        d->at++;
    return !is_digit(*d->at);
}

/* The next digit; zeros behind the last. */
static int digits_next(digits *d) {
    return digits_end(d) ? 0 : *d->at++ - '0';
}

/* Sign of |a| - |b|; neither is zero. */
static int compare_magnitudes(const char *a, const char *b) {
    digits x = digits_begin(a);
    digits y = digits_begin(b);
    if (x.exponent != y.exponent)
        return x.exponent < y.exponent ? -1 : 1;
    while (!digits_end(&x) || !digits_end(&y)) {
        int difference = digits_next(&x) - digits_next(&y);
        if (difference != 0)
            return difference;
    }
    return 0;
}

/* One pass from the first digit that counts: digits before the point build the value, digits behind
   it must be zeros. Missing digits before the point ("1e3") count as zeros; a value above 0
   overflows after at most 20 of them, so huge exponents cost nothing. */
bool zb__decimal_to_integer(const char *text, bool *negative, uint64_t *magnitude) {
    digits d = digits_begin(text);
    uint64_t value = 0;
    *negative = *text == '-';
    for (int64_t place = d.exponent; !digits_end(&d) || (place > 0 && value > 0); place--) {
        uint64_t digit = (uint64_t)digits_next(&d);
        if (place <= 0 && digit != 0)
            return false; /* a fraction */
        if (place > 0 && (__builtin_mul_overflow(value, 10, &value) ||
                          __builtin_add_overflow(value, digit, &value)))
            return false;
    }
    *magnitude = value;
    return true;
}

/* ---- float16 ------------------------------------------------------------------------------ */

uint16_t zb__decimal_to_half(const char *text) {
    uint16_t sign = *text == '-' ? 0x8000 : 0;
    double value = fabs(zb__decimal_to_double(text));
    if (value == 0)
        return sign;
    if (value >= 131072) /* far beyond the largest, 65504 */
        return sign | 0x7c00;
    /* `exponent` is that of the float16 interval which holds the value; `units` then counts steps
       between neighbours, and everything below is exact because both are powers of two apart. */
    int exponent = ilogb(value);
    if (exponent < -14)
        exponent = -14; /* subnormal: the spacing stays at 2^-24 */
    double units = ldexp(value, 10 - exponent);
    double below = floor(units);
    double rest = units - below;
    int order = 0;
    if (rest == 0.5) {
        char exact[128]; /* the middles have at most 41 digits, and so 60 are all of them */
        snprintf(exact, sizeof exact, "%.60e", value);
        order = compare_magnitudes(text, exact);
    }
    int steps = (int)below;
    if (rest > 0.5 || order > 0 || (rest == 0.5 && order == 0 && steps % 2 != 0))
        steps++;
    /* A carry out of the fraction moves on to the next exponent, at last to infinity. */
    int bits = (exponent + 14) * 1024 + steps;
    return (uint16_t)(sign | (bits < 0x7c00 ? bits : 0x7c00));
}

/* ---- Printing ----------------------------------------------------------------------------- */

/* True if the text gives the value back, both read at once and by way of a double. */
static bool gives_back(const char *text, double value, uint32_t size) {
    double nearest = zb__decimal_to_double(text);
    if (size == 8)
        return nearest == value;
    if (size == 4)
        return (double)(float)nearest == value && (double)zb__decimal_to_float(text) == value;
    uint16_t half = zb__half_from_double(value);
    return zb__half_from_double(nearest) == half && zb__decimal_to_half(text) == half;
}

/* Digits that any decimal text of the type keeps. %g drops trailing zeros, so that this precision
   prints shorter texts, too. Numbers below the normal ones have no such bound. */
static int first_precision(double value, uint32_t size) {
    static const double least[9] = {[2] = 0x1p-14, [4] = 0x1p-126, [8] = 0x1p-1022};
    static const int kept[9] = {[2] = 3, [4] = 6, [8] = 15};
    return fabs(value) >= least[size] ? kept[size] : 1;
}

/* printf writes the decimal point of the thread's locale, hence the switch around it. 17 digits
   always suffice. A large number that is short without an exponent has none; below 1e15 it is
   an integer then, whose digits are exact. */
const char *zb__decimal_print(double value, uint32_t size, char text[ZB__DECIMAL_SIZE]) {
    pthread_once(&c_locale_once, make_c_locale);
    locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
    for (int precision = first_precision(value, size); precision <= 17; precision++) {
        snprintf(text, ZB__DECIMAL_SIZE, "%.*g", precision, value);
        if (gives_back(text, value, size))
            break;
    }
    if (strchr(text, '+') && fabs(value) < 1e15)
        snprintf(text, ZB__DECIMAL_SIZE, "%.15g", value);
    if (before)
        uselocale(before);
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    return text;
}
