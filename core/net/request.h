/* SPDX-License-Identifier: MIT */
/*
 * The requests of stores on the network: what goes out, what came back, and the table by which the
 * protocols (plain HTTP, S3) differ.
 *
 * A request belongs to the one that asks. From zb__io_submit until its `done` is called it is the
 * engine's (io.h), which tries it until it is answered, refused, or has had its tries. Redirects,
 * cut replies, pauses and the pinning of versions are no matter of protocols.
 */
#ifndef ZB_NET_REQUEST_H
#define ZB_NET_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reply.h"
#include "zarrbridge/sys/store.h"

typedef struct zb__remote zb__remote;
typedef struct zb__request zb__request;

enum zb__method { ZB__GET, ZB__HEAD, ZB__PUT, ZB__POST, ZB__DELETE };

/* One try of a request, as it goes out. All text is malloc'ed. */
typedef struct zb__outgoing {
    char *url;      /* percent-encoded, with its query */
    char **headers; /* each "Name: value" */
    size_t header_count;
    char *sigv4;         /* of libcurl: provider, region and service. NULL: not signed */
    char *user, *secret; /* with sigv4 */
} zb__outgoing;

/* Adds a header; ZB_ENOMEM. */
enum zb_code zb__outgoing_add(zb__outgoing *out, zb_error *err, const char *format, ...)
    ZB_PRINTF(3, 4);
void zb__outgoing_clear(zb__outgoing *out);

/* The meaning of a reply whose status is no success. */
enum zb__verdict {
    ZB__BY_STATUS, /* the engine judges */
    ZB__MISSING,   /* no such object: ZB_ENOTFOUND */
    ZB__AGAIN,     /* another try after a pause */
    ZB__AGAIN_NOW, /* another try at once, by what the protocol has learned from this reply: at most
                      twice for one request */
    ZB__RENEW,     /* another try after renew(): once for a request, then as ZB__FAILED */
    ZB__FAILED     /* no other try; the protocol has set the error, without prefix */
};

/* Functions of a kind of stores. Those of the I/O thread wait for nothing, and may run while other
   threads are in the others. */
typedef struct zb__protocol {
    const char *name;       /* "http", "s3", "azure" */
    bool follows_redirects; /* false: a redirect goes to judge(), as any other status */
    bool lacks_suffixes;    /* the service takes no range that counts from the end */
    /* Sets URL, protocol's own headers and signature of one try. The engine adds Range, If-Match
       and request->headers. I/O thread. */
    enum zb_code (*address)(zb__remote *store, const zb__request *request, zb__outgoing *out,
                            zb_error *err);
    /* Signs one try, whose URL and headers are all there. I/O thread. NULL: libcurl does, or
       nobody. */
    enum zb_code (*sign)(const zb__remote *store, const zb__request *request, zb__outgoing *out,
                         zb_error *err);
    /* Judges a reply that is no success; reply->body has the first bytes of its body, ended by a
       NUL. I/O thread. NULL: all by status. */
    enum zb__verdict (*judge)(zb__remote *store, const zb__request *request, const zb__reply *reply,
                              zb_error *err);
    /* Called before requests are queued, by the thread that asks: may wait (credentials that
       expire). NULL: nothing to prepare. */
    enum zb_code (*prepare)(zb__remote *store, zb_error *err);
    /* Gets new credentials, after ZB__RENEW, on a thread of its own: may wait. Of what fails the
       requests that wait for it are told by address(). NULL: never asked for. */
    void (*renew)(zb__remote *store);
    /* As in zb_store_ops. NULL: no listing. */
    enum zb_code (*list)(zb__remote *store, const zb_list *list, zb_list_fn fn, void *context,
                         zb_error *err);
    /* Told of the answer for a key that was opened: ZB_OK with its version, or an error. I/O
       thread. NULL: of no interest. */
    void (*answered)(zb__remote *store, const char *key, enum zb_code code,
                     const zb__version *version);
    /* True while somebody holds the key's lock. NULL: there are no locks. */
    bool (*is_locked)(zb__remote *store, const char *key);
    /* True if two stores of this protocol ask the same server for the same objects in the same way.
       NULL: not known. */
    bool (*is_same)(const zb__remote *a, const zb__remote *b);
    /* How the service keeps to conditions (conditional.h), by which a store is changed. NULL: it is
       only read. */
    const struct zb__service *service;
    void (*destroy)(zb__remote *store); /* frees store->state */
} zb__protocol;

/* How far a try of a request whose body is held back has come. */
enum zb__hold {
    ZB__FREE,   /* nothing is held back, or not any more */
    ZB__HELD,   /* what comes before the end is on its way */
    ZB__PAUSED, /* only the end is left */
    ZB__ASIDE   /* and others have its room meanwhile */
};

