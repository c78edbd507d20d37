/* SPDX-License-Identifier: MIT */
/* The XML of S3. */
#include "xml.h"
#include "support/check.h"

static zb__s3_error error_of(const char *text) {
    zb__s3_error e;
    zb__s3_error_parse(text, strlen(text), &e);
    return e;
}

static void errors(void **state) {
    (void)state;
    zb__s3_error e =
        error_of("<?xml version=\"1.0\"?>\n<Error><Code>SlowDown</Code><Message>x</Message>"
                 "<Region>eu-west-1</Region></Error>");
    assert_string_equal(e.code, "SlowDown");
    assert_string_equal(e.region, "eu-west-1");
    e = error_of(
        "<ErrorResponse xmlns='u'><Error><Code>InvalidToken</Code></Error></ErrorResponse>");
    assert_string_equal(e.code, "InvalidToken");
    e = error_of("<Error><Code>NoSuchKey</Code><Message>the body is cu");
    assert_string_equal(e.code, "NoSuchKey");
    static const char *const none[] = {
        "",
        "no",
        "<html><Code>x</Code></html>",
        "<Error><Code>a&#10;b</Code></Error>",
        "<Error><Code>a b</Code></Error>",
        "<Error><Detail><Code>x</Code></Detail></Error>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><Error><Code>&a;</Code></Error>",
        "<Error><Code>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</Code></"
        "Error>"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_string_equal(error_of(none[i]).code, "");
}

/* Entries in one text, with a mark behind prefixes, and ETags. */
static enum zb_code note(void *context, const zb__entry *entry, zb_error *err) {
    if (strcmp(entry->key, "stop") == 0)
        return zb_fail(err, ZB_EFORMAT, "stopped");
    strcat(strcat(strcat(context, entry->key), entry->etag), entry->is_prefix ? "* " : " ");
    return ZB_OK;
}

static enum zb_code page(const char *text, char *found, bool *more, zb_error *err) {
    char marker[ZB__MARKER] = "last";
    *found = '\0';
    const enum zb_code code =
        zb__page_parse(&zb__page_of_s3, text, strlen(text), note, found, marker, more, err);
    assert_string_equal(marker, "last");
    return code;
}

#define HEAD "<ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><Name>b</Name>"
#define END "</ListBucketResult>"

static void pages(void **state) {
    (void)state;
    zb_error err;
    char found[256];
    bool more;
    ASSERT_OK(
        page(HEAD "<Prefix>p/</Prefix><IsTruncated>true</IsTruncated><Contents><Key>p/a&amp;b</Key>"
                  "<ETag>&quot;e&quot;</ETag><Owner><Key>no</Key></Owner></Contents><Contents><Key/"
                  "></Contents>"
                  "<CommonPrefixes><Prefix>p/\xc3\xa9/</Prefix></CommonPrefixes>" END,
             found, &more, &err),
        err);
    assert_string_equal(found, "p/a&b\"e\"  p/\xc3\xa9/* ");
    assert_true(more);
    ASSERT_OK(page(HEAD "<IsTruncated>false</IsTruncated>" END, found, &more, &err), err);
    assert_true(!more && !*found);
}

static void pages_that_are_none(void **state) {
    (void)state;
    zb_error err;
    char found[256];
    bool more;
    static const char *const wrong[][2] = {
        {"", "not one of S3"},
        {HEAD END, "not one of S3"},
        {HEAD "<IsTruncated>false</IsTruncated>", "not one of S3"},
        {"<a><IsTruncated>false</IsTruncated></a>", "not one of S3"},
        {"<!DOCTYPE x>" HEAD "<IsTruncated>false</IsTruncated>" END, "document type"},
        {"<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>", "too deep"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ASSERT_FAILS(page(wrong[i][0], found, &more, &err), ZB_EIO, err, wrong[i][1]);
    ASSERT_FAILS(page(HEAD "<Contents><Key>stop</Key></Contents>", found, &more, &err), ZB_EFORMAT,
                 err, "stopped");
    char *text = malloc(8000);
    sprintf(text, "<a>%7000d</a>", 1);
    ASSERT_FAILS(page(text, found, &more, &err), ZB_EIO, err, "too long");
    free(text);
}

#define AZURE_HEAD                                                                                 \
    "<?xml version='1.0'?><EnumerationResults ContainerName='b'><Prefix>p/</Prefix><Blobs>"

static void pages_of_azure(void **state) {
    (void)state;
    zb_error err;
    char found[256] = "", marker[ZB__MARKER] = "";
    bool more;
#define PAGE(text)                                                                                 \
    zb__page_parse(&zb__page_of_azure, text, strlen(text), note, found, marker, &more, &err)
    ASSERT_OK(PAGE(AZURE_HEAD
                   "<Blob><Name>p/a&amp;b</Name><Properties><Etag>0x1</Etag></Properties>"
                   "<Tags><Name>no</Name></Tags></Blob><BlobPrefix><Name>p/d/</Name>"
                   "<Properties><Etag>0x2</Etag></Properties></BlobPrefix><Blob><Name>p/e"
                   "</Name></Blob></Blobs><NextMarker>m/&amp;</NextMarker>"
                   "</EnumerationResults>"),
              err);
    assert_string_equal(found, "p/a&b\"0x1\" p/d/* p/e ");
    assert_string_equal(marker, "m/&");
    assert_true(more);
    ASSERT_OK(PAGE(AZURE_HEAD "</Blobs><NextMarker/></EnumerationResults>"), err);
    assert_string_equal(marker, "");
    assert_false(more);
    static const char *const wrong[][2] = {
        {"", "not one of Azure"},
        {AZURE_HEAD "</Blobs></EnumerationResults>", "not one of Azure"},
        {AZURE_HEAD "</Blobs><NextMarker/>", "not one of Azure"},
        {HEAD "<IsTruncated>false</IsTruncated>" END, "not one of Azure"},
        {AZURE_HEAD "<Blob><Name Encoded='true'>%EF%BF%BE</Name></Blob>", "XML cannot have"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ASSERT_FAILS(PAGE(wrong[i][0]), ZB_EIO, err, wrong[i][1]);
}

static enum zb_code note_upload(void *context, const zb__s3_begun *upload, zb_error *err) {
    if (strcmp(upload->key, "stop") == 0)
        return zb_fail(err, ZB_EFORMAT, "stopped");
    sprintf((char *)context + strlen(context), "%s|%s|%s ", upload->key, upload->id, upload->begun);
    return ZB_OK;
}

static void uploads(void **state) {
    (void)state;
    zb_error err;
    char found[256] = "";
    bool more = false;
#define UPLOADS(text) zb__s3_uploads_parse(text, strlen(text), note_upload, found, &more, &err)
#define ROOT "ListMultipartUploadsResult"
    ASSERT_OK(UPLOADS("<" ROOT
                      " xmlns='u'><IsTruncated>true</IsTruncated><Upload><Key>a&amp;b</Key>"
                      "<UploadId>i</UploadId><Initiator><Key>no</Key></Initiator><Initiated>2026-"
                      "</Initiated></Upload><Upload><Key>c</Key></Upload></" ROOT ">"),
              err);
    assert_string_equal(found, "a&b|i|2026- c|| ");
    assert_true(more);
    ASSERT_OK(UPLOADS("<" ROOT "></" ROOT ">"), err);
    assert_false(more);
    ASSERT_FAILS(UPLOADS("<" ROOT "><Upload><Key>stop</Key></Upload></" ROOT ">"), ZB_EFORMAT, err,
                 "stopped");
    static const char *const wrong[] = {"", "<" ROOT ">", "<a><Upload><Key>x</Key></Upload></a>"};
    *found = '\0';
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ASSERT_FAILS(UPLOADS(wrong[i]), ZB_EIO, err, "not one of S3");
    assert_string_equal(found, "");
}

static void values(void **state) {
    (void)state;
    char out[8];
#define VALUE(text) zb__s3_value_parse(text, strlen(text), "R", "V", out, sizeof out)
    assert_true(VALUE("<?xml version='1.0'?><R xmlns='u'><K>x</K><V>a&amp;b</V></R>"));
    assert_string_equal(out, "a&b");
    assert_true(VALUE("<R><V>1234567</V></R>"));
    assert_true(VALUE("<R><V>first</V><V>second</V></R>"));
    assert_string_equal(out, "first");
    assert_false(VALUE("<R><V>12345678</V></R>"));
    assert_false(VALUE("<R><V></V></R>"));
    assert_false(VALUE("<R><X><V>a</V></X></R>"));
    assert_false(VALUE("<S><V>a</V></S>"));
    assert_false(VALUE("<R><V>a</V>"));
    assert_false(VALUE("<!DOCTYPE R [<!ENTITY a 'b'>]><R><V>&a;</V></R>"));
    assert_false(VALUE(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),
        cmocka_unit_test(pages),
        cmocka_unit_test(pages_that_are_none),
        cmocka_unit_test(pages_of_azure),
        cmocka_unit_test(uploads),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
