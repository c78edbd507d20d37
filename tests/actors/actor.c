/* SPDX-License-Identifier: MIT */
/* Reads commands, one a line, and answers each: README.md. */
#include "actor.h"
#include "zarrbridge/change.h"
#include "zarrbridge/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static session *sessions;

/* ---- Answers ------------------------------------------------------------------------------ */

void answer(enum zb_code code, const zb_error *err) {
    if (code)
        printf("error %s %s\n", zb_code_name(code), err->message);
    else
        puts("ok");
    fflush(stdout);
}

void answer_usage(const char *what) {
    printf("error USAGE %s\n", what);
    fflush(stdout);
}

static void answer_node(enum zb_code code, zb_node *node, const zb_error *err) {
    if (!code)
        zb_node_release(node);
    answer(code, err);
}

bool parse_pair(const char *text, uint64_t pair[2]) {
    unsigned long long a, b;
    char separator, more;
    if (sscanf(text, "%llu%c%llu%c", &a, &separator, &b, &more) != 3 ||
        (separator != 'x' && separator != ','))
        return false;
    pair[0] = a;
    pair[1] = b;
    return true;
}

/* ---- Open stores and nodes ---------------------------------------------------------------- */

static char *copy_text(const char *text, size_t length) {
    char *copy = strndup(text, length);
    if (!copy)
        abort();
    return copy;
}

static void *new_memory(size_t size) {
    void *memory = calloc(1, size);
    if (!memory)
        abort();
    return memory;
}

static session *find_session(const char *name) {
    session *s = sessions;
    while (s && strcmp(s->name, name) != 0)
        s = s->next;
    return s;
}

item *item_of(const command *c, zb_error *err) {
    const char *key = c->word[2];
    for (item *i = c->at->items; i; i = i->next) {
        if (strcmp(i->key, key) == 0)
            return i;
    }
    char *path = copy_text(key, strcspn(key, "#"));
    zb_node *node;
    enum zb_code code = zb_node_open(c->at->store, path, &node, err);
    free(path);
    if (code)
        return NULL;
    item *i = new_memory(sizeof *i);
    *i = (item){.next = c->at->items, .key = copy_text(key, strlen(key)), .node = node};
    c->at->items = i;
    return i;
}

/* Gives an item up; its writer stores the data that wait. */
static enum zb_code drop_item(item *i, zb_error *err) {
    enum zb_code code = zb_writer_close(i->writer, err);
    zb_node_release(i->node);
    free(i->key);
    free(i);
    return code;
}

static void do_forget(const command *c) {
    zb_error err;
    enum zb_code code = ZB_OK;
    for (item **at = &c->at->items; *at; at = &(*at)->next) {
        if (strcmp((*at)->key, c->word[2]) == 0) {
            item *i = *at;
            *at = i->next;
            code = drop_item(i, &err);
            break;
        }
    }
    answer(code, &err);
}

/* ---- Stores ------------------------------------------------------------------------------- */

static bool parse_options(const char *sync, const char *strategy, zb_write_options *options) {
    static const char *const syncs[] = {"none", "close", "always"};
    static const char *const strategies[] = {"rewrite", "append", "inplace"};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (strcmp(*sync ? sync : "none", syncs[i]) == 0 &&
                strcmp(*strategy ? strategy : "rewrite", strategies[j]) == 0) {
                *options =
                    (zb_write_options){.sync = (enum zb_sync)i, .strategy = (enum zb_strategy)j};
                return true;
            }
        }
    }
    return false;
}

static void do_open(const command *c) {
    zb_error err;
    session *s = new_memory(sizeof *s);
    if (!parse_options(c->word[3], c->word[4], &s->options) || find_session(c->word[1])) {
        free(s);
        answer_usage("open SESSION STORE [none|close|always [rewrite|append|inplace]]");
        return;
    }
    enum zb_code code = zb_hierarchy_create(c->word[2], NULL, &s->store, &err);
    if (code) {
        free(s);
    } else {
        zb_hierarchy_set_sync(s->store, s->options.sync);
        s->name = copy_text(c->word[1], strlen(c->word[1]));
        s->next = sessions;
        sessions = s;
    }
    answer(code, &err);
}

static void do_close(const command *c) {
    zb_error err, other;
    enum zb_code first = ZB_OK;
    session **at = &sessions;
    while (*at != c->at)
        at = &(*at)->next;
    *at = c->at->next;
    for (item *i = c->at->items, *next; i; i = next) {
        next = i->next;
        enum zb_code code = drop_item(i, first ? &other : &err);
        first = first ? first : code;
    }
    zb_hierarchy_release(c->at->store);
    free(c->at->name);
    free(c->at);
    answer(first, &err);
}

