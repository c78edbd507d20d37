/* SPDX-License-Identifier: MIT */
/*
 * The directory store: the files that it opens, and above all those that it does not. The tests
 * that resolve paths run twice: with the kernel's openat2, and in a child whose kernel pretends not
 * to have it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/fixture.h"
#include "zarrbridge/sys/store.h"

static void assert_opens_not(zb_store *store, const char *key, enum zb_code code,
                             const char *text) {
    zb_error err;
    zb_object *object = NULL;
    zb_object_info info;
    ASSERT_FAILS(zb_object_open(store, key, &object, &info, &err), code, err, text);
    ASSERT_FAILS(zb_store_stat(store, key, &info, &err), code, err, text);
    assert_null(object);
}

/* ---- Reading ---- */

static void reads_ranges(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_object *object;
    zb_object_info info;
    check_write_file(f->root, "a/b/c", "0123456789", 10);
    ASSERT_OK(zb_object_open(f->store, "a/b/c", &object, &info, &err), err);
    assert_int_equal(info.size, 10);
    static const struct {
        uint64_t offset;
        size_t length;
        const char *expected;
    } rows[] = {{0, 10, "0123456789"},
                {3, 4, "3456"},
                {8, 5, "89"},
                {10, 5, ""},
                {99, 5, ""},
                {UINT64_MAX - 1, 5, ""},
                {ZB_FROM_END, 3, "789"},
                {ZB_FROM_END, 10, "0123456789"},
                {ZB_FROM_END, 15, "0123456789"},
                {ZB_FROM_END, 0, ""},
                {0, 0, ""}};
    enum { COUNT = sizeof rows / sizeof *rows };
    zb_range ranges[COUNT];
    char buffers[COUNT][16];
    memset(buffers, '#', sizeof buffers);
    for (size_t i = 0; i < COUNT; i++)
        ranges[i] = (zb_range){
            .offset = rows[i].offset, .length = rows[i].length, .buffer = buffers[i], .got = 77};
    ASSERT_OK(zb_object_read(object, ranges, COUNT, &err), err);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(ranges[i].got, strlen(rows[i].expected));
        assert_memory_equal(buffers[i], rows[i].expected, ranges[i].got);
        assert_int_equal(buffers[i][rows[i].length], '#'); /* not a byte too many */
    }
    zb_object_close(object);
}

/* A handle pins its version: replacing the key (by rename, as writers do) does not change the bytes
   that it reads. */
static void handles_keep_their_version(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_object *object;
    zb_object_info before, after;
    check_write_file(f->root, "k", "old!", 4);
    ASSERT_OK(zb_object_open(f->store, "k", &object, &before, &err), err);
    check_write_file(f->root, ".tmp", "new!", 4);
    char from[512], to[512];
    snprintf(from, sizeof from, "%s/.tmp", f->root);
    snprintf(to, sizeof to, "%s/k", f->root);
    assert_int_equal(rename(from, to), 0);
    char buffer[5] = "";
    zb_range range = {.length = 4, .buffer = buffer};
    ASSERT_OK(zb_object_read(object, &range, 1, &err), err);
    assert_string_equal(buffer, "old!");
    zb_object_close(object);
    assert_holds(f->store, "k", "new!");
    ASSERT_OK(zb_store_stat(f->store, "k", &after, &err), err);
    assert_true(memcmp(before.validator.word, after.validator.word, sizeof after.validator.word));
}

static void object_that_shrinks_reads_short(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_object *object;
    zb_object_info info;
    check_write_file(f->root, "k", "0123456789", 10);
    ASSERT_OK(zb_object_open(f->store, "k", &object, &info, &err), err);
    char path[512], buffer[10];
    snprintf(path, sizeof path, "%s/k", f->root);
    assert_int_equal(truncate(path, 4), 0);
    zb_range range = {.offset = 2, .length = 8, .buffer = buffer};
    ASSERT_OK(zb_object_read(object, &range, 1, &err), err);
    assert_int_equal(range.got, 2);
    zb_object_close(object);
}

