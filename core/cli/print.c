/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <inttypes.h>
#include <stdio.h>

void print_text(const char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            printf("\\x%02x", (unsigned char)*text);
        else
            putchar(*text);
    }
}

void print_shape(uint32_t ndim, const uint64_t *shape) {
    putchar('(');
    for (uint32_t i = 0; i < ndim; i++)
        printf(i ? ", %" PRIu64 : "%" PRIu64, shape[i]);
    putchar(')');
}