static void do_docs(const command *c) {
    zb_error err;
    answer(zb_hierarchy_flush(c->at->store, &err), &err);
}

/* ---- Nodes -------------------------------------------------------------------------------- */

static const char *codecs_called(const char *name) {
    static const char *const table[][2] = {
        {"raw", "[]"},
        {"crc", "[{\"name\":\"crc32c\"}]"},
        {"gzip", "[{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]"},
        {"zstd", "[{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":true}}]"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i][0], name) == 0)
            return table[i][1];
    }
    return NULL;
}

static void do_create(const command *c) {
    uint64_t shape[2], chunk[2], shard[2];
    bool sharded = strcmp(c->word[5], "-") != 0;
    const char *codecs = codecs_called(c->word[6]);
    if (!parse_pair(c->word[3], shape) || !parse_pair(c->word[4], chunk) ||
        (sharded && !parse_pair(c->word[5], shard)) || !codecs) {
        answer_usage("create SESSION NODE SHAPE CHUNK SHARD|- raw|crc|gzip|zstd");
        return;
    }
    static const int64_t fill = -1;
    zb_array_spec spec = {.ndim = 2,
                          .shape = shape,
                          .inner_shape = chunk,
                          .shard_shape = sharded ? shard : NULL,
                          .dtype = {ZB_KIND_INT, 8, false, NULL},
                          .fill_value = &fill,
                          .codecs = codecs};
    zb_node *node;
    zb_error err;
    enum zb_code code = zb_array_create(c->at->store, c->word[2], &spec, &node, &err);
    answer_node(code, node, &err);
}

static void do_group(const command *c) {
    zb_node *node;
    zb_error err;
    enum zb_code code = zb_group_create(c->at->store, c->word[2], NULL, &node, &err);
    answer_node(code, node, &err);
}

/* Uses the handle that is open, like a program that holds one. */
static void do_attr(const command *c) {
    zb_error err;
    zb_node *changed;
    item *i = item_of(c, &err);
    enum zb_code code =
        i ? zb_node_set_attribute(i->node, c->word[3], c->word[4], &changed, &err) : err.code;
    answer_node(code, changed, &err);
}

/* The item goes on with the new shape. A writer keeps the one that it was opened with, so it is
   closed before. */
static void do_resize(const command *c) {
    uint64_t shape[2];
    zb_error err;
    zb_node *changed;
    if (!parse_pair(c->word[3], shape)) {
        answer_usage("resize SESSION NODE SHAPE");
        return;
    }
    item *i = item_of(c, &err);
    enum zb_code code = i ? zb_writer_close(i->writer, &err) : err.code;
    if (i)
        i->writer = NULL;
    if (!code)
        code = zb_array_resize(i->node, shape, &changed, &err);
    if (!code) {
        zb_node_release(i->node);
        i->node = changed;
    }
    answer(code, &err);
}

static void do_compact(const command *c) {
    zb_error err;
    item *i = item_of(c, &err);
    answer(i ? zb_array_compact(i->node, c->at->options.sync, NULL, &err) : err.code, &err);
}

static void do_copy(const command *c) {
    zb_error err;
    answer(zb_node_copy(c->at->store, c->word[2], c->at->store, c->word[3], &err), &err);
}

static void do_move(const command *c) {
    zb_error err;
    answer(zb_node_move(c->at->store, c->word[2], c->word[3], &err), &err);
}

static void do_delete(const command *c) {
    zb_error err;
    answer(zb_node_delete(c->at->store, c->word[2], &err), &err);
}

/* ---- The loop ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(const command *c);
} commands[] = {
    {"open", do_open}, {"close", do_close},   {"forget", do_forget},   {"docs", do_docs},
    {"sync", do_sync}, {"flush", do_flush},   {"group", do_group},     {"create", do_create},
    {"attr", do_attr}, {"resize", do_resize}, {"compact", do_compact}, {"copy", do_copy},
    {"move", do_move}, {"delete", do_delete}, {"write", do_write},     {"read", do_read}};

static void run(char *line) {
    command c = {.at = NULL};
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < WORDS; i++) {
        char *word = strsep(&line, " ");
        c.word[i] = word ? word : "";
    }
    c.at = find_session(c.word[1]);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, c.word[0]) != 0)
            continue;
        if (!c.at && commands[i].run != do_open)
            answer_usage("there is no such session");
        else
            commands[i].run(&c);
        return;
    }
    answer_usage("there is no such command");
}

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0)
        run(line);
    free(line);
    return 0; /* ends like a killed program: open writers stay unflushed */
}
