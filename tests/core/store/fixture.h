/* SPDX-License-Identifier: MIT */
/* The fixture of the directory store's tests: a store, a place outside of it, and a look at the
   files. */
#ifndef ZB_TEST_STORE_FIXTURE_H
#define ZB_TEST_STORE_FIXTURE_H

#include "support/check.h"
#include "zarrbridge/sys/hierarchy.h"

typedef struct fixture {
    char *root, *outside;    /* directories */
    zb_hierarchy *hierarchy; /* on root */
    zb_store *store;         /* the hierarchy's */
} fixture;

int fixture_set_up(void **state);
int fixture_tear_down(void **state);
/* Opens both again, after the hierarchy was released. */
void fixture_open(fixture *f);
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

void fixture_link(const fixture *f, const char *target, const char *key);

/* The ways to put an object: see zb_put. */
enum fixture_way {
    PUT_LATER,    /* ZB_SYNC_NONE */
    PUT_IN_ORDER, /* ZB_SYNC_NONE, in order */
    PUT_WAITS,    /* ZB_SYNC_CLOSE, waiting for a flush */
    PUT_HELD,     /* ZB_SYNC_CLOSE, visible at once */
    PUT_NOW       /* ZB_SYNC_ALWAYS */
};

/* Objects as text. */
enum zb_code fixture_put_as(zb_store *store, zb_batch *batch, const char *key, const char *text,
                            enum fixture_way way, zb_error *err);
enum zb_code fixture_put(zb_store *store, const char *key, const char *text, enum fixture_way way,
                         zb_error *err);
void fixture_must_put(zb_store *store, const char *key, const char *text, enum fixture_way way);
enum zb_code fixture_get(zb_store *store, const char *key, char **data, zb_error *err);
void assert_holds(zb_store *store, const char *key, const char *expected); /* NULL: no object */

/* Files of any kind below a directory, ours among them; *ours (or NULL) counts those. */
int fixture_files(const char *root, int *ours);

#endif
