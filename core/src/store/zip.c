/* SPDX-License-Identifier: MIT */
/*
 * A zip archive as a store that is only read. The archive is one object of another store, so that
 * it may lie wherever objects do.
 *
 * The directory is read once for each version of the archive. A *version* holds the archive open,
 * so that what was opened in it stays the same when the archive is replaced. Each question to the
 * store asks first whether there is a new one; where that is a request, not while the last answer
 * is fresh (the store's hint `fresh`), unless a read has told that the archive is another one by
 * now.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/zip_entry.h"
#include "util/clock.h"
#include "util/fork.h"
#include "zarrbridge/sys/store.h"

typedef struct version {
    atomic_int refs;
    atomic_bool is_old; /* a read has told so */
    zb__zip_file archive;
    zb__zip_directory directory;
    const char *folder; /* begins with the text in front of all keys */
    size_t skip;        /* the length of that text */
} version;

typedef struct zip {
    zb_store base;
    zb_store *outer; /* the store that the archive is in */
    char *key;       /* of the archive there */
    char *folder;    /* of the store in the archive, with its slash; NULL: it is looked for */
    pthread_mutex_t lock;
    zb__fork_guard guard; /* of lock */
    version *now;         /* guarded by lock; NULL until it is needed */
    int64_t asked; /* guarded by lock: when `now` was known to be the present one (zb__now) */
} zip;

typedef struct zip_object {
    zb_object base;
    version *version;
    const zb__zip_entry *entry; /* the version's */
    pthread_mutex_t unpacking;
    zb__zip_content content; /* unpacked under the lock; constant once it can be read */
} zip_object;

/* ---- Versions ----------------------------------------------------------------------------- */

static void version_release(version *v) {
    if (!v || atomic_fetch_sub(&v->refs, 1) != 1)
        return;
    zb__zip_file_close(&v->archive);
    zb__zip_directory_free(&v->directory);
    free(v);
}

static enum zb_code version_open(zip *z, version **out, zb_error *err) {
    version *v = calloc(1, sizeof *v);
    const zb__zip_entry *any;
    if (!v)
        return zb_fail(err, ZB_ENOMEM, "no memory for a zip archive");
    v->refs = 1;
    enum zb_code code = zb__zip_file_open(z->outer, z->key, &v->archive, err);
    if (!code)
        code = zb__zip_directory_read(&v->archive, &v->directory, err);
    if (code) {
        version_release(v);
        return zb_error_prefix(err, code, "%s", z->base.label);
    }
    v->skip = z->folder ? strlen(z->folder) : zb__zip_root(&v->directory, &any);
    v->folder = z->folder ? z->folder : v->skip ? any->name : "";
    *out = v;
    return ZB_OK;
}

static bool is_same(const zb_object_info *a, const zb_object_info *b) {
    return a->size == b->size && zb_validator_same(&a->validator, &b->validator);
}

/* A version that cannot be told from others is never fresh. */
static bool is_fresh(const zip *z) {
    const int64_t fresh = z->outer->hints.fresh;
    return zb_store_can_submit(z->outer) && z->now->archive.info.validator.valid &&
           !atomic_load(&z->now->is_old) && fresh > 0 && zb__now() - z->asked < fresh;
}

/* Takes the version in use, with a reference for the caller; NULL unless it is of the archive that
   was found at that moment. info: NULL where nobody has looked. */
static version *version_in_use(zip *z, const zb_object_info *info, int64_t moment) {
    pthread_mutex_lock(&z->lock);
    version *v = z->now;
    if (v && info ? !is_same(&v->archive.info, info) : !v || !is_fresh(z))
        v = NULL;
    if (v)
        atomic_fetch_add(&v->refs, 1);
    if (v && info) {
        z->asked = moment;
        atomic_store(&v->is_old, false);
    }
    pthread_mutex_unlock(&z->lock);
    return v;
}

/* With a reference for the caller, and one of the store. */
static enum zb_code version_new(zip *z, version **out, zb_error *err) {
    const int64_t moment = zb__now();
    enum zb_code code = version_open(z, out, err);
    if (code)
        return code;
    atomic_fetch_add(&(*out)->refs, 1);
    pthread_mutex_lock(&z->lock);
    version *old = z->now;
    z->now = *out;
    z->asked = moment;
    pthread_mutex_unlock(&z->lock);
    version_release(old);
    return ZB_OK;
}

