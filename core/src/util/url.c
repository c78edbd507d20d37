/* SPDX-License-Identifier: MIT */
#include "util/url.h"

#include <string.h>
#include <strings.h>

size_t zb__url_path_end(const char *url) {
    const char *options = strrchr(url, '#');
    if (strncasecmp(url, "s3:", 3) == 0)
        return options ? (size_t)(options - url) : strlen(url);
    return strcspn(url, "?#");
}