/* The part of an object that a GET asks for. */
enum zb__span { ZB__ALL, ZB__RANGE, ZB__SUFFIX };

/* Bytes of a reply that is no content: words on what was done. */
#define ZB__MOST_REPLY 65536

struct zb__request {
    /* ---- Set by the one that asks */
    zb__remote *store;
    enum zb__method method;
    const char *key;            /* NULL: the store itself, e.g. a listing */
    const char *query;          /* percent-encoded, beside the store's own; or NULL */
    const char *const *headers; /* more of them, NULL-ended; or NULL */
    const void *body;           /* of a PUT or POST; kept until done */
    size_t body_size;
    bool is_held; /* the end of a long body is held back until zb__io_release. The engine's lock
                     guards it from zb__io_submit on */
    enum zb__span span;
    uint64_t offset;        /* ZB__RANGE */
    size_t length;          /* ZB__RANGE, ZB__SUFFIX; not 0 */
    bool any_encoding;      /* ZB__ALL: the server may compress the reply; it is a document */
    const zb__version *pin; /* the version that must answer; NULL: any. Kept until done */
    void *buffer;           /* of `length` bytes; NULL: set, by malloc with a NUL after the last
                               byte, and the asker's also when code is an error */
    uint64_t most;          /* ZB__ALL: a longer body is ZB_ELIMIT */
    unsigned work;     /* seconds that the server may work at it without a word, beside those that
                          any request has */
    const void *group; /* zb__io_cancel ends those of one group */
    void (*done)(zb__request *request); /* I/O thread: may only queue */
    void *context;                      /* for done; zb__request_wait sets both */

    /* ---- The answer */
    enum zb_code code;   /* ZB_OK; ZB_ENOTFOUND; ZB_ECONFLICT: another version than the pin, or a
                            condition of the headers did not hold (412, 409); ZB_ECANCELLED without
                            a message: by zb__io_cancel; ... */
    zb_error error;      /* set with code */
    size_t got;          /* bytes in buffer: less than asked only at the object's end */
    uint64_t size;       /* of the object, for GET */
    zb__version version; /* that answered */
    zb__reply reply;     /* of the last try */

    /* ---- The engine's */
    char *location;   /* where a redirect leads, for this try and the next ones */
    zb__version seen; /* the version that has sent the bytes so far, when `started` */
    bool started;     /* bytes of an earlier try are in the buffer */
    bool asks_all;    /* ZB__SUFFIX: of a server that takes none longer than the object */
    bool renewed;     /* has had its ZB__RENEW */
    unsigned tries, redirects, at_once;
    unsigned sendings; /* in all tries. More than tries: libcurl sends a request again by itself
                          when a connection that has served others is closed without a reply */
    int64_t begun, try_begun, due; /* monotonic nanoseconds: first try, last try, next try */
    int64_t waited;                /* of the last try: for the first byte, once connected; ns */
    char *moved_to; /* the target of the redirect that a try has ended with, or NULL */
    uint64_t skip;  /* bytes of the body under way to drop first */
    uint64_t goal;  /* bytes that the buffer gets in all, when has_goal */
    bool has_goal;
    uint64_t counted;     /* bytes that it counts for among those in flight */
    enum zb__hold hold;   /* of the try under way */
    size_t room;          /* of a buffer that the engine has allocated */
    bool judged, refused; /* head of the reply under way: looked at; its body is not taken */
    enum zb_code stop;    /* an error that ended the transfer from within; ZB_OK: none */
    zb_error stop_error;
    size_t spilled;       /* bytes of an error's body in reply.body */
    void *handle, *lists; /* libcurl's */
    char failure
        [384]; /* its words, of 256 bytes at most, for what the connection died of, and ours */
    zb__request *next, *previous;
};

/* ---- Used by the engine ---- */

/* Makes one try ready: URL, headers. */
enum zb_code zb__request_address(zb__request *request, zb__outgoing *out, zb_error *err);

/* The end of a try. failure: what the connection died of, NULL when the reply is whole;
   `may_again`: of a kind that another try can mend. */
enum zb__next {
    ZB__DONE,       /* code is set */
    ZB__PAUSE,      /* try again at `due` */
    ZB__AT_ONCE,    /* try again */
    ZB__AFTER_RENEW /* try again after renew() */
};
enum zb__next zb__request_end(zb__request *request, const char *failure, bool may_again);

/* Sets code and error, with the object's name before the message. */
void zb__request_fail(zb__request *request, enum zb_code code, const char *format, ...)
    ZB_PRINTF(3, 4);

/* Begins a try: nothing of the last reply counts any more. */
void zb__request_begin(zb__request *request);

/* The end of a body that is held back, in bytes: only longer ones can be. */
#define ZB__HELD_BACK ((size_t)256 << 10)

/* Frees what the engine has kept in it. */
void zb__request_clear(zb__request *request);

#endif
