/* SPDX-License-Identifier: MIT */
/*
 * The HDF5 connector, as HDF5 loads it: a text of options, then keys and contents of a store in
 * turn; separated by bytes 255. The store is opened as an HDF5 file, and everything in it asked
 * for. HDF5's own checks, and the sanitizers, judge the answers.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <H5VLconnector_passthru.h>
#include <hdf5.h>

#define READ_MAX 65536 /* elements, or bytes of an element */
#define KEYS_MAX 12

static char root[64];
static hid_t connector;

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    return at->level > 0 ? remove(path) : 0;
}

static void empty_root(void) {
    nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_root(void) {
    empty_root();
    rmdir(root);
}

static void start(void) {
    const char *tmp = getenv("TMPDIR");
    if (*root)
        return;
    REQUIRE(snprintf(root, sizeof root, "%s/zb-fuzz-XXXXXX", tmp ? tmp : "/tmp") <
            (int)sizeof root);
    REQUIRE(mkdtemp(root));
    atexit(remove_root);
    REQUIRE(setenv("HDF5_PLUGIN_PATH", ZB_PLUGIN_DIR, 1) == 0);
    REQUIRE(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0);
    connector = H5VLregister_connector_by_name("zarr", H5P_DEFAULT);
    REQUIRE(connector > 0);
}

/* ---- The store ---- */

/* Makes the directories above; no part may lead out, and impossible names are left out. */
static void put(const char *key, const uint8_t *content, size_t size) {
    char path[512];
    if (!*key || *key == '/' || strstr(key, "..") || strstr(key, "//") ||
        snprintf(path, sizeof path, "%s/%s", root, key) >= (int)sizeof path)
        return;
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0)
        return;
    REQUIRE(write(file, content, size) == (ssize_t)size);
    close(file);
}

static void make_store(const uint8_t *data, size_t left) {
    empty_root();
    for (unsigned i = 0; data && i < KEYS_MAX; i++) {
        char *key = fuzz_next_text(&data, &left);
        size_t size = 0;
        const uint8_t *content = fuzz_next(&data, &left, &size);
        if (content)
            put(key, content, size);
        free(key);
    }
}

/* ---- The questions ---- */

/* A buffer for all elements, or NULL when they are too many. */
static void *room_for(hid_t type, hid_t space) {
    hssize_t count = H5Sget_simple_extent_npoints(space);
    size_t size = H5Tget_size(type);
    if (count < 0 || size == 0 || count > READ_MAX || size > READ_MAX ||
        (size_t)count * size > 16 * READ_MAX)
        return NULL;
    return calloc((size_t)count + 1, size);
}

static herr_t ask_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context) {
    (void)info;
    (void)context;
    hid_t attr = H5Aopen(object, name, H5P_DEFAULT);
    if (attr < 0)
        return 0;
    hid_t type = H5Aget_type(attr), space = H5Aget_space(attr);
    REQUIRE(type > 0 && space > 0);
    void *values = room_for(type, space);
    if (values && H5Aread(attr, type, values) >= 0)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, values);
    free(values);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attr);
    return 0;
}

static void ask_dataset(hid_t dataset) {
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hid_t dcpl = H5Dget_create_plist(dataset);
    REQUIRE(type > 0 && space > 0);
    H5Dget_storage_size(dataset);
    unsigned char fill[64];
    hid_t one = H5Screate(H5S_SCALAR);
    if (dcpl > 0 && H5Tget_size(type) <= sizeof fill && H5Pget_fill_value(dcpl, type, fill) >= 0)
        H5Treclaim(type, one, H5P_DEFAULT, fill);
    H5Sclose(one);
    void *values = room_for(type, space);
    if (values && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0)
        H5Treclaim(type, space, H5P_DEFAULT, values);
    free(values);
    if (dcpl > 0)
        H5Pclose(dcpl);
    H5Sclose(space);
    H5Tclose(type);
}

/* The comment, and the list that the object was made with. */
static void ask_making(hid_t object, H5O_type_t type) {
    char comment[64];
    H5Oget_comment(object, comment, sizeof comment);
    hid_t list = type == H5O_TYPE_GROUP            ? H5Gget_create_plist(object)
                 : type == H5O_TYPE_NAMED_DATATYPE ? H5Tget_create_plist(object)
                                                   : H5I_INVALID_HID;
    if (list >= 0)
        H5Pclose(list);
}

static void ask_file(hid_t file) {
    hid_t list = H5Fget_create_plist(file);
    if (list >= 0)
        H5Pclose(list);
}

static herr_t ask_object(hid_t file, const char *name, const H5O_info2_t *info, void *context) {
    hsize_t at = 0;
    (void)context;
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object < 0)
        return 0;
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, ask_attribute, NULL);
    if (info->type == H5O_TYPE_DATASET)
        ask_dataset(object);
    ask_making(object, info->type);
    H5Oclose(object);
    return 0;
}

static herr_t ask_link(hid_t group, const char *name, const H5L_info2_t *info, void *context) {
    char value[256];
    (void)context;
    if (info->type == H5L_TYPE_SOFT)
        H5Lget_val(group, name, value, sizeof value, H5P_DEFAULT);
    return 0;
}

/* ---- Options ---- */

/* Accepted options print as a text that means the same. Returns them, or NULL. */
static void *options_of(const char *text) {
    void *info = NULL, *again = NULL;
    int order = 1;
    if (H5VLconnector_str_to_info(text, connector, &info) < 0 || !info)
        return NULL;
    char *printed = NULL, *second = NULL;
    REQUIRE(H5VLconnector_info_to_str(info, connector, &printed) >= 0 && printed);
    REQUIRE(H5VLconnector_str_to_info(printed, connector, &again) >= 0 && again);
    REQUIRE(H5VLconnector_info_to_str(again, connector, &second) >= 0 && second);
    REQUIRE(strcmp(printed, second) == 0);
    REQUIRE(H5VLcmp_connector_info(&order, connector, info, again) >= 0 && order == 0);
    H5VLfree_connector_info(connector, again);
    H5free_memory(printed);
    H5free_memory(second);
    return info;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hsize_t at = 0;
    start();
    char *text = fuzz_next_text(&data, &size);
    void *info = options_of(text);
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    REQUIRE(H5Pset_vol(fapl, connector, info) >= 0);
    make_store(data, size);
    hid_t file = H5Fopen(root, H5F_ACC_RDONLY, fapl);
    if (file > 0) {
        ask_file(file);
        H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, ask_object, NULL, H5O_INFO_ALL);
        H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, &at, ask_link, NULL);
        H5Fclose(file);
    }
    H5Pclose(fapl);
    if (info)
        H5VLfree_connector_info(connector, info);
    free(text);
    return 0;
}
