/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without libFuzzer: on each seed, and on changed copies of it: cut off at a
 * byte, with the byte changed, and without it. No chance is involved, so a failure repeats.
 *
 *     replay PLACES DIRECTORY     seeds are changed at this many evenly spaced bytes, at most
 *     replay FILE...              they are run as they are
 *
 * Seeds in directories below DIRECTORY are run as they are, too.
 */
#include "fuzz.h"

#include <dirent.h>

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

static int replay_file(const char *path, size_t places) {
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    run(data, size);
    size_t step = places ? size / places + 1 : size;
    for (size_t at = 0; at < size && places; at += step)
        mutate_at(data, size, at);
    return 0;
}

static int replay_directory(DIR *directory, const char *path, size_t places) {
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name)
            abort();
        DIR *below = opendir(name);
        failed |= below ? replay_directory(below, name, 0) : replay_file(name, places);
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv) {
    DIR *directory = argc == 3 ? opendir(argv[2]) : NULL;
    int failed = 0;
    if (directory)
        failed = replay_directory(directory, argv[2], strtoul(argv[1], NULL, 10));
    for (int i = 1; i < argc && !directory; i++)
        failed |= replay_file(argv[i], 0);
    printf("%zu inputs\n", runs);
    return failed || runs == 0;
}