static bool has_version(zip *z) {
    pthread_mutex_lock(&z->lock);
    const bool has = z->now != NULL;
    pthread_mutex_unlock(&z->lock);
    return has;
}

/* The version that is there now, with a reference for the caller. Several threads may read a new
   directory at the same time; the last one's stays. */
static enum zb_code version_now(zip *z, version **out, zb_error *err) {
    zb_object_info info;
    const int64_t moment = zb__now();
    if ((*out = version_in_use(z, NULL, moment)))
        return ZB_OK;
    if (!has_version(z))
        return version_new(z, out, err);
    enum zb_code code = zb_store_stat(z->outer, z->key, &info, err);
    if (!code && (*out = version_in_use(z, &info, moment)))
        return ZB_OK;
    return zb__zip_present(code ? code : version_new(z, out, err), err);
}

/* After a read of the archive: ZB_ECONFLICT says that it has been replaced since it was opened. */
static enum zb_code noted(version *v, enum zb_code code) {
    if (code == ZB_ECONFLICT)
        atomic_store(&v->is_old, true);
    return code;
}

/* ---- Entries ------------------------------------------------------------------------------ */

/* The name in the archive of a key, with room for a slash. malloc'ed. */
static char *name_of(const version *v, const char *key) {
    const size_t size = strlen(key) + 1;
    char *name = malloc(v->skip + size + 1);
    if (name) {
        memcpy(name, v->folder, v->skip);
        memcpy(name + v->skip, key, size);
    }
    return name;
}

/* A folder in the place of an object is damage, as in a directory, and no missing object. */
static enum zb_code find(const version *v, const char *key, const zb__zip_entry **out,
                         zb_error *err) {
    char *name = name_of(v, key);
    if (!name)
        return zb_fail(err, ZB_ENOMEM, "no memory for a name");
    *out = zb__zip_find(&v->directory, name);
    const bool is_folder = !*out && zb__zip_has_below(&v->directory, strcat(name, "/"));
    free(name);
    if (is_folder)
        return zb_fail(err, ZB_EINVAL, "'%s' is a directory, not a regular file", key);
    return *out ? ZB_OK : zb_fail(err, ZB_ENOTFOUND, "no object '%s'", key);
}

/* An entry changes only with the archive. */
static zb_object_info info_of(const version *v, const zb__zip_entry *entry) {
    zb_object_info info = v->archive.info;
    info.size = entry->size;
    info.is_packed = entry->method == ZB__ZIP_DEFLATED;
    info.validator.word[0] ^= entry->header;
    info.validator.word[1] += (uint64_t)entry->crc << 32;
    return info;
}

/* ---- Objects ------------------------------------------------------------------------------ */

static void zip_close(zb_object *base) {
    zip_object *object = (zip_object *)base;
    zb__zip_content_close(&object->content);
    pthread_mutex_destroy(&object->unpacking);
    version_release(object->version);
    free(object);
}

static enum zb_code open_once(zb_store *store, const char *key, zb_object **out,
                              zb_object_info *info, zb_error *err) {
    version *v;
    const zb__zip_entry *entry;
    enum zb_code code = version_now((zip *)store, &v, err);
    if (code)
        return code;
    code = find(v, key, &entry, err);
    zip_object *object = code ? NULL : calloc(1, sizeof *object);
    if (!object) {
        version_release(v);
        return code ? code : zb_fail(err, ZB_ENOMEM, "no memory for an object handle");
    }
    *object = (zip_object){.base.store = store, .version = v, .entry = entry};
    pthread_mutex_init(&object->unpacking, NULL);
    code = noted(
        v, zb__zip_content_open(&v->archive, entry, !store->hints.is_local, &object->content, err));
    *info = info_of(v, entry);
    if (code)
        zip_close(&object->base);
    else
        *out = &object->base;
    return code;
}

/* Once more where the archive has been replaced since the last answer. */
static enum zb_code zip_open(zb_store *store, const zb_open *open, zb_object **out,
                             zb_object_info *info, zb_error *err) {
    const enum zb_code code = open_once(store, open->key, out, info, err);
    return code == ZB_ECONFLICT ? open_once(store, open->key, out, info, err) : code;
}

