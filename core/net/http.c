/* SPDX-License-Identifier: MIT */
#include "http.h"

#include <stdlib.h>
#include <string.h>

#include "headers.h"
#include "options.h"
#include "remote.h"
#include "url.h"

typedef struct http {
    zb__url url;
    char **headers; /* the program's, or NULL */
} http;

static enum zb_code http_address(zb__remote *store, const zb__request *request, zb__outgoing *out,
                                 zb_error *err) {
    const http *h = store->state;
    out->url = zb__url_of_key(&h->url, request->key ? request->key : "");
    enum zb_code code = out->url ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a URL");
    for (char **header = h->headers; !code && header && *header; header++)
        code = zb__outgoing_add(out, err, "%s", *header);
    return code;
}

static void http_destroy(zb__remote *store) {
    http *h = store->state;
    zb__url_clear(&h->url);
    zb__headers_free(h->headers);
    free(h);
}

static bool http_is_same(const zb__remote *a, const zb__remote *b) {
    const http *one = a->state, *other = b->state;
    return strcmp(one->url.base, other->url.base) == 0 &&
           strcmp(one->url.query, other->url.query) == 0 && !one->headers && !other->headers &&
           zb__text_same(a->ca_file, b->ca_file) && zb__text_same(a->proxy, b->proxy);
}

static const zb__protocol protocol = {.name = "http",
                                      .follows_redirects = true,
                                      .address = http_address,
                                      .is_same = http_is_same,
                                      .destroy = http_destroy};

enum zb_code zb__http_open(const char *name, const zb_store_settings *settings, zb__remote *store,
                           char **label, zb_error *err) {
    http *h = calloc(1, sizeof *h);
    if (!h)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store");
    store->protocol = &protocol;
    store->state = h;
    zb__options options = {.region = NULL};
    enum zb_code code = zb__url_parse(name, &h->url, err);
    if (!code)
        code = zb__options_read(h->url.options, settings, &options, err);
    if (!code)
        code = zb__headers_read(options.headers, &h->headers, err);
    if (!code && (*label = zb__url_label(&h->url)) == NULL)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a store's name");
    zb__remote_take_options(store, &options);
    return code;
}
