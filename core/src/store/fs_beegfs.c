/* SPDX-License-Identifier: MIT */
/*
 * BeeGFS keeps locks on each machine, unless its client is told to take them at the server
 * (tuneUseGlobalFileLocks). The options of the mount do not say so, but the client's configuration
 * does, whose path is among them (cfgFile). In doubt locks keep out one machine alone: parts of
 * chunks are refused then where several write, and nothing is lost.
 */
#include "store/fs_beegfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_path.h"
#include "store/fs_store.h"

#define MOST_BYTES (64 * 1024)

/* Part of a text, without blanks at its ends. */
typedef struct piece {
    const char *at;
    size_t size;
} piece;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static piece trim(const char *at, size_t size) {
    for (; size > 0 && is_blank(*at); size--)
        at++;
    while (size > 0 && is_blank(at[size - 1]))
        size--;
    return (piece){at, size};
}

/* Names and words count in any case. */
static bool is_word(piece p, const char *word) {
    return p.size == strlen(word) && strncasecmp(p.at, word, p.size) == 0;
}

static bool is_true(piece value) {
    static const char *const words[] = {"true", "yes", "on", "y", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_word(value, words[i]))
            return true;
    }
    return false;
}

/* A line is "NAME = VALUE", or a comment behind "#". Of several of one name the last one counts. */
bool zb__fs_beegfs_says_shared(const char *text, size_t size) {
    bool is_shared = false;
    for (const char *end = text + size; text < end;) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((stop ? stop : end) - text);
        const char *equals = memchr(text, '=', length);
        if (equals && is_word(trim(text, (size_t)(equals - text)), "tuneUseGlobalFileLocks"))
            is_shared = is_true(trim(equals + 1, length - (size_t)(equals + 1 - text)));
        text += length + 1;
    }
    return is_shared;
}

/* Reads the file up to its end; bytes, or -1 for one that is no file or has too many. */
static ssize_t read_file(const char *path, char *text) {
    struct stat st;
    ssize_t got = -1, size = 0;
    const int fd =
        zb__fs_open_name(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        while (size <= MOST_BYTES &&
               (got = ZB__UNINTERRUPTED(read(fd, text + size, MOST_BYTES + 1 - (size_t)size))) > 0)
            size += got;
    }
    close(fd);
    return got == 0 ? size : -1;
}

/* The value of the option, whose length it sets; or NULL. */
static const char *find_option(const char *options, const char *name, size_t *length) {
    const size_t size = strlen(name);
    while (options && *options) {
        *length = strcspn(options, ",");
        if (*length > size && memcmp(options, name, size) == 0) {
            *length -= size;
            return options + size;
        }
        options += *length + (options[*length] == ',');
    }
    return NULL;
}

bool zb__fs_beegfs_is_shared(const char *options) {
    char path[PATH_MAX];
    size_t length;
    const char *value = find_option(options, "cfgFile=", &length);
    if (!value || *value != '/' || length >= sizeof path)
        return false;
    memcpy(path, value, length);
    path[length] = '\0';
    char *text = malloc(MOST_BYTES + 1);
    const ssize_t size = text ? read_file(path, text) : -1;
    const bool is_shared = size > 0 && zb__fs_beegfs_says_shared(text, (size_t)size);
    free(text);
    return is_shared;
}