/* The part of a range that lies in the content. */
static zb_range cut(const zip_object *object, const zb_range *range) {
    uint64_t offset = range->offset;
    if (offset == ZB_FROM_END)
        offset = range->length > object->entry->size ? 0 : object->entry->size - range->length;
    if (offset > object->entry->size)
        offset = object->entry->size;
    const uint64_t left = object->entry->size - offset;
    return (zb_range){.offset = offset,
                      .length = range->length < left ? range->length : (size_t)left,
                      .buffer = range->buffer};
}

/* A range of all of the content is compared with its checksum; a part of it cannot be. */
static enum zb_code check(const zip_object *object, const zb_range *range, zb_error *err) {
    return range->offset == object->content.start && range->length == object->entry->size
               ? zb__zip_content_check(object->entry->crc, range->buffer, range->length, err)
               : ZB_OK;
}

static enum zb_code read_stored(const zip_object *object, zb_range *ranges, size_t count,
                                zb_error *err) {
    enum { AT_ONCE = 32 };
    zb_range inner[AT_ONCE];
    for (size_t done = 0; done < count;) {
        size_t n = 0;
        for (; n < AT_ONCE && done + n < count; n++) {
            inner[n] = cut(object, &ranges[done + n]);
            inner[n].offset += object->content.start;
        }
        enum zb_code code =
            noted(object->version, zb__zip_file_read(&object->version->archive, inner, n, err));
        if (code)
            return code;
        for (size_t i = 0; i < n && !code; i++) {
            ranges[done + i].got = inner[i].got;
            code = inner[i].got < inner[i].length
                       ? zb_fail(err, ZB_EFORMAT, "the zip archive ends too early")
                       : check(object, &inner[i], err);
        }
        if (code)
            return code;
        done += n;
    }
    return ZB_OK;
}

/* At the first read, when the caller knows how large the content is. */
static enum zb_code unpack(zip_object *object, zb_error *err) {
    enum zb_code code = ZB_OK;
    pthread_mutex_lock(&object->unpacking);
    if (zb__zip_content_is_packed(&object->content, object->entry))
        code = noted(object->version, zb__zip_content_unpack(&object->version->archive,
                                                             object->entry, &object->content, err));
    pthread_mutex_unlock(&object->unpacking);
    return code;
}

static enum zb_code zip_read(zb_object *base, zb_range *ranges, size_t count, zb_error *err) {
    zip_object *object = (zip_object *)base;
    if (object->entry->method == ZB__ZIP_DEFLATED) {
        const enum zb_code code = unpack(object, err);
        if (code)
            return code;
    }
    if (!object->content.bytes)
        return read_stored(object, ranges, count, err);
    for (size_t i = 0; i < count; i++) {
        const zb_range part = cut(object, &ranges[i]);
        if (part.length > 0) /* a buffer of no bytes may be NULL */
            memcpy(part.buffer, object->content.bytes + part.offset, part.length);
        ranges[i].got = part.length;
    }
    return ZB_OK;
}

static enum zb_code zip_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    version *v;
    const zb__zip_entry *entry;
    if (probe->asks >= ZB_ASK_HOLDER)
        return ZB_EUNSUPPORTED;
    enum zb_code code = version_now((zip *)store, &v, err);
    if (code)
        return code;
    code = find(v, probe->name, &entry, err);
    if (!code)
        probe->info = info_of(v, entry);
    version_release(v);
    return code;
}

/* ---- Listing ------------------------------------------------------------------------------ */

/* The names behind one prefix, which stand together in the directory. */
typedef struct listing {
    const zb__zip_directory *directory;
    char *prefix; /* with its slash; room for a name more */
    size_t length;
} listing;

static bool begins(const listing *l, size_t i) {
    return i < l->directory->count &&
           strncmp(l->directory->entry[i].name, l->prefix, l->length) == 0;
}

/* The first entry at or behind a text that is put behind the prefix. */
static size_t bound(const listing *l, const char *name, size_t length, const char *end) {
    memcpy(l->prefix + l->length, name, length);
    strcpy(l->prefix + l->length + length, end);
    const size_t i = zb__zip_lower_bound(l->directory, l->prefix);
    l->prefix[l->length] = '\0';
    return i;
}

