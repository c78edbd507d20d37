/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <inttypes.h>
#include <stdio.h>

void print_text_to(FILE *out, const char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            fprintf(out, "\\x%02x", (unsigned char)*text);
        else
            fputc(*text, out);
    }
}

void print_text(const char *text) {
    print_text_to(stdout, text);
}

void print_shape(uint32_t ndim, const uint64_t *shape) {
    putchar('(');
    for (uint32_t i = 0; i < ndim; i++)
        printf(i ? ", %" PRIu64 : "%" PRIu64, shape[i]);
    putchar(')');
}

void print_bytes(uint64_t bytes) {
    static const char units[] = "KMGTPE";
    double number = (double)bytes;
    int unit = -1;
    while (number >= 1024) {
        number /= 1024;
        unit++;
    }
    printf("%" PRIu64 " bytes", bytes);
    if (unit >= 0)
        printf(" (%.1f %ciB)", number, units[unit]);
}

void print_color(const cli_call *call, enum print_color color) {
    static const char *const codes[] = {[PRINT_BAD] = "31",
                                        [PRINT_GOOD] = "32",
                                        [PRINT_GROUP] = "34",
                                        [PRINT_ARRAY] = "36",
                                        [PRINT_FAINT] = "2"};
    if (call->color)
        printf("\x1b[%sm", codes[color]);
}

void print_plain(const cli_call *call) {
    if (call->color)
        fputs("\x1b[0m", stdout);
}
