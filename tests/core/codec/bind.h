/* SPDX-License-Identifier: MIT */
/* Chains and forms from JSON text, for the tests of chains and shards. */
#ifndef ZB_TEST_CODEC_BIND_H
#define ZB_TEST_CODEC_BIND_H

#include "codec/form.h"
#include "support/check.h"

static const zb_dtype uint8_type = {.kind = ZB_KIND_UINT, .size = 1};
static const zb_dtype int16_type = {.kind = ZB_KIND_INT, .size = 2};

static inline enum zb_code bind_chain(const char *codecs, zb_dtype dtype, uint32_t ndim,
                                      zb__chain **out, zb_error *err) {
    zb_json *json;
    ASSERT_OK(zb_json_parse(codecs, strlen(codecs), &json, err), *err);
    const zb__binding binding = {.ndim = ndim, .dtype = dtype};
    enum zb_code code = zb__chain_bind(json, &binding, out, err);
    zb_json_free(json); /* a bound chain does not need it any more */
    return code;
}

/* Frees a form and its chain. */
static inline void free_form(const zb__form *form) {
    zb__chain *chain = (zb__chain *)form->chain;
    zb__form_release(form);
    zb__chain_free(chain);
}

/* The form of one shape, with a chain of its own. */
static inline enum zb_code bind_text(const char *codecs, zb_dtype dtype, uint32_t ndim,
                                     const uint64_t *shape, const zb__form **out, zb_error *err) {
    zb__chain *chain;
    enum zb_code code = bind_chain(codecs, dtype, ndim, &chain, err);
    if (code)
        return code;
    code = zb__chain_form(chain, shape, out, err);
    if (code)
        zb__chain_free(chain);
    return code;
}

/* The form of chunks of shape 6 x 4, or of a shape of one's own. */
static inline const zb__form *bind_shape(const char *codecs, zb_dtype dtype, uint32_t ndim,
                                         const uint64_t *shape) {
    zb_error err;
    const zb__form *form;
    if (bind_text(codecs, dtype, ndim, shape, &form, &err))
        fail_msg("%s: %s", codecs, err.message);
    return form;
}

static inline const zb__form *bind_6x4(const char *codecs, zb_dtype dtype) {
    return bind_shape(codecs, dtype, 2, (const uint64_t[]){6, 4});
}

static inline void assert_refused(const char *codecs, enum zb_code code, const char *text) {
    zb_error err;
    const zb__form *form;
    ASSERT_FAILS(bind_text(codecs, int16_type, 2, (const uint64_t[]){6, 4}, &form, &err), code, err,
                 text);
}

#endif
