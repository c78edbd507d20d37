/* SPDX-License-Identifier: MIT */
/*
 * A distribution's libcurl knows where the distribution keeps the certificates. That of the Python
 * wheel is for any of them, so that the places of all are looked at, and then the file of certifi,
 * a Python package, where it is installed beside ours.
 */
#include "authorities.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* From the folder of this library, site-packages/zarrbridge/lib/zarrbridge. */
#define CERTIFI "../../../certifi/cacert.pem"

static const char *const places[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Gentoo */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL and its kin */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* older ones */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/ssl/cert.pem",                                 /* Alpine */
};

static const char *found;
static char certifi[PATH_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void) {
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    if (curl->cainfo || curl->capath)
        return;
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++)
        found = access(places[i], R_OK) == 0 ? places[i] : NULL;
    Dl_info self;
    const char *slash = dladdr((const void *)places, &self) ? strrchr(self.dli_fname, '/') : NULL;
    if (found || !slash)
        return;
    const int folder = (int)(slash - self.dli_fname) + 1;
    const int size = snprintf(certifi, sizeof certifi, "%.*s" CERTIFI, folder, self.dli_fname);
    found =
        size > 0 && (size_t)size < sizeof certifi && access(certifi, R_OK) == 0 ? certifi : NULL;
}

const char *zb__authorities_file(void) {
    pthread_once(&once, find);
    return found;
}
