/* SPDX-License-Identifier: MIT */
/*
 * `index`: a dataset of an HDF5 file as an array of a store, without a copy of its bytes.
 *
 * The program is linked to no HDF5. It loads one of the machine, which loads the connector, and has
 * H5Ocopy made into a store of that connector with the option shards=file.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "doctor.h"
#include "report.h"
#include "zarrbridge/change.h"

/* HDF5's words, by their types and numbers since 1.14. */
typedef int64_t h5_id;

typedef struct h5_error {
    h5_id class_id, major, minor;
    unsigned line;
    const char *function, *file, *text;
} h5_error;

typedef int (*h5_error_fn)(unsigned n, const h5_error *error, void *context);

enum { READ_ONLY = 0, READ_WRITE = 1, NEW_ALONE = 4, DEFAULT = 0, INNERMOST_FIRST = 0 };

#define HDF5_FUNCTIONS(F)                                                                          \
    F(int, H5open, (void))                                                                         \
    F(int, H5get_libversion, (unsigned *, unsigned *, unsigned *))                                 \
    F(h5_id, H5VLregister_connector_by_name, (const char *, h5_id))                                \
    F(int, H5VLconnector_str_to_info, (const char *, h5_id, void **))                              \
    F(int, H5VLfree_connector_info, (h5_id, void *))                                               \
    F(h5_id, H5Pcreate, (h5_id))                                                                   \
    F(int, H5Pset_vol, (h5_id, h5_id, const void *))                                               \
    F(int, H5Pset_create_intermediate_group, (h5_id, unsigned))                                    \
    F(h5_id, H5Fcreate, (const char *, unsigned, h5_id, h5_id))                                    \
    F(h5_id, H5Fopen, (const char *, unsigned, h5_id))                                             \
    F(int, H5Fclose, (h5_id))                                                                      \
    F(int, H5Ocopy, (h5_id, const char *, h5_id, const char *, h5_id, h5_id))                      \
    F(int, H5Eset_auto2, (h5_id, void *, void *))                                                  \
    F(int, H5Ewalk2, (h5_id, int, h5_error_fn, void *))

typedef struct hdf5 {
#define F(result, name, arguments) result(*name) arguments;
    HDF5_FUNCTIONS(F)
#undef F
    h5_id connector;
    h5_id file_access, link_creation; /* classes of lists */
} hdf5;

/* ---- The library --------------------------------------------------------------------------- */

static int take_text(unsigned n, const h5_error *error, void *context) {
    zb_error *err = context;
    if (n == 0 && error->text)
        (void)zb_fail(err, ZB_EUNSUPPORTED, "%s", error->text);
    return 0;
}

/* What HDF5 has to say, of which the innermost says most. */
static enum zb_code fail_hdf5(const hdf5 *h, const char *what, zb_error *err) {
    enum zb_code code = zb_fail(err, ZB_EUNSUPPORTED, "it gives no reason");
    (void)h->H5Ewalk2(DEFAULT, INNERMOST_FIRST, take_text, err);
    return zb_error_prefix(err, code, "%s", what);
}

