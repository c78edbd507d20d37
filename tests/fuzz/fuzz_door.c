/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a door. It leads somewhere, is refused with an error, or is none. They are
 * also a name to which a door is made to lead; it is read as it was made.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "zarrbridge/door.h"

static char directory[] = "/tmp/zarrbridge-fuzz-XXXXXX", file[64], made[64];

static void remove_all(void) {
    unlink(file);
    unlink(made);
    rmdir(directory);
}

static void begin(void) {
    if (*file)
        return;
    REQUIRE(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/door", directory);
    snprintf(made, sizeof made, "%s/made", directory);
    atexit(remove_all);
}

static void read_as_door(const uint8_t *data, size_t size) {
    zb_door door;
    zb_error err;
    const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    const enum zb_code code = zb_door_read(file, ZB_DOORS_ANY, &door, &err);
    fuzz_check_error(code, &err);
    REQUIRE(zb_path_is_door(file) || code == ZB_ENOTFOUND);
    REQUIRE(code || (*door.target && *door.store));
    zb_door_clear(&door);
}

static void lead_to(const uint8_t *data, size_t size) {
    zb_door door;
    zb_error err;
    char *target = strndup((const char *)data, size);
    REQUIRE(target);
    const enum zb_code code = zb_door_make(made, target, true, &err);
    fuzz_check_error(code, &err);
    if (!code) {
        REQUIRE(zb_path_is_door(made));
        const enum zb_code reading = zb_door_read(made, ZB_DOORS_OWN, &door, &err);
        fuzz_check_error(reading, &err);
        REQUIRE(strcmp(door.target, target) == 0 && !door.is_copy);
        zb_door_clear(&door);
    }
    free(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > ZB_DOOR_MAX_BYTES)
        return 0;
    begin();
    read_as_door(data, size);
    lead_to(data, size);
    return 0;
}
