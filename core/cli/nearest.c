/* SPDX-License-Identifier: MIT */
/* Names that are near to a mistyped one. */
#include <string.h>

#include "cli.h"

enum { MOST_LETTERS = 64 };

/* The letters that have to be put in, left out or replaced to make one of the other. */
static unsigned distance(const char *a, const char *b) {
    unsigned row[MOST_LETTERS + 1];
    const size_t length = strlen(b);
    if (length > MOST_LETTERS || strlen(a) > MOST_LETTERS)
        return MOST_LETTERS;
    for (size_t j = 0; j <= length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 0; a[i]; i++) {
        unsigned before = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < length; j++) {
            unsigned best = before + ((a[i] | 0x20) != (b[j] | 0x20));
            before = row[j + 1];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j + 1] = before + 1 < best ? before + 1 : best;
        }
    }
    return row[length];
}

const char *cli_nearest(const char *word, const char *const *names) {
    const char *nearest = NULL;
    unsigned best = (unsigned)strlen(word) / 4 + 1; /* of "zar" one letter, of long names more */
    for (size_t i = 0; names[i]; i++) {
        const unsigned far = distance(word, names[i]);
        if (far <= best && (!nearest || far < best)) {
            best = far;
            nearest = names[i];
        }
    }
    return nearest;
}