/* Root may read everything: the child becomes another user first. */
static void read_without_permission(void *context) {
    const fixture *f = context;
    zb_error err = {.code = ZB_OK};
    char *data;
    if (geteuid() == 0 && seteuid(65534) != 0) {
        printf("skipped: root cannot become another user here (errno %d)\n", errno);
        return;
    }
    CHILD_CHECK(fixture_get(f->store, "k", &data, &err) == ZB_EIO, "%s", err.message);
    CHILD_CHECK(err.sys_errno == EACCES && strstr(err.message, "'k'"), "%s", err.message);
}

static void unreadable_files_fail_with_errno(void **state) {
    fixture *f = *state;
    check_write_file(f->root, "k", "x", 1);
    char path[512];
    snprintf(path, sizeof path, "%s/k", f->root);
    assert_int_equal(chmod(path, 0), 0);
    assert_true(check_in_child(read_without_permission, f, NULL, NULL));
}

static void whole_objects_are_bounded(void **state) {
    fixture *f = *state;
    zb_error err;
    char *data, text[1001];
    memset(text, 'x', sizeof text);
    check_write_file(f->root, "k", text, 1000);
    check_write_file(f->root, "large", text, 1001);
    check_write_file(f->root, "empty", text, 0);
    assert_holds(f->store, "empty", "");
    ASSERT_OK(fixture_get(f->store, "k", &data, &err), err);
    assert_int_equal(strlen(data), 1000);
    free(data);
    ASSERT_FAILS(fixture_get(f->store, "large", &data, &err), ZB_ELIMIT, err, "document_bytes");
    ASSERT_FAILS(fixture_get(f->store, "none", &data, &err), ZB_ENOTFOUND, err, "'none'");
}

/* ---- Allowed keys ---- */

static void hostile_keys_are_refused(void **state) {
    fixture *f = *state;
    check_write_file(f->outside, "secret", "s", 1);
    char escape[512], absolute[512];
    snprintf(escape, sizeof escape, "../%s/secret", strrchr(f->outside, '/') + 1);
    snprintf(absolute, sizeof absolute, "%s/secret", f->outside);
    const char *const keys[] = {"",     "/",  ".",  "..",   "../x", "a/../b", "a/./b",
                                "a//b", "/a", "a/", "a/..", "./a",  escape,   absolute};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_opens_not(f->store, keys[i], ZB_EINVAL, keys[i]);
        zb_error err;
        if (*keys[i])
            ASSERT_FAILS(zb_store_list(f->store, keys[i], NULL, NULL, &err), ZB_EINVAL, err, "key");
    }
    /* Odd but harmless: three dots, a space, a newline, bytes that are not UTF-8. */
    const char *const fine[] = {"...", "..a", "a..", " ", "a\nb", "\xff\xfe"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        assert_opens_not(f->store, fine[i], ZB_ENOTFOUND, "cannot");
        check_write_file(f->root, fine[i], "ok", 2);
        assert_holds(f->store, fine[i], "ok");
    }
    char longest[300];
    memset(longest, 'n', sizeof longest);
    longest[299] = '\0';
    assert_opens_not(f->store, longest, ZB_EIO, "cannot");
}

static void only_regular_files_are_objects(void **state) {
    fixture *f = *state;
    char path[512];
    check_write_file(f->root, "dir/file", "x", 1);
    snprintf(path, sizeof path, "%s/fifo", f->root);
    assert_int_equal(mkfifo(path, 0666), 0);
    alarm(300); /* a FIFO without a writer must not block */
    assert_opens_not(f->store, "fifo", ZB_EINVAL, "not a regular file");
    alarm(0);
    assert_opens_not(f->store, "dir", ZB_EINVAL, "directory");
    assert_opens_not(f->store, "dir/file/below", ZB_ENOTFOUND, "cannot");
    assert_opens_not(f->store, "none", ZB_ENOTFOUND, "none");
    zb_error err;
    zb_store *store = NULL;
    snprintf(path, sizeof path, "%s/dir/file", f->root);
    ASSERT_FAILS(zb_store_open_fs(path, &store, &err), ZB_ENOTFOUND, err, path);
    ASSERT_FAILS(zb_store_open_fs("/no/such/place", &store, &err), ZB_ENOTFOUND, err, "/no/such");
    assert_null(store);
}

