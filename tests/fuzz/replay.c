/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without libFuzzer: on each seed, and on changed copies of it: cut off at a
 * byte, with the byte changed, and without it. No chance is involved, so a failure repeats.
 *
 *     replay PLACES DIRECTORY [FILE...]    the directory's files are changed at this many evenly
 *                                          spaced bytes, at most
 *     replay FILE...                       they are run as they are
 *
 * A FILE whose name ends in .zip is an archive of archive.py: each member is run as it is.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdbool.h>

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
    /* Runs the input without the byte. */
    memmove(data + at, data + at + 1, size - at - 1);
    run(data, size - 1);
    memmove(data + at + 1, data + at, size - at - 1);
    data[at] = kept;
}

/* The content of a file, malloc'ed; NULL, and a line that says why, when it cannot be read. */
static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long length = -1;
    if (file && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0) {
        rewind(file);
        data = malloc((size_t)length + 1);
        if (data && fread(data, 1, (size_t)length, file) != (size_t)length) {
            free(data);
            data = NULL;
        }
    }
    if (!data)
        perror(path);
    if (file)
        fclose(file);
    *size = data ? (size_t)length : 0;
    return data;
}

static size_t little(const uint8_t *bytes, unsigned count) {
    size_t number = 0;
    while (count-- > 0)
        number = number << 8 | bytes[count];
    return number;
}

/* Runs the members, each of which follows a header of its own, without compression. The directory
   behind the last one, which ends the archive, tells whether these were all of them. */
static bool run_members(const uint8_t *data, size_t size) {
    enum { HEADER = 30, END = 22 };
    size_t at = 0, members = 0;
    while (size - at >= HEADER && memcmp(data + at, "PK\3\4", 4) == 0) {
        const uint8_t *header = data + at;
        size_t how = little(header + 6, 4), stored = little(header + 18, 4);
        size_t names = little(header + 26, 2) + little(header + 28, 2);
        at += HEADER;
        if (how != 0 || names > size - at || stored > size - at - names)
            return false;
        run(data + at + names, stored);
        at += names + stored;
        members++;
    }
    if (size - at < END)
        return false;
    const uint8_t *end = data + size - END;
    return memcmp(end, "PK\5\6", 4) == 0 && little(end + 10, 2) == members;
}

static int replay_file(const char *path, size_t places) {
    size_t size, length = strlen(path);
    uint8_t *data = read_file(path, &size);
    bool failed = !data;
    if (data && length > 4 && strcmp(path + length - 4, ".zip") == 0) {
        failed = !run_members(data, size);
        if (failed)
            fprintf(stderr, "%s: not an archive of archive.py, or a part of one\n", path);
    } else if (data) {
        run(data, size);
        size_t step = places ? size / places + 1 : size;
        for (size_t at = 0; at < size && places; at += step)
            mutate_at(data, size, at);
    }
    free(data);
    return failed;
}

static int replay_directory(DIR *directory, const char *path, size_t places) {
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name)
            abort();
        failed |= replay_file(name, places);
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv) {
    DIR *directory = argc >= 3 ? opendir(argv[2]) : NULL;
    int failed = 0;
    if (directory)
        failed = replay_directory(directory, argv[2], strtoul(argv[1], NULL, 10));
    for (int i = directory ? 3 : 1; i < argc; i++)
        failed |= replay_file(argv[i], 0);
    printf("%zu inputs\n", runs);
    return failed || runs == 0;
}
