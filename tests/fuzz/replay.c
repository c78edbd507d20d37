/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without libFuzzer: on each seed, on each beginning of it, and on copies with
 * one byte changed or taken out. No chance is involved, so a failure repeats.
 *
 *     replay FILE-OR-DIRECTORY...
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seeds are small; of a larger one only evenly spaced bytes are mutated. */
#define PLACES_MAX 2048

static size_t runs;

/* A copy of exactly the right size, so that the address sanitizer sees any read beyond it. */
static void run(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    runs++;
}

static void mutate_at(uint8_t *data, size_t size, size_t at) {
    static const uint8_t others[] = {0x00, 0xff, '"', '0', '-', '}', ']'};
    uint8_t kept = data[at];
    run(data, at);
    for (size_t i = 0; i < sizeof others; i++) {
        data[at] = others[i];
        run(data, size);
    }
    for (unsigned bit = 0; bit < 8; bit++) {
        data[at] = (uint8_t)(kept ^ 1u << bit);
        run(data, size);
    }
    data[at] = kept;
    /* Without the byte. */
    memmove(data + at, data + at + 1, size - at - 1);
    run(data, size - 1);
    memmove(data + at + 1, data + at, size - at - 1);
    data[at] = kept;
}

static int replay_file(const char *path) {
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    run(data, size);
    size_t step = size / PLACES_MAX + 1;
    for (size_t at = 0; at < size; at += step)
        mutate_at(data, size, at);
    return 0;
}

static int replay(const char *path) {
    DIR *directory = opendir(path);
    if (!directory)
        return replay_file(path);
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char file[4096];
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(file, sizeof file, "%s/%s", path, entry->d_name) >= (int)sizeof file)
            failed = 1;
        else
            failed |= replay_file(file);
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i]);
    printf("%zu inputs\n", runs);
    return failed || runs == 0;
}