/* ---- Symbolic links ---- */

static void make_links(const fixture *f) {
    char target[512];
    check_write_file(f->outside, "secret", "s", 1);
    check_write_file(f->outside, "c/0", "s", 1);
    check_write_file(f->root, "in/real", "inside", 6);
    fixture_link(f, "in/real", "to_file");
    fixture_link(f, "in", "to_dir");
    fixture_link(f, "../in/real", "in/up_and_in");
    snprintf(target, sizeof target, "%s/secret", f->outside);
    fixture_link(f, target, "absolute");
    snprintf(target, sizeof target, "../%s/secret", strrchr(f->outside, '/') + 1);
    fixture_link(f, target, "relative");
    fixture_link(f, f->outside, "outside");
    fixture_link(f, "loop", "loop");
    fixture_link(f, "in/nothing", "dangling");
    fixture_link(f, "/proc/self/root", "magic");
}

static void links_inside_work_and_others_do_not(void **state) {
    fixture *f = *state;
    make_links(f);
    assert_holds(f->store, "to_file", "inside");
    assert_holds(f->store, "to_dir/real", "inside");
    assert_holds(f->store, "in/up_and_in", "inside");
    static const char *const leading_out[] = {"absolute",    "relative",         "outside/secret",
                                              "outside/c/0", "magic/etc/passwd", "loop"};
    for (size_t i = 0; i < sizeof leading_out / sizeof *leading_out; i++)
        assert_opens_not(f->store, leading_out[i], ZB_EINVAL, "symbolic link");
    assert_opens_not(f->store, "dangling", ZB_EINVAL, "cannot be followed");
}

static int count_prefixes(void *context, const zb_list_entry *entry) {
    ((int *)context)[0] += entry->is_prefix;
    ((int *)context)[1] += entry->is_link;
    ((int *)context)[2] += entry->leads_back;
    return 0;
}

