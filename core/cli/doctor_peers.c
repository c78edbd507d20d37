/* SPDX-License-Identifier: MIT */
/*
 * `doctor --peers N DIR`: whether locks hold between machines. N processes meet in DIR, each of
 * which makes a file there. The one whose name is the first takes a lock, and says so; all others
 * must be refused. Then it lets go, and each of them must get it. Each writes its answer into a
 * file of its own, and all of them tell all answers.
 *
 * The processes wait for each other's files, for as long as --seconds says. DIR may be writable for
 * everybody: no symbolic link in it is followed, neither in place of the folder nor inside.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"

/* Names in the directory: what was said, and of whom. */
#define FOLDER ".zb-doctor-peers"

typedef struct meeting {
    doctor *d;
    unsigned count;
    int at;     /* the directory, or -1 */
    char *name; /* "HOST-PID" */
    struct timespec until;
} meeting;

static bool is_over(const meeting *m) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > m->until.tv_sec ||
           (now.tv_sec == m->until.tv_sec && now.tv_nsec >= m->until.tv_nsec);
}

/* A file in the folder, as openat() has it; -1 where one of the two is a link. */
static int open_in(const meeting *m, const char *name, int flags) {
    const int folder = openat(m->at, FOLDER, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int file = folder < 0 ? -1 : openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (folder >= 0)
        close(folder);
    return file;
}

static DIR *list_folder(const meeting *m) {
    const int folder = open_in(m, ".", O_RDONLY | O_DIRECTORY);
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    if (folder >= 0 && !entries)
        close(folder);
    return entries;
}

/* NFS shows a new name of another machine late to one that asks for the name, and at once to one
   that lists a directory which was opened anew. */
static doctor_list said(const meeting *m, const char *what) {
    doctor_list list = {.count = 0};
    const size_t length = strlen(what);
    struct dirent *entry;
    DIR *entries = list_folder(m);
    while (entries && (entry = readdir(entries)) != NULL) {
        if (strncmp(entry->d_name, what, length) == 0 && entry->d_name[length] == '.')
            doctor_list_add(&list, entry->d_name + length + 1, strlen(entry->d_name) - length - 1);
    }
    if (entries)
        closedir(entries);
    return list;
}

static void say(const meeting *m, const char *what) {
    char *name = doctor_print("%s.%s", what, m->name);
    const int file = open_in(m, name, O_WRONLY | O_CREAT | O_EXCL);
    if (file >= 0) {
        (void)fsync(file);
        close(file);
    }
    free(name);
}

static void rest(void) {
    const struct timespec moment = {.tv_nsec = 10000000};
    nanosleep(&moment, NULL);
}

/* False when the time is over. */
static bool wait_for(const meeting *m, const char *what, size_t count) {
    for (;;) {
        doctor_list list = said(m, what);
        const size_t found = list.count;
        doctor_list_clear(&list);
        if (found >= count)
            return true;
        if (is_over(m))
            return false;
        rest();
    }
}

/* The same for all, since the names are. */
static bool is_first(const meeting *m) {
    doctor_list list = said(m, "here");
    bool is_smallest = true;
    for (size_t i = 0; i < list.count; i++)
        is_smallest = is_smallest && strcmp(m->name, list.text[i]) <= 0;
    doctor_list_clear(&list);
    return is_smallest;
}

static bool take_lock(int file, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

static bool lead(const meeting *m, int file) {
    if (!take_lock(file, F_WRLCK)) {
        say(m, "failed");
        say(m, "held"); /* nobody waits for it in vain */
        return true;
    }
    say(m, "held");
    if (!wait_for(m, "tried", m->count - 1))
        return false;
    take_lock(file, F_UNLCK);
    say(m, "released");
    return true;
}

static bool follow(const meeting *m, int file) {
    if (!wait_for(m, "held", 1))
        return false;
    doctor_list failed = said(m, "failed");
    const bool is_vain = failed.count > 0;
    doctor_list_clear(&failed);
    if (is_vain)
        return true;
    if (take_lock(file, F_WRLCK)) {
        say(m, "granted");
        take_lock(file, F_UNLCK);
    }
    say(m, "tried");
    if (!wait_for(m, "released", 1))
        return false;
    while (!take_lock(file, F_WRLCK)) {
        if (is_over(m)) {
            say(m, "stuck");
            return true;
        }
        rest();
    }
    take_lock(file, F_UNLCK);
    return true;
}

static void tell_all(const meeting *m, const char *what, const char *event) {
    doctor_list list = said(m, what);
    for (size_t i = 0; i < list.count; i++)
        doctor_find(m->d, DOCTOR_ERROR,
                    "%s %s -> writers on several machines would lose data of each other here: "
                    "mount the file system with locks (NFS without nolock and local_lock, Lustre "
                    "with flock), or write from one machine at a time",
                    list.text[i], event);
    doctor_list_clear(&list);
}

static void judge(const meeting *m) {
    const unsigned before = m->d->errors;
    tell_all(m, "granted", "got a lock that another process held");
    tell_all(m, "stuck", "did not get a lock after it was given back");
    tell_all(m, "failed", "could not lock a file at all");
    if (m->d->errors == before)
        doctor_fact(m->d, "%u processes: a lock of one kept all others out", m->count);
}

static void remove_names(const meeting *m, const char *name) {
    struct dirent *entry;
    DIR *entries = list_folder(m);
    while (entries && (entry = readdir(entries)) != NULL) {
        const char *dot = strchr(entry->d_name, '.');
        if (dot && strcmp(dot + 1, name) == 0)
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
}

/* After a meeting that failed nobody knows who is still there: each takes its own files away. */
static void leave_alone(const meeting *m) {
    remove_names(m, m->name);
    doctor_list left = said(m, "here");
    if (!left.count)
        remove_names(m, "all");
    doctor_list_clear(&left);
    (void)unlinkat(m->at, FOLDER, AT_REMOVEDIR);
}

/* The first one waits until the others have read all answers, and removes the folder. */
static void leave(const meeting *m, bool first) {
    if (!first) {
        say(m, "gone");
        return;
    }
    (void)wait_for(m, "gone", m->count - 1);
    doctor_list all = said(m, "here");
    for (size_t i = 0; i < all.count; i++)
        remove_names(m, all.text[i]);
    doctor_list_clear(&all);
    remove_names(m, "all");
    (void)unlinkat(m->at, FOLDER, AT_REMOVEDIR);
}

/* True when all have said what they have seen. */
static bool meet(const meeting *m, bool *first) {
    const int file = open_in(m, "lock.all", O_RDWR | O_CREAT | O_NONBLOCK);
    if (file < 0)
        return false;
    say(m, "here");
    bool done = wait_for(m, "here", m->count);
    *first = done && is_first(m);
    if (done)
        done = *first ? lead(m, file) : follow(m, file);
    close(file);
    say(m, "done");
    return done && wait_for(m, "done", m->count);
}

/* False where there is no folder for all of them: a link, say, that somebody has put there. */
static bool make_folder(meeting *m, const char *directory) {
    struct stat info;
    m->at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (m->at < 0 || (mkdirat(m->at, FOLDER, 0777) != 0 && errno != EEXIST) ||
        fstatat(m->at, FOLDER, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(info.st_mode);
}

static void find_nobody(const meeting *m, const char *directory) {
    doctor_find(m->d, DOCTOR_ERROR,
                "%u processes did not meet in %s within %d seconds -> start as many at once, in "
                "one directory (rm -r %s/" FOLDER " removes what is left of others); --seconds "
                "gives them more time",
                m->count, directory, m->d->seconds, directory);
}

void doctor_peers(doctor *d) {
    char host[256] = "machine";
    bool first = false;
    meeting m = {.d = d, .count = d->peers};
    doctor_begin(d, "peers");
    gethostname(host, sizeof host - 1);
    m.name = doctor_print("%s-%ld", host, (long)getpid());
    clock_gettime(CLOCK_MONOTONIC, &m.until);
    m.until.tv_sec += d->seconds;
    if (!make_folder(&m, d->path)) {
        doctor_find(d, DOCTOR_ERROR,
                    "the processes cannot meet in %s/" FOLDER ": %s -> name a directory that all "
                    "of them can write, and in which nobody has put another thing of that name",
                    d->path, strerror(errno));
    } else if (meet(&m, &first)) {
        judge(&m);
        leave(&m, first);
    } else {
        find_nobody(&m, d->path);
        leave_alone(&m);
    }
    if (m.at >= 0)
        close(m.at);
    free(m.name);
}
