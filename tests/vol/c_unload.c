/* SPDX-License-Identifier: MIT */
/*
 * c_exit.c as a library that is loaded, run and unloaded, HDF5 with it, twice: unloading closes
 * HDF5's files, as the process ends without any step of a normal end.
 *
 *     vol-c-unload WORDS... END
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The connector stays, for the sake of its threads. */
static bool hdf5_is_mapped(void) {
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, "libhdf5") && !strstr(line, "libhdf5_vol");
    if (maps)
        fclose(maps);
    return found;
}

static int load_and_run(int argc, char **argv) {
    int (*run)(int, char **);
    void *module = dlopen(EXIT_MODULE, RTLD_NOW | RTLD_LOCAL), *symbol;
    if (!module || !(symbol = dlsym(module, "run"))) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    memcpy(&run, &symbol, sizeof run);
    int status = run(argc, argv);
    if (status == 0 && dlclose(module) != 0)
        status = 4;
    if (status == 0 && hdf5_is_mapped()) {
        fprintf(stderr, "libhdf5 is still there\n");
        status = 5;
    }
    return status;
}

int main(int argc, char **argv) {
    int status = argc > 1 ? load_and_run(argc, argv) : 2;
    if (status == 0)
        status = load_and_run(argc, argv);
    _exit(status);
}
