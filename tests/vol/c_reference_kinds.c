/* SPDX-License-Identifier: MIT */
/*
 * References of scales of both kinds, H5T_STD_REF_OBJ and H5T_STD_REF, in the file (`v` has a list,
 * `left` compounds) and in memory: creates the attributes with the file's kind, writes them from
 * memory of the other or the same kind, opens them again, and tells their types and where the
 * references lead.
 *
 *     vol-c-reference_kinds FILE (old | new) (old | new)
 */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#define NUMBER 5

typedef struct kind {
    hid_t type;
    size_t size;
} kind;

static kind kind_of(const char *word) {
    return strcmp(word, "new") == 0 ? (kind){H5T_STD_REF, sizeof(H5R_ref_t)}
                                    : (kind){H5T_STD_REF_OBJ, sizeof(hobj_ref_t)};
}

static hid_t new_list(kind of) {
    return H5Tvlen_create(of.type);
}

/* The number lies behind a gap. */
static hid_t new_compound(kind of) {
    hid_t type = H5Tcreate(H5T_COMPOUND, of.size + 8);
    H5Tinsert(type, "dataset", 0, of.type);
    H5Tinsert(type, "dimension", of.size + 4, H5T_NATIVE_UINT);
    return type;
}

static void refer(hid_t file, kind of, void *out) {
    if (of.size == sizeof(H5R_ref_t))
        H5Rcreate_object(file, "/x", H5P_DEFAULT, out);
    else
        H5Rcreate(out, file, "/x", H5R_OBJECT, -1);
}

static void tell_name(hid_t file, kind of, void *reference) {
    char name[64] = "nowhere";
    hid_t object = of.size == sizeof(H5R_ref_t)
                       ? H5Ropen_object(reference, H5P_DEFAULT, H5P_DEFAULT)
                       : H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, reference);
    H5Iget_name(object, name, sizeof name);
    H5Oclose(object);
    printf(" %s", name);
}

/* Replaces the attribute by one with that value. */
static int put(hid_t owner, const char *name, hid_t type, hsize_t count, hid_t memory,
               const void *value) {
    hid_t space = H5Screate_simple(1, &count, NULL);
    H5Adelete(owner, name);
    hid_t attr = H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const int good = H5Awrite(attr, memory, value) >= 0;
    H5Aclose(attr);
    H5Sclose(space);
    return good;
}

static int get(hid_t owner, const char *name, hid_t type, hid_t memory, void *value) {
    hid_t attr = H5Aopen(owner, name, H5P_DEFAULT), now = H5Aget_type(attr);
    printf("%s%s", name, H5Tequal(now, type) > 0 ? "" : " is of another type");
    const int good = H5Aread(attr, memory, value) >= 0;
    H5Tclose(now);
    H5Aclose(attr);
    return good;
}

static int list(hid_t file, hid_t owner, kind stored, kind memory) {
    H5R_ref_t element;
    hvl_t given[2] = {{1, &element}, {0, NULL}}, got[2] = {{0, NULL}, {0, NULL}};
    hid_t type = new_list(stored), memory_type = new_list(memory);
    refer(file, memory, &element);
    const int good = put(owner, "DIMENSION_LIST", type, 2, memory_type, given) &&
                     get(owner, "DIMENSION_LIST", type, memory_type, got) && got[0].len == 1;
    if (good)
        tell_name(file, memory, got[0].p);
    printf(" %zu\n", got[1].len);
    H5Tclose(type);
    H5Tclose(memory_type);
    return good;
}

static int compound(hid_t file, hid_t owner, kind stored, kind memory) {
    H5R_ref_t given[2], got[2]; /* room for the number behind the reference */
    unsigned number = NUMBER;
    hid_t type = new_compound(stored), memory_type = new_compound(memory);
    refer(file, memory, given);
    memcpy((char *)given + memory.size + 4, &number, sizeof number);
    const int good = put(owner, "REFERENCE_LIST", type, 1, memory_type, given) &&
                     get(owner, "REFERENCE_LIST", type, memory_type, got);
    if (good)
        tell_name(file, memory, got);
    memcpy(&number, (char *)got + memory.size + 4, sizeof number);
    printf(" %u\n", number);
    H5Tclose(type);
    H5Tclose(memory_type);
    return good;
}

/* Compounds with a reference that the file's have not: those made before that shows are let go. */
static int too_many(hid_t owner) {
    const kind new = kind_of("new");
    H5R_ref_t got[2];
    hid_t memory_type = H5Tcreate(H5T_COMPOUND, 2 * new.size);
    H5Tinsert(memory_type, "dataset", 0, new.type);
    H5Tinsert(memory_type, "dimension", new.size, new.type);
    hid_t attr = H5Aopen(owner, "REFERENCE_LIST", H5P_DEFAULT);
    const ssize_t before = H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE);
    const int refused = H5Aread(attr, memory_type, got) < 0;
    const ssize_t after = H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE);
    H5Aclose(attr);
    H5Tclose(memory_type);
    return refused && before == after;
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t v = H5Dopen2(file, "v", H5P_DEFAULT), left = H5Dopen2(file, "left", H5P_DEFAULT);
    const kind stored = kind_of(argv[2]), memory = kind_of(argv[3]);
    const int good =
        list(file, v, stored, memory) && compound(file, left, stored, memory) && too_many(left);
    H5Dclose(v);
    H5Dclose(left);
    return H5Fclose(file) < 0 || !good;
}
