/* SPDX-License-Identifier: MIT */
#include "http.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "remote.h"
#include "url.h"

typedef struct http {
    zb__url url;
} http;

static enum zb_code http_address(zb__remote *store, const zb__request *request, zb__outgoing *out,
                                 zb_error *err) {
    const http *h = store->state;
    out->url = zb__url_of_key(&h->url, request->key ? request->key : "");
    return out->url ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a URL");
}

static void http_destroy(zb__remote *store) {
    http *h = store->state;
    zb__url_clear(&h->url);
    free(h);
}

static const zb__protocol protocol = {
    .name = "http", .follows_redirects = true, .address = http_address, .destroy = http_destroy};

enum zb_code zb__http_open(const char *name, zb__remote *store, char **label, zb_error *err) {
    http *h = calloc(1, sizeof *h);
    if (!h)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store");
    zb__options options = {.region = NULL};
    enum zb_code code = zb__url_parse(name, &h->url, err);
    if (!code)
        code = zb__options_read(h->url.options, &options, err);
    if (!code && (*label = zb__url_label(&h->url)) == NULL) {
        code = zb_fail(err, ZB_ENOMEM, "no memory for a store's name");
    }
    store->missing_403 = options.missing_403 == ZB__YES;
    zb__options_clear(&options);
    if (code) {
        zb__url_clear(&h->url);
        free(h);
        return code;
    }
    store->protocol = &protocol;
    store->state = h;
    return ZB_OK;
}
