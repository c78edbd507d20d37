/* SPDX-License-Identifier: MIT */
/* What doctor asks of a libhdf5, answered as variables say. FAKE_HDF5: crash, hang, signed, refuse,
   or anything else. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const char *said(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

int H5get_libversion(unsigned *major, unsigned *minor, unsigned *release);
int H5open(void);
int H5PLsize(unsigned *count);
ssize_t H5PLget(unsigned index, char *text, size_t size);
int64_t H5VLregister_connector_by_name(const char *name, int64_t list);

int H5get_libversion(unsigned *major, unsigned *minor, unsigned *release) {
    return sscanf(said("FAKE_HDF5_VERSION"), "%u.%u.%u", major, minor, release) == 3 ? 0 : -1;
}

int H5open(void) {
    if (strcmp(said("FAKE_HDF5"), "crash") == 0)
        abort();
    while (strcmp(said("FAKE_HDF5"), "hang") == 0)
        pause();
    return 0;
}

int H5PLsize(unsigned *count) {
    *count = 1;
    return 0;
}

ssize_t H5PLget(unsigned index, char *text, size_t size) {
    (void)index;
    return snprintf(text, size, "%s", said("HDF5_PLUGIN_PATH"));
}

int64_t H5VLregister_connector_by_name(const char *name, int64_t list) {
    (void)list;
    if (strcmp(said("FAKE_HDF5"), "signed") == 0)
        fprintf(stderr, "H5PL__open(): plugin signature verification failed: %s\n", name);
    return strcmp(said("FAKE_HDF5"), "signed") == 0 || strcmp(said("FAKE_HDF5"), "refuse") == 0 ? -1
                                                                                                : 1;
}