/* Tells each name once: of an object, or of what lies below it, which is passed over. */
static enum zb_code list(const listing *l, zb_list_fn fn, void *context, zb_error *err) {
    for (size_t i = zb__zip_lower_bound(l->directory, l->prefix); begins(l, i);) {
        const char *rest = l->directory->entry[i].name + l->length;
        const size_t length = strcspn(rest, "/");
        char *name = strndup(rest, length);
        if (!name)
            return zb_fail(err, ZB_ENOMEM, "no memory for a listing");
        const bool is_object = rest[length] == '\0';
        const size_t below = bound(l, rest, length, "/"), end = bound(l, rest, length, "0");
        const size_t first = bound(l, rest, length, "");
        const bool is_known = first < i && strcmp(l->directory->entry[first].name + l->length,
                                                  name) == 0; /* an object has it, too */
        const zb_list_entry entry = {.name = name, .is_prefix = below < end};
        const bool stop = length > 0 && !is_known && fn(context, &entry) != 0;
        free(name);
        if (stop)
            break;
        i = is_object ? i + 1 : end; /* '0' comes behind '/' */
    }
    return ZB_OK;
}

static enum zb_code zip_list(zb_store *store, const zb_list *what, zb_list_fn fn, void *context,
                             zb_error *err) {
    enum { LONGEST = UINT16_MAX }; /* name of an archive */
    const char *prefix = what->prefix;
    version *v;
    if (what->is_recursive)
        return ZB_EUNSUPPORTED;
    enum zb_code code = version_now((zip *)store, &v, err);
    if (code)
        return code;
    const size_t length = v->skip + strlen(prefix);
    listing l = {.directory = &v->directory, .prefix = malloc(length + LONGEST + 3)};
    if (l.prefix) {
        memcpy(l.prefix, v->folder, v->skip);
        strcpy(l.prefix + v->skip, prefix);
        if (*prefix)
            strcat(l.prefix, "/");
        l.length = strlen(l.prefix);
        code = list(&l, fn, context, err);
    } else {
        code = zb_fail(err, ZB_ENOMEM, "no memory for a listing");
    }
    free(l.prefix);
    version_release(v);
    return code;
}

/* ---- The store ---------------------------------------------------------------------------- */

static void zip_destroy(zb_store *store) {
    zip *z = (zip *)store;
    zb__fork_guard_remove(&z->guard);
    version_release(z->now);
    pthread_mutex_destroy(&z->lock);
    zb_store_release(z->outer);
    free(z->folder);
    free(z->key);
    free(z);
}

static const zb_store_ops zip_ops = {
    .version = ZB_STORE_OPS_VERSION,
    .name = "zip",
    .open = zip_open,
    .read = zip_read,
    .close = zip_close,
    .probe = zip_probe,
    .list = zip_list,
    .destroy = zip_destroy,
};

static zip *make(const char *key, const char *folder) {
    zip *z = calloc(1, sizeof *z);
    if (!z)
        return NULL;
    z->key = strdup(key);
    if (z->key && (!folder || asprintf(&z->folder, *folder ? "%s/" : "%s", folder) >= 0))
        return z;
    free(z->key);
    free(z);
    return NULL;
}

enum zb_code zb_store_open_zip(zb_store *outer, const char *key, const char *folder,
                               const char *label, zb_store **out, zb_error *err) {
    zb_store_hints hints = outer->hints;
    hints.can_list = true;
    zip *z = make(key, folder);
    enum zb_code code = z ? zb_store_init(&z->base, &zip_ops, hints, label, err)
                          : zb_fail(err, ZB_ENOMEM, "no memory for a zip archive");
    if (code) {
        if (z) {
            free(z->folder);
            free(z->key);
        }
        free(z);
        return code;
    }
    z->outer = zb_store_retain(outer);
    pthread_mutex_init(&z->lock, NULL);
    z->guard = (zb__fork_guard){.lock = &z->lock};
    zb__fork_guard_add(&z->guard);
    version *now;
    code = version_now(z, &now, err);
    if (code)
        zb_store_release(&z->base);
    else
        *out = &z->base;
    if (!code)
        version_release(now);
    return code;
}
