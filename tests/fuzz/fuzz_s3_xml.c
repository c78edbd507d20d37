/* SPDX-License-Identifier: MIT */
/* Any bytes as what S3 and Azure say in XML: an error's body, pages of listings and of uploads, and
   single values. */
#include "fuzz.h"

#include "xml.h"

static void check_word(const char *text, size_t room) {
    REQUIRE(strlen(text) < room);
    for (; *text; text++)
        REQUIRE(*text > ' ' && *text < 127 && !strchr("/@:?#<>", *text));
}

static enum zb_code take(void *context, const zb__entry *entry, zb_error *err) {
    size_t *left = context;
    REQUIRE(strlen(entry->key) <= 4096 && strlen(entry->etag) < 130);
    if (entry->is_prefix && *left == 0)
        return zb_fail(err, ZB_ELIMIT, "enough");
    *left -= *left > 0;
    return ZB_OK;
}

static enum zb_code take_upload(void *context, const zb__s3_begun *upload, zb_error *err) {
    size_t *left = context;
    REQUIRE(strlen(upload->key) < sizeof upload->key && strlen(upload->id) < sizeof upload->id &&
            strlen(upload->begun) < sizeof upload->begun);
    if (*left == 0)
        return zb_fail(err, ZB_ELIMIT, "enough");
    --*left;
    return ZB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    zb__s3_error error;
    zb_error err;
    bool is_truncated = false;
    size_t left;
    zb__s3_error_parse((const char *)data, size, &error);
    check_word(error.code, sizeof error.code);
    check_word(error.region, sizeof error.region);
    const zb__page_words *const services[] = {&zb__page_of_s3, &zb__page_of_azure};
    for (size_t i = 0; i < 2; i++) {
        char marker[ZB__MARKER] = "";
        bool goes_on = false;
        left = size ? data[0] : 0;
        const enum zb_code code = zb__page_parse(services[i], (const char *)data, size, take, &left,
                                                 marker, &goes_on, &err);
        fuzz_check_error(code, &err);
        REQUIRE(strlen(marker) < sizeof marker && (!*marker || i));
    }
    size_t uploads = size ? data[0] : 0;
    const enum zb_code listed =
        zb__s3_uploads_parse((const char *)data, size, take_upload, &uploads, &is_truncated, &err);
    fuzz_check_error(listed, &err);
    char id[ZB__S3_UPLOAD_ID];
    if (zb__s3_value_parse((const char *)data, size, "InitiateMultipartUploadResult", "UploadId",
                           id, sizeof id))
        REQUIRE(*id && strlen(id) < sizeof id);
    return 0;
}
