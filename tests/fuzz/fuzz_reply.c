/* SPDX-License-Identifier: MIT */
/*
 * Replies of servers to requests of all forms. The first byte of the input chooses the request;
 * then come the lines of the head, and after a byte 255 the body. What is taken stays in the
 * buffer, and a request that succeeds has exactly the bytes that it says.
 */
#include "fuzz.h"

#include "body.h"
#include "remote.h"

#define MOST 4096

static enum zb_code address(zb__remote *store, const zb__request *request, zb__outgoing *out,
                            zb_error *err) {
    (void)store;
    (void)request;
    out->url = strdup("https://host/x.zarr/k");
    return out->url ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory");
}

static const zb__protocol protocol = {
    .name = "http", .follows_redirects = true, .address = address};

static void choose(zb__request *request, unsigned form, zb__version *pin) {
    static const zb__version pinned = {.etag = "\"v\"", .size = 100};
    request->method = form & 1 ? ZB__GET : ZB__PUT;
    request->span = (enum zb__span)(form >> 1 & 3);
    request->span = request->span > ZB__SUFFIX || !(form & 1) ? ZB__ALL : request->span;
    request->offset = form & 8 ? 10 : 0;
    request->length = form & 16 ? 64 : 1;
    request->any_encoding = form & 32;
    request->most = form & 64 ? MOST : 20;
    *pin = pinned;
    request->pin = form & 128 ? pin : NULL;
}

static void take_head(zb__request *request, const uint8_t *head, size_t size) {
    while (size) {
        const uint8_t *end = memchr(head, '\n', size);
        const size_t length = end ? (size_t)(end - head) + 1 : size;
        if (!zb__reply_line(&request->reply, (const char *)head, length))
            break;
        head += length;
        size -= length;
    }
    REQUIRE(request->reply.lines <= ZB__HEAD_LINES + 1);
}

/* Returns whether the body was taken to its end. */
static bool take_body(zb__request *request, const uint8_t *body, size_t size) {
    while (size) {
        const size_t piece = size < 7 ? size : 7;
        if (!zb__body_take(request, body, piece))
            return false;
        body += piece;
        size -= piece;
    }
    return true;
}

static void check_outgoing(zb__request *request) {
    zb__outgoing out = {.url = NULL};
    zb_error err;
    REQUIRE_OK(zb__request_address(request, &out, &err), err);
    for (size_t i = 0; i < out.header_count; i++)
        REQUIRE(!strpbrk(out.headers[i], "\r\n"));
    zb__outgoing_clear(&out);
}

static void check_answer(const zb__request *request, const zb__version *pin) {
    if (request->code) {
        fuzz_check_error(request->code, &request->error);
        return;
    }
    REQUIRE(!request->room || request->got < request->room);
    REQUIRE(request->span == ZB__ALL || request->got <= request->length);
    REQUIRE(request->span != ZB__ALL || request->got <= request->most);
    REQUIRE(request->method != ZB__GET || request->got <= request->size);
    if (request->pin && request->method == ZB__GET && request->reply.status != 206)
        REQUIRE(request->size == pin->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    zb__remote store = {.protocol = &protocol,
                        .take_buffer = malloc,
                        .base = {.label = (char *)"https://host/x.zarr"}};
    zb__request request = {.store = &store, .key = "k"};
    zb__version pin;
    if (!size)
        return 0;
    choose(&request, *data++, &pin);
    size--;
    size_t head_size = 0, body_size = 0;
    for (int i = 0; i < 3; i++) { /* as many tries */
        const uint8_t *head = fuzz_next(&data, &size, &head_size);
        const uint8_t *body = fuzz_next(&data, &size, &body_size);
        zb__request_begin(&request);
        check_outgoing(&request);
        if (head)
            take_head(&request, head, head_size);
        const bool whole = !body || take_body(&request, body, body_size);
        const enum zb__next next =
            zb__request_end(&request, whole ? NULL : "Failed writing received data", !whole);
        if (next == ZB__DONE) {
            check_answer(&request, &pin);
            break;
        }
    }
    free(request.buffer);
    zb__request_clear(&request);
    return 0;
}
