/* SPDX-License-Identifier: MIT */
/* What doctor asks of a libgdal, which has the drivers that FAKE_GDAL_DRIVERS lists. */
#include <stdlib.h>
#include <string.h>

const char *GDALVersionInfo(const char *what);
void GDALAllRegister(void);
int GDALGetDriverCount(void);
void *GDALGetDriver(int index);
const char *GDALGetDriverShortName(void *driver);

static char names[256];
static char *drivers[8];
static int count;

const char *GDALVersionInfo(const char *what) {
    (void)what;
    return "3.12.2";
}

void GDALAllRegister(void) {
    const char *given = getenv("FAKE_GDAL_DRIVERS");
    strncpy(names, given ? given : "", sizeof names - 1);
    for (char *name = strtok(names, ","); name && count < 8; name = strtok(NULL, ","))
        drivers[count++] = name;
}

int GDALGetDriverCount(void) {
    return count;
}

void *GDALGetDriver(int index) {
    return drivers[index];
}

const char *GDALGetDriverShortName(void *driver) {
    return driver;
}