/* Links that lead back up are not prefixes: no walk goes in circles. */
static void circles_are_cut(void **state) {
    fixture *f = *state;
    zb_error err;
    check_write_file(f->root, "a/b/k", "1", 1);
    check_write_file(f->root, "c/k", "1", 1);
    fixture_link(f, ".", "a/b/self");
    fixture_link(f, "..", "a/b/parent");
    fixture_link(f, "../../c", "a/b/aside");
    fixture_link(f, "../a", "c/back");
    static const struct {
        const char *prefix;
        int prefixes, links, back;
    } rows[] = {{"a/b", 1, 3, 2},       {"a", 1, 0, 0},      {"c", 1, 1, 0},
                {"a/b/aside", 0, 1, 1}, {"c/back", 1, 0, 0}, {"c/back/b", 0, 3, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int counts[3] = {0};
        ASSERT_OK(zb_store_list(f->store, rows[i].prefix, count_prefixes, counts, &err), err);
        assert_int_equal(counts[0], rows[i].prefixes);
        assert_int_equal(counts[1], rows[i].links);
        assert_int_equal(counts[2], rows[i].back);
    }
}

/* An object behind a link to nothing cannot be reached, which is not the same as absent. */
static void dangling_links_are_errors(void **state) {
    fixture *f = *state;
    zb_object *object;
    zb_object_info info;
    zb_error err;
    check_write_file(f->root, "a/k", "1", 1);
    fixture_link(f, "gone", "a/last");
    fixture_link(f, "../elsewhere", "a/c");
    static const char *const keys[] = {"a/last", "a/c/0/0", "a/c"};
    for (int i = 0; i < 3; i++) {
        ASSERT_FAILS(zb_object_open(f->store, keys[i], &object, &info, &err), ZB_EINVAL, err,
                     "symbolic link");
        ASSERT_FAILS(zb_store_stat(f->store, keys[i], &info, &err), ZB_EINVAL, err,
                     "symbolic link");
    }
    fixture_link(f, "a", "fine");
    ASSERT_FAILS(zb_object_open(f->store, "fine/none", &object, &info, &err), ZB_ENOTFOUND, err,
                 "none");
}

/* Nothing is there for sure only where no link is on the way, and no file in it. */
static void absent_is_what_no_link_leads_to(void **state) {
    fixture *f = *state;
    check_write_file(f->root, "a/k", "1", 1);
    fixture_link(f, "gone", "dangling");
    fixture_link(f, "a", "to_a");
    static const struct {
        const char *prefix;
        bool absent;
    } rows[] = {{"", false},       {"a", false},    {"a/k", false},       {"a/k/x", false},
                {"a/x", true},     {"x/y/z", true}, {"dangling", false},  {"to_a", false},
                {"to_a/x", false}, {"../x", false}, {"dangling/x", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (zb_store_is_absent(f->store, rows[i].prefix) != rows[i].absent)
            fail_msg("%s", rows[i].prefix);
    }
}

/* ---- Listing ---- */

static zb_object_info peeked;

static enum zb_code peek(zb_store *store, const char *key, zb_error *err) {
    zb_probe probe = {.asks = ZB_ASK_INFO_AGAIN, .name = key};
    enum zb_code code = zb_store_probe(store, &probe, err);
    peeked = probe.info;
    return code;
}

static void assert_peeks_as_stat(zb_store *store, const char *key) {
    zb_error err;
    zb_object_info told;
    ASSERT_OK(zb_store_stat(store, key, &told, &err), err);
    ASSERT_OK(peek(store, key, &err), err);
    assert_memory_equal(told.validator.word, peeked.validator.word, sizeof told.validator.word);
    assert_int_equal(told.size, peeked.size);
}

/* An object that waits for a flush is seen, and what is no object is an error as ever. */
static void peeks_tell_what_stat_tells(void **state) {
    fixture *f = *state;
    zb_error err;
    fixture_must_put(f->store, "a/k", "one", PUT_NOW);
    assert_peeks_as_stat(f->store, "a/k");
    fixture_must_put(f->store, "a/k", "waits", PUT_WAITS);
    assert_peeks_as_stat(f->store, "a/k");
    assert_int_equal(peeked.size, 5);
    ASSERT_FAILS(peek(f->store, "a/none", &err), ZB_ENOTFOUND, err, "a/none");
    ASSERT_FAILS(peek(f->store, "a", &err), ZB_EINVAL, err, "directory");
    ASSERT_FAILS(peek(f->store, "../x", &err), ZB_EINVAL, err, "..");
}

typedef struct names {
    char text[400]; /* "name " or "name/ " each, as listed */
    int count, stop_after;
} names;

static int add_name(void *context, const zb_list_entry *entry) {
    names *n = context;
    strcat(n->text, entry->name);
    strcat(n->text, entry->is_prefix ? "/ " : " ");
    return ++n->count == n->stop_after;
}

static void lists_names(void **state) {
    fixture *f = *state;
    zb_error err;
    make_links(f);
    check_write_file(f->root, ".zarr.json.0123456789abcdef.0123456789abcdef.zb-tmp", "x", 1);
    check_write_file(f->root, ".0.zb-lock", "", 0);
    names n = {0};
    ASSERT_OK(zb_store_list(f->store, "", add_name, &n, &err), err);
    assert_int_equal(n.count, 9); /* names of ours are hidden */
    assert_non_null(strstr(n.text, "in/ "));
    assert_non_null(strstr(n.text, "to_dir/ "));
    assert_non_null(strstr(n.text, "to_file "));
    assert_non_null(strstr(n.text, "outside ")); /* leads out: not a prefix of this store */
    assert_null(strstr(n.text, "./ "));
    n = (names){0};
    ASSERT_OK(zb_store_list(f->store, "to_dir", add_name, &n, &err), err);
    assert_non_null(strstr(n.text, "real "));
    assert_int_equal(n.count, 2);
    n = (names){.stop_after = 2};
    ASSERT_OK(zb_store_list(f->store, "", add_name, &n, &err), err);
    assert_int_equal(n.count, 2);
    n = (names){0};
    ASSERT_OK(zb_store_list(f->store, "nothing/here", add_name, &n, &err), err);
    ASSERT_OK(zb_store_list(f->store, "in/real", add_name, &n, &err), err);
    assert_int_equal(n.count, 0);
    ASSERT_FAILS(zb_store_list(f->store, "outside", add_name, &n, &err), ZB_EINVAL, err, "link");
}

/* ---- Kernels without openat2 ---- */

/* From now on openat2 fails with ENOSYS in this process. False where a process may not filter its
   own system calls. */
static bool forget_openat2(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
    CHILD_CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "errno %d", errno);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        printf("skipped: no filter of system calls here (errno %d)\n", errno);
        return false;
    }
    CHILD_CHECK(syscall(SYS_openat2, -1, "", NULL, 0) == -1 && errno == ENOSYS, "errno %d", errno);
    return true;
}