static bool find_functions(void *library, hdf5 *h) {
    const h5_id *access, *link;
#define F(result, name, arguments)                                                                 \
    if (!doctor_function(library, #name, &h->name))                                                \
        return false;
    HDF5_FUNCTIONS(F)
#undef F
    access = dlsym(library, "H5P_CLS_FILE_ACCESS_ID_g");
    link = dlsym(library, "H5P_CLS_LINK_CREATE_ID_g");
    if (!access || !link || h->H5open() < 0)
        return false;
    h->file_access = *access;
    h->link_creation = *link;
    return true;
}

/* Libraries that cannot have the connector are passed over; they stay loaded. */
static enum zb_code load(hdf5 *h, zb_error *err) {
    doctor_list libraries = doctor_hdf5_libraries();
    enum zb_code code = ZB_ENOTFOUND;
    unsetenv("HDF5_VOL_CONNECTOR"); /* of the file's side */
    (void)zb_fail(err, code,
                  "no HDF5 is found that loads the connector zarr: install HDF5 1.14.5 or later, "
                  "or name its directory in LD_LIBRARY_PATH, and see `zarrbridge doctor`");
    for (size_t i = 0; i < libraries.count && code; i++) {
        unsigned major = 0, minor = 0, release = 0;
        void *library = dlopen(libraries.text[i], RTLD_NOW | RTLD_LOCAL);
        if (!library || !find_functions(library, h) ||
            h->H5get_libversion(&major, &minor, &release) < 0 ||
            (major == 1 && (minor < 14 || (minor == 14 && release < 5))))
            continue;
        (void)h->H5Eset_auto2(DEFAULT, NULL, NULL);
        h->connector = h->H5VLregister_connector_by_name("zarr", DEFAULT);
        if (h->connector >= 0)
            code = ZB_OK;
    }
    doctor_list_clear(&libraries);
    return code;
}

/* ---- The copy ------------------------------------------------------------------------------ */

/* The connector passes calls on to HDF5 for files that are no stores, and H5Ocopy goes among files
   of one connector alone. Ids are closed with the process. */
static h5_id access_by_connector(const hdf5 *h) {
    static const char options[] = "shards=file;store=all;sync=close";
    void *info = NULL;
    const h5_id list = h->H5Pcreate(h->file_access);
    const bool good = h->H5VLconnector_str_to_info(options, h->connector, &info) >= 0 &&
                      h->H5Pset_vol(list, h->connector, info) >= 0;
    (void)h->H5VLfree_connector_info(h->connector, info);
    return good ? list : -1;
}

static enum zb_code copy(const hdf5 *h, h5_id from, const char *dataset, h5_id to, zb_error *err) {
    const h5_id links = h->H5Pcreate(h->link_creation);
    (void)h->H5Pset_create_intermediate_group(links, 1);
    return h->H5Ocopy(from, dataset, to, dataset, DEFAULT, links) < 0 ? fail_hdf5(h, dataset, err)
                                                                      : ZB_OK;
}

/* A store that was made for a copy that failed. */
static void take_back(const char *name) {
    zb_hierarchy *hierarchy;
    if (zb_hierarchy_open(name, &hierarchy, NULL) != ZB_OK)
        return;
    (void)zb_node_delete(hierarchy, "", NULL);
    zb_hierarchy_release(hierarchy);
    (void)rmdir(name);
}

static enum zb_code make_index(const cli_call *call, zb_error *err) {
    const char *file = call->arguments[0], *dataset = call->arguments[1];
    const char *store = call->arguments[2];
    const bool is_new = access(store, F_OK) != 0;
    hdf5 h;
    h5_id from, to = -1;
    enum zb_code code = load(&h, err);
    if (code)
        return code;
    const h5_id list = access_by_connector(&h);
    if (list < 0)
        return fail_hdf5(&h, "the connector zarr is of another version", err);
    from = h.H5Fopen(file, READ_ONLY, list);
    if (from < 0)
        return fail_hdf5(&h, file, err);
    to = is_new ? h.H5Fcreate(store, NEW_ALONE, DEFAULT, list) : h.H5Fopen(store, READ_WRITE, list);
    code = to < 0 ? fail_hdf5(&h, store, err) : ZB_OK;
    if (!code)
        code = copy(&h, from, dataset, to, err);
    if (to >= 0 && h.H5Fclose(to) < 0 && !code)
        code = fail_hdf5(&h, store, err);
    (void)h.H5Fclose(from);
    if (code && is_new && to >= 0)
        take_back(store);
    return code;
}

static nlink_t names_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? st.st_nlink : 0;
}

static int run(const cli_call *call) {
    const char *file = call->arguments[0], *store = call->arguments[2];
    const nlink_t before = names_of(file);
    zb_error err;
    report doc = report_begin(call, NULL);
    if (make_index(call, &err))
        return report_fail(&doc, &err);
    const bool is_file = names_of(file) > before;
    zb_json_writer *w = report_object(call);
    report_text(w, "file", file);
    report_text(w, "node", call->arguments[1]);
    report_text(w, "store", store);
    report_text(w, "shard", is_file ? "file" : "blocks");
    const int status = report_end(&doc, w, CLI_FINE);
    cli_say(call, "%s of %s is in %s: %s\n", call->arguments[1], file, store,
            is_file ? "the file is its shard, and has an index at its end"
                    : "its shard shares the file's blocks, and the file is as it was");
    return status;
}

const cli_command command_index = {
    .name = "index",
    .arguments = "FILE.h5 DATASET STORE",
    .least = 3,
    .most = 3,
    .summary = "make a dataset of an HDF5 file an array, uncopied",
    .description =
        "The array has one shard, and that is the HDF5 file itself: an index of the dataset's "
        "chunks is appended to it, which HDF5 takes no notice of, and the store gets a further "
        "name of it (a hard link). So HDF5's programs read the file, and Zarr's read the store, "
        "from the same bytes. Attributes and dimensions are copied. A file has room for one index: "
        "for further datasets, and where the store is on another mount of the same file system, "
        "the shard shares blocks with the file (a reflink), which btrfs and XFS can."
        "\n\n"
        "Chunks stay as HDF5 has them: with no filter, or with shuffle, deflate, fletcher32, zstd, "
        "bzip2 and blosc; a contiguous dataset is one inner chunk. All else is refused with the "
        "reason, and copied by `h5copy`. STORE is made, or gets a further array. "
        "HDF5 cuts the index off when a program has opened the file for writing: the array then "
        "cannot be read, which `zarrbridge verify` tells, until it is deleted and indexed again. A "
        "writer of the array replaces its shard and leaves the file. It needs HDF5 1.14.5 or later "
        "with the connector.",
    .examples =
        (const cli_example[]){
            {"zarrbridge index dem.h5 /elevation dem.zarr", "one file, two formats"},
            {"zarrbridge verify dem.zarr", "whether the index is still there"},
            {0}},
    .keys = (const cli_example[]){{"file", "as given"},
                                  {"node", "as given"},
                                  {"store", "as given"},
                                  {"shard", "file: the file itself; blocks: it shares them"},
                                  {0}},
    .run = run,
};
