/* SPDX-License-Identifier: MIT */
/* How far the locks of a file system reach, by its kind and its options. */
#include <linux/magic.h>
#include <sys/sysmacros.h>

#include "store/fixture.h"
#include "store/fs_store.h"

static void reaches_are_told_apart(void **state) {
    static const struct {
        unsigned type;
        const char *options;
        enum zb__fs_reach reach;
    } rows[] = {
        {EXT4_SUPER_MAGIC, "rw", ZB__FS_LOCAL},
        {TMPFS_MAGIC, "rw,nolock", ZB__FS_LOCAL},
        {OVERLAYFS_SUPER_MAGIC, NULL, ZB__FS_LOCAL},
        {NFS_SUPER_MAGIC, "rw,vers=4.2,local_lock=none,addr=10.9.0.1", ZB__FS_SHARED},
        {NFS_SUPER_MAGIC, "rw,vers=3,local_lock=flock", ZB__FS_SHARED},
        {NFS_SUPER_MAGIC, "rw,vers=3,local_lock=all", ZB__FS_NODE},
        {NFS_SUPER_MAGIC, "rw,local_lock=posix,vers=3", ZB__FS_NODE},
        {NFS_SUPER_MAGIC, "nolock", ZB__FS_NODE},
        {NFS_SUPER_MAGIC, "rw,nolocks,xnolock", ZB__FS_SHARED},
        {NFS_SUPER_MAGIC, NULL, ZB__FS_SHARED},
        {NFS_SUPER_MAGIC, "", ZB__FS_SHARED},
        {NFS_SUPER_MAGIC, ",,,nolock,", ZB__FS_NODE},
        {0x0bd00bd0, "rw,flock,lazystatfs", ZB__FS_SHARED},
        {0x0bd00bd0, "rw,localflock,lazystatfs", ZB__FS_NODE},
        {0x0bd00bd0, "rw,lazystatfs", ZB__FS_SHARED}, /* a lock is refused there */
        {0x47504653, "rw", ZB__FS_SHARED},
        {0x00c36400, "rw", ZB__FS_SHARED},
        {0x01161970, "rw", ZB__FS_SHARED},
        {0x19830326, "rw,cfgFile=/etc/beegfs/beegfs-client.conf", ZB__FS_NODE},
        {FUSE_SUPER_MAGIC, "rw", ZB__FS_NODE},
        {0xff534d42, "rw", ZB__FS_NODE}, /* SMB */
        {0, "rw", ZB__FS_NODE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(zb__fs_reach_of(rows[i].type, rows[i].options), rows[i].reach);
}

static void beegfs_says_it_in_its_configuration(void **state) {
    static const struct {
        const char *text;
        bool is_shared;
    } rows[] = {
        {"tuneUseGlobalFileLocks = true\n", true},
        {"# locks\n\n\ttuneuseglobalfilelocks=YES \r\nlogLevel = 3", true},
        {"tuneUseGlobalFileLocks=1", true},
        {"tuneUseGlobalFileLocks = false\ntuneUseGlobalFileLocks = on\n", true},
        {"tuneUseGlobalFileLocks = on\ntuneUseGlobalFileLocks = false\n", false},
        {"tuneUseGlobalFileLocks = true # here\n", false},
        {"#tuneUseGlobalFileLocks = true\n", false},
        {"tuneUseGlobalFileLocks\n = true\n", false},
        {"tuneUseGlobalFileLocks =\n", false},
        {"tuneUseGlobalFileLocks = \ntrue", false},
        {"tuneUseGlobalFileLocks = truer\n", false},
        {"tuneUseGlobalAppendLocks = true\n", false},
        {"xtuneUseGlobalFileLocks = true\n", false},
        {"= true\n==\n=\n", false},
        {"\n\n", false},
        {"", false},
    };
    (void)state;
    char *root = check_new_directory(), options[1024], *large = malloc(70000);
    snprintf(options, sizeof options, "rw,cfgFile=%s/beegfs.conf,_netdev", root);
    assert_int_equal(zb__fs_reach_of(0x19830326, options), ZB__FS_NODE); /* no file */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_write_file(root, "beegfs.conf", rows[i].text, strlen(rows[i].text));
        assert_int_equal(zb__fs_reach_of(0x19830326, options),
                         rows[i].is_shared ? ZB__FS_SHARED : ZB__FS_NODE);
    }
    check_write_file(root, "beegfs.conf", "\0tune\0\ntuneUseGlobalFileLocks = true\n\0", 39);
    assert_int_equal(zb__fs_reach_of(0x19830326, options), ZB__FS_SHARED);
    memset(large, '\n', 70000);
    memcpy(large, rows[0].text, strlen(rows[0].text));
    check_write_file(root, "beegfs.conf", large, 65536);
    assert_int_equal(zb__fs_reach_of(0x19830326, options), ZB__FS_SHARED);
    check_write_file(root, "beegfs.conf", large, 65537);
    assert_int_equal(zb__fs_reach_of(0x19830326, options), ZB__FS_NODE);
    free(large);
    snprintf(options, sizeof options, "cfgFile=%s", root); /* no file, but there */
    assert_int_equal(zb__fs_reach_of(0x19830326, options), ZB__FS_NODE);
    assert_int_equal(zb__fs_reach_of(0x19830326, "cfgFile="), ZB__FS_NODE);
    assert_int_equal(zb__fs_reach_of(0x19830326, "cfgFile=beegfs.conf"), ZB__FS_NODE);
    assert_int_equal(zb__fs_reach_of(0x19830326, NULL), ZB__FS_NODE);
    check_remove_directory(root);
}

static void options_are_found_by_the_device(void **state) {
    static const struct {
        const char *line, *options;
    } rows[] = {
        {"36 35 0:51 / /mnt/n rw,noatime shared:1 - nfs4 10.9.0.1:/ rw,vers=4.2", "rw,vers=4.2"},
        {"36 35 0:51 / /mnt rw - nfs4 a:/ rw", "rw"},
        {"36 35 0:51 / /a\\040-\\040b rw master:2 propagate_from:1 - nfs a:/b\\040c rw,nolock",
         "rw,nolock"},
        {"36 35 0:52 / /mnt rw - nfs4 a:/ rw", NULL}, /* another device */
        {"36 35 1:51 / /mnt rw - nfs4 a:/ rw", NULL},
        {"", NULL},
        {"36", NULL},
        {"36 35 0:51", NULL},
        {"36 35 0:51 / /mnt rw", NULL},
        {"36 35 0:51 / /mnt rw - ", NULL},
        {"36 35 0:51 / /mnt rw - nfs4", NULL},
        {"36 35 0:51 / /mnt rw - nfs4 a:/", NULL},
        {"36 35 0:51 / /mnt rw - nfs4 a:/ ", NULL},
        {"36 35 0:51 / /mnt rw - nfs4 a:/ rw more", NULL},
        {"x 35 0:51 / /mnt rw - nfs4 a:/ rw", NULL},
        {"36 35 0-51 / /mnt rw - nfs4 a:/ rw", NULL},
        {"36 35 99999999999999999999:51 / /mnt rw - nfs4 a:/ rw", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *options = zb__fs_mount_options(rows[i].line, makedev(0, 51));
        if (rows[i].options)
            assert_string_equal(options, rows[i].options);
        else
            assert_null(options);
    }
}

/* The variable, for which a store is opened in a child. */
static void open_stated(void *context) {
    static const struct {
        const char *word;
        enum zb__fs_reach reach;
    } rows[] = {{"none", ZB__FS_LOCAL},
                {"local", ZB__FS_LOCAL},
                {"node", ZB__FS_NODE},
                {"shared", ZB__FS_SHARED},
                {"what", ZB__FS_LOCAL}};
    const char *word = getenv("ZARRBRIDGE_LOCKS");
    zb_store *store;
    zb_error err;
    CHILD_CHECK(zb_store_open_fs(context, &store, &err) == ZB_OK, "%s", err.message);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].word, word) == 0)
            CHILD_CHECK(((zb__fs *)store)->reach == rows[i].reach, "%s", word);
    }
    zb_store_release(store);
}

static void users_know_better(void **state) {
    static const char *const words[] = {"none", "local", "node", "shared", "what"};
    (void)state;
    char *root = check_new_directory(); /* on a local file system */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_true(check_in_child(open_stated, root, "ZARRBRIDGE_LOCKS", words[i]));
    check_remove_directory(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_know_better), /* before this process reads the environment */
        cmocka_unit_test(reaches_are_told_apart),
        cmocka_unit_test(beegfs_says_it_in_its_configuration),
        cmocka_unit_test(options_are_found_by_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