static enum zb_code code_of_open(zb_store *store, const char *key) {
    zb_object *object = NULL;
    zb_object_info info;
    zb_error err = {.code = ZB_OK};
    enum zb_code code = zb_object_open(store, key, &object, &info, &err);
    enum zb_code stat = zb_store_stat(store, key, &info, &err);
    CHILD_CHECK(code == stat, "open and stat of %s differ: %s %s", key, zb_code_name(code),
                zb_code_name(stat));
    zb_object_close(object);
    return code;
}

/* Without it no link is followed at all. That is an error, never "not found": a chunk that cannot
   be reached would read as fill values. */
static void without_openat2(void *context) {
    const fixture *f = context;
    if (!forget_openat2())
        return;
    static const struct {
        const char *key;
        enum zb_code code;
    } rows[] = {{"in/real", ZB_OK},          {"in", ZB_EINVAL},
                {"none", ZB_ENOTFOUND},      {"in/none/x", ZB_ENOTFOUND},
                {"in/real/x", ZB_ENOTFOUND}, {"to_file", ZB_EINVAL},
                {"to_dir/real", ZB_EINVAL},  {"outside/secret", ZB_EINVAL},
                {"outside/c/0", ZB_EINVAL},  {"absolute", ZB_EINVAL},
                {"relative", ZB_EINVAL},     {"magic/etc/passwd", ZB_EINVAL},
                {"loop", ZB_EINVAL},         {"../x", ZB_EINVAL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum zb_code code = code_of_open(f->store, rows[i].key);
        CHILD_CHECK(code == rows[i].code, "%s gave %s, expected %s", rows[i].key,
                    zb_code_name(code), zb_code_name(rows[i].code));
    }
    names n = {0};
    CHILD_CHECK(zb_store_list(f->store, "", add_name, &n, NULL) == ZB_OK && n.count == 9, "%d",
                n.count);
    CHILD_CHECK(zb_store_list(f->store, "to_dir", add_name, &n, NULL) == ZB_EINVAL, "followed");
}

static void walks_where_openat2_is_missing(void **state) {
    make_links(*state);
    assert_true(check_in_child(without_openat2, *state, NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(reads_ranges),
        FIXTURE_TEST(handles_keep_their_version),
        FIXTURE_TEST(object_that_shrinks_reads_short),
        FIXTURE_TEST(unreadable_files_fail_with_errno),
        FIXTURE_TEST(whole_objects_are_bounded),
        FIXTURE_TEST(hostile_keys_are_refused),
        FIXTURE_TEST(only_regular_files_are_objects),
        FIXTURE_TEST(links_inside_work_and_others_do_not),
        FIXTURE_TEST(peeks_tell_what_stat_tells),
        FIXTURE_TEST(lists_names),
        FIXTURE_TEST(walks_where_openat2_is_missing),
        FIXTURE_TEST(circles_are_cut),
        FIXTURE_TEST(dangling_links_are_errors),
        FIXTURE_TEST(absent_is_what_no_link_leads_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
