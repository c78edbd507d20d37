/* SPDX-License-Identifier: MIT */
/* Run while configuring: prints the first directory in which this HDF5 looks for plugins. */
#include <hdf5.h>
#include <stdio.h>

int main(void) {
    char path[4096];
    if (H5PLget(0, path, sizeof path) <= 0)
        return 1;
    fputs(path, stdout);
    return 0;
}
