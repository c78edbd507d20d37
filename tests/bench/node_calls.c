/* SPDX-License-Identifier: MIT */
/*
 * What the system calls of a new group cost without any work of a program between them, beside
 * H5Gcreate2 and H5Gclose on an HDF5 file. They are those of docs/performance.md, "Calls", in their
 * order and on files as a store has them: no store that keeps its promises is faster.
 *
 *     zb-node-calls DIRECTORY GROUPS
 *
 * prints a line for each: name, microseconds of the processor for a group. The directory must not
 * have the files "calls" and "groups.h5". calls.py runs it.
 */
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void check(int good, const char *what) {
    if (good)
        return;
    perror(what);
    exit(1);
}

static int lock_whole(int file, short kind) {
    return fcntl(file, F_OFD_SETLK, &(struct flock){.l_type = kind, .l_whence = SEEK_SET});
}

/* A document without a name yet, as others see it: whole or not at all. */
static void put_document(int directory, int number) {
    static char text[150]; /* bytes of a group's */
    struct iovec part = {.iov_base = text, .iov_len = sizeof text};
    struct stat st;
    char temp[64];
    snprintf(temp, sizeof temp, ".zarr.json.%016x.%016x.zb-tmp", (unsigned)getpid(), number);
    const int file = openat(directory, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    check(file >= 0 && lock_whole(file, F_WRLCK) == 0 && fstat(file, &st) == 0, "temporary file");
    check(writev(file, &part, 1) == sizeof text, "writev");
    check(close(fcntl(file, F_DUPFD_CLOEXEC, 0)) == 0, "dup");
    check(renameat(directory, temp, directory, "zarr.json") == 0, "renameat");
    close(file);
}

static void make_group(int root, int lock, int number) {
    union {
        struct file_handle handle;
        char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } identity = {.handle.handle_bytes = MAX_HANDLE_SZ};
    struct stat st;
    int mount;
    char name[16];
    snprintf(name, sizeof name, "g%d", number);
    check(fstatat(root, "../zarr.json", &st, 0) != 0, "a hierarchy above");
    check(lock_whole(lock, F_WRLCK) == 0, "lock");
    check(fstatat(root, ".zarr.json.zb-lock", &st, AT_SYMLINK_NOFOLLOW) == 0, "name of the lock");
    check(fstatat(root, "zarr.json", &st, 0) == 0, "group above");
    check(mkdirat(root, name, 0777) == 0, "mkdirat");
    const int made = openat(root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    check(made >= 0, "openat");
    put_document(made, number);
    close(made);
    (void)name_to_handle_at(root, name, &identity.handle, &mount, AT_SYMLINK_FOLLOW);
    check(lock_whole(lock, F_UNLCK) == 0, "unlock");
}

int main(int argc, char **argv) {
    char path[4096], name[16];
    if (argc != 3) {
        fprintf(stderr, "usage: %s DIRECTORY GROUPS\n", argv[0]);
        return 2;
    }
    const int groups = atoi(argv[2]);
    snprintf(path, sizeof path, "%s/calls", argv[1]);
    check(mkdir(path, 0777) == 0, path);
    const int root = open(path, O_RDONLY | O_DIRECTORY);
    const int lock = openat(root, ".zarr.json.zb-lock", O_RDWR | O_CREAT, 0666);
    check(close(openat(root, "zarr.json", O_WRONLY | O_CREAT, 0666)) == 0, "zarr.json");
    double begin = processor_time();
    for (int i = 0; i < groups; i++)
        make_group(root, lock, i);
    printf("system calls of a group\t%.1f\n", (processor_time() - begin) / groups);

    snprintf(path, sizeof path, "%s/groups.h5", argv[1]);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    begin = processor_time();
    for (int i = 0; i < groups; i++) {
        snprintf(name, sizeof name, "g%d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    printf("H5Gcreate2 and H5Gclose\t%.1f\n", (processor_time() - begin) / groups);
    return H5Fclose(file) < 0;
}
