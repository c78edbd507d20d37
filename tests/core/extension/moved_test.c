/* SPDX-License-Identifier: MIT */
/* Names that stay when nodes move: by hand, and compared with a model that knows each node. */
#include "support/check.h"

#include "extension/moved.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/moved.h"

static zb_moved *parse(const char *text) {
    zb_json *json;
    zb_moved *moved;
    zb_error err;
    assert_int_equal(zb_json_parse(text, strlen(text), &json, NULL), ZB_OK);
    assert_int_equal(zb_moved_parse(json, &moved, &err), ZB_OK);
    zb_json_free(json);
    return moved;
}

static void assert_text(char *text, const char *wanted) {
    if (!wanted)
        assert_null(text);
    else
        assert_string_equal(text, wanted);
    free(text);
}

static void assert_printed(const zb_moved *moved, const char *wanted) {
    char *text;
    zb_error err;
    assert_int_equal(zb__moved_print(moved, &text, &err), ZB_OK);
    assert_text(text, wanted);
}

static void without_a_member_names_are_paths(void **state) {
    (void)state;
    assert_text(zb_moved_path(NULL, "a/b"), "a/b");
    assert_text(zb_moved_name(NULL, "a/b"), "a/b");
    assert_null(parse("[]"));
}

static void a_name_follows(void **state) {
    (void)state;
    zb_error err;
    zb_moved *moved = parse("{}");
    ASSERT_OK(zb__moved_move(moved, "g", "h", &err), err);
    assert_text(zb_moved_path(moved, "g/d"), "h/d");
    assert_text(zb_moved_name(moved, "h/d"), "g/d");
    assert_text(zb_moved_name(moved, "g/d"), NULL); /* another node is there, if any */
    assert_text(zb_moved_path(moved, "h/d"), NULL);
    ASSERT_OK(zb__moved_move(moved, "h/d", "d", &err), err);
    assert_printed(moved, "{\"g\":\"h\",\"g/d\":\"d\"}");
    ASSERT_OK(zb__moved_move(moved, "d", "h/d", &err), err);
    ASSERT_OK(zb__moved_move(moved, "h", "g", &err), err);
    assert_text(zb_moved_path(moved, "g/d"), "g/d");
    ASSERT_OK(zb__moved_move(moved, "g", NULL, &err), err);
    assert_text(zb_moved_path(moved, "g/d"), NULL);
    assert_text(zb_moved_name(moved, "g"), NULL);
    zb_moved_free(moved);
}

static void a_node_that_came_later_gets_its_own(void **state) {
    (void)state;
    zb_error err;
    zb_moved *moved = parse("{}");
    ASSERT_OK(zb__moved_move(moved, "d", "e", &err), err);
    ASSERT_OK(zb__moved_assign(moved, "d", &err), err);
    char *name = zb_moved_name(moved, "d");
    assert_non_null(name);
    assert_text(zb_moved_path(moved, "d"), "e");
    assert_text(zb_moved_path(moved, name), "d");
    ASSERT_OK(zb__moved_move(moved, "d", "f", &err), err);
    assert_text(zb_moved_path(moved, name), "f");
    ASSERT_OK(zb__moved_move(moved, "f", NULL, &err), err);
    assert_text(zb_moved_path(moved, name), NULL); /* whatever is called so later */
    free(name);
    zb_moved_free(moved);
}

/* Levels of a pyramid, and copies by GDAL, are made under such names. */
static void nodes_in_the_making_have_no_name(void **state) {
    static const char aside[] = "ovr_2x.77-0.zarr3-new", there[] = "d.77-1.zarr3-new";
    (void)state;
    zb_error err;
    zb_moved *moved = parse("{}");
    ASSERT_OK(zb__moved_move(moved, aside, "ovr_2x", &err), err);
    ASSERT_OK(zb__moved_move(moved, "g/a.77-1.zarr3-new/b", NULL, &err), err);
    assert_printed(moved, "{}");
    assert_text(zb_moved_name(moved, "ovr_2x/d"), "ovr_2x/d");
    assert_text(zb_moved_name(moved, aside), NULL);
    assert_text(zb_moved_name(NULL, aside), NULL);
    ASSERT_OK(zb__moved_move(moved, "d", there, &err), err); /* replaced: the old one goes there */
    assert_text(zb_moved_path(moved, "d"), there);
    ASSERT_OK(zb__moved_move(moved, "d.77-1.zarr3-new/part", "part", &err), err); /* named by d */
    assert_text(zb_moved_path(moved, "d/part"), "part");
    ASSERT_OK(zb__moved_move(moved, "part", "d.77-1.zarr3-new/part", &err), err);
    ASSERT_OK(zb__moved_move(moved, aside, "d", &err), err);
    assert_text(zb_moved_name(moved, "d"), NULL);
    ASSERT_OK(zb__moved_move(moved, there, NULL, &err), err);
    assert_printed(moved, "{\"d\":null}");
    ASSERT_OK(zb__moved_move(moved, ".zarr3-new", "x", &err), err); /* an ordinary name */
    assert_printed(moved, "{\"d\":null,\".zarr3-new\":\"x\"}");
    ASSERT_OK(zb__moved_assign(moved, aside, &err), err); /* somebody did refer to it */
    char *name = zb_moved_name(moved, aside);
    assert_non_null(name);
    ASSERT_OK(zb__moved_move(moved, aside, "y", &err), err);
    assert_text(zb_moved_path(moved, name), "y");
    free(name);
    zb_moved_free(moved);
}

/* The group of a deleted name had moved out of the one that is deleted now. */
static void deleted_names_stay_below_one_that_has_moved(void **state) {
    (void)state;
    zb_error err;
    zb_moved *moved = parse("{}");
    ASSERT_OK(zb__moved_move(moved, "g/x", "y", &err), err);
    ASSERT_OK(zb__moved_move(moved, "y/z", NULL, &err), err);
    ASSERT_OK(zb__moved_move(moved, "g", NULL, &err), err);
    assert_text(zb_moved_path(moved, "g/x"), "y");
    assert_text(zb_moved_path(moved, "g/x/z"), NULL); /* not the node that may come to y/z */
    ASSERT_OK(zb__moved_move(moved, "y", NULL, &err), err);
    assert_printed(moved, "{\"g\":null,\"g/x\":null}");
    zb_moved_free(moved);
}

static void hostile_entries_are_left_out(void **state) {
    (void)state;
    zb_moved *moved = parse("{\"\":\"a\",\"a//b\":\"c\",\"..\":\"c\",\"a\":\"../c\",\"b\":1,"
                            "\"c/\":\"d\",\"e\":\"/f\",\"g\":\"h\"}");
    assert_printed(moved, "{\"g\":\"h\"}");
    zb_moved_free(moved);
}

/* Of `count` names, which have gone, or are at paths of so many bytes. */
static zb_moved *many(int count, size_t bytes) {
    char name[32], *path = calloc(1, bytes + 32);
    zb_json_writer *out = zb_json_writer_new();
    assert_non_null(path);
    zb_json_begin_object(out);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "node-%08d", i);
        zb_json_write_name(out, name);
        snprintf(path, 32, "to-%08d", i);
        memset(path + 11, 'x', bytes);
        if (bytes)
            zb_json_write_string(out, path);
        else
            zb_json_write_null(out);
    }
    zb_json_end_object(out);
    char *text = zb_json_writer_end(out, NULL);
    zb_moved *moved = parse(text);
    free(text);
    free(path);
    return moved;
}

static zb_json *printed(const zb_moved *moved) {
    char *text;
    zb_json *json;
    zb_error err;
    ASSERT_OK(zb__moved_print(moved, &text, &err), err);
    ASSERT_OK(zb_json_parse(text, strlen(text), &json, &err), err);
    free(text);
    return json;
}

/* Names of what was deleted first go before the table grows without end; moves are refused. */
static void the_table_is_bounded(void **state) {
    char *text;
    zb_error err;
    (void)state;
    zb_moved *moved = many(20000, 0);
    zb_json *json = printed(moved);
    assert_in_range(zb_json_count(json), 5000, 12000);
    assert_non_null(zb_json_get(json, "node-00019999"));
    assert_null(zb_json_get(json, "node-00000000"));
    zb_json_free(json);
    zb_moved_free(moved);
    moved = many(1000, 2000);
    char *path = calloc(1, 200001);
    assert_non_null(path);
    memset(path, 'x', 200000);
    ASSERT_OK(zb__moved_move(moved, "a", path, &err), err);
    free(path);
    ASSERT_FAILS(zb__moved_print(moved, &text, &err), ZB_ELIMIT, err, "document_bytes");
    zb_moved_free(moved);
}

/* A table that another program has made is not read above the limit. */
static void a_table_that_is_too_large_is_not_read(void **state) {
    zb_json_writer *out = zb_json_writer_new();
    char name[32];
    zb_json *json;
    zb_moved *moved;
    zb_error err;
    size_t size;
    (void)state;
    zb_json_begin_object(out);
    for (int i = 0; i < 100000; i++) {
        snprintf(name, sizeof name, "node-%08d", i);
        zb_json_write_name(out, name);
        zb_json_write_string(out, "to");
    }
    zb_json_end_object(out);
    char *text = zb_json_writer_end(out, &size);
    ASSERT_OK(zb_json_parse(text, size, &json, &err), err);
    ASSERT_FAILS(zb_moved_parse(json, &moved, &err), ZB_ELIMIT, err, "document_bytes");
    assert_null(moved);
    zb_json_free(json);
    free(text);
}

/* The order is that of the deletions, not that in which names came. */
static void what_was_deleted_last_stays(void **state) {
    zb_error err;
    (void)state;
    zb_moved *moved = parse("{\"a\":\"x\",\"b\":null,\"c\":\"y\"}");
    ASSERT_OK(zb__moved_move(moved, "x", NULL, &err), err);
    assert_printed(moved, "{\"b\":null,\"c\":\"y\",\"a\":null}");
    zb_moved_free(moved);
}

/* Given names go before paths, which other nodes may get. */
static void given_names_go_first(void **state) {
    zb_error err;
    char path[64];
    (void)state;
    zb_moved *moved = many(8000, 0);
    for (int i = 0; i < 1000; i++) {
        snprintf(path, sizeof path, "z%d;%016x", i, i);
        ASSERT_OK(zb__moved_move(moved, path, NULL, &err), err);
    }
    zb_json *json = printed(moved);
    assert_non_null(zb_json_get(json, "node-00000000"));
    assert_null(zb_json_get(json, "z0;0000000000000000"));
    zb_json_free(json);
    zb_moved_free(moved);
}

/* A node may be called like a given name: what is made there later is not the one that was
   deleted. */
static void paths_may_look_like_given_names(void **state) {
    zb_error err;
    (void)state;
    zb_moved *moved = parse("{}");
    ASSERT_OK(zb__moved_move(moved, "d;0123456789abcdef", NULL, &err), err);
    assert_text(zb_moved_path(moved, "d;0123456789abcdef"), NULL);
    assert_text(zb_moved_name(moved, "d;0123456789abcdef"), NULL);
    zb_moved_free(moved);
}

/* What a kill has left is as the nodes are; where they do not tell, the name leads nowhere. */
static void a_killed_move_is_settled(void **state) {
    (void)state;
    static const struct {
        bool is_at_from, is_at_to;
        const char *path, *at_from, *at_to;
    } rows[] = {{true, false, "d", "d", "e"},
                {false, true, "e", NULL, "d"},
                {true, true, NULL, NULL, "e"},
                {false, false, NULL, NULL, "e"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_error err;
        zb_moved *moved = parse("{}");
        ASSERT_OK(zb__moved_settle(moved, "d", "e", rows[i].is_at_from, rows[i].is_at_to, &err),
                  err);
        assert_text(zb_moved_path(moved, "d"), rows[i].path);
        assert_text(zb_moved_name(moved, "d"), rows[i].at_from);
        assert_text(zb_moved_name(moved, "e"), rows[i].at_to);
        zb_moved_free(moved);
    }
}

/* Quotes and control characters count as often as they stand in the document. */
static void escapes_are_counted(void **state) {
    char *text;
    zb_error err;
    char path[1101] = "";
    (void)state;
    zb_moved *moved = parse("{}");
    memset(path, 1, sizeof path - 1);
    for (int i = 0; i < 400; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(path, 8, "p%06d", i);
        path[7] = 1;
        ASSERT_OK(zb__moved_move(moved, name, path, &err), err);
    }
    ASSERT_FAILS(zb__moved_print(moved, &text, &err), ZB_ELIMIT, err, "document_bytes");
    zb_moved_free(moved);
}

/* ---- A model ---- */

enum { NODES = 24, NAME = 64 };

/* Nodes by their paths, with the name that was taken down of each. */
typedef struct model {
    char path[NODES][NAME]; /* "": there is none */
    char *name[NODES];      /* NULL: nobody has asked yet */
} model;

static bool is_at_or_below(const char *path, const char *above) {
    const size_t length = strlen(above);
    return strncmp(path, above, length) == 0 && (!path[length] || path[length] == '/');
}

static int node_at(const model *m, const char *path) {
    for (int i = 0; i < NODES; i++)
        if (*m->path[i] && strcmp(m->path[i], path) == 0)
            return i;
    return -1;
}

static void pick_path(check_random *random, char *out) {
    const unsigned depth = 1 + (unsigned)(check_random_next(random) % 3);
    *out = '\0';
    for (unsigned i = 0; i < depth; i++) {
        if (i > 0)
            strcat(out, "/");
        const char letter[2] = {(char)('a' + check_random_next(random) % 3), '\0'};
        strcat(out, letter);
    }
}

static void step(model *m, zb_moved *moved, check_random *random) {
    char path[NAME], to[NAME], moved_path[2 * NAME];
    zb_error err;
    pick_path(random, path);
    const int node = node_at(m, path);
    switch (check_random_next(random) % 4) {
    case 0: /* a new node, below one that is there */
        for (int i = 0; node < 0 && i < NODES; i++) {
            char above[NAME];
            strcpy(above, path);
            if (strrchr(above, '/'))
                *strrchr(above, '/') = '\0';
            if (*m->path[i] || (strchr(path, '/') && node_at(m, above) < 0))
                continue;
            strcpy(m->path[i], path);
            free(m->name[i]);
            m->name[i] = NULL;
            break;
        }
        return;
    case 1: /* a reference */
        if (node < 0 || m->name[node])
            return;
        m->name[node] = zb_moved_name(moved, path);
        if (!m->name[node]) {
            ASSERT_OK(zb__moved_assign(moved, path, &err), err);
            m->name[node] = zb_moved_name(moved, path);
        }
        assert_non_null(m->name[node]);
        return;
    case 2: /* a deletion, now and then */
        if (node < 0 || check_random_next(random) % 3)
            return;
        ASSERT_OK(zb__moved_move(moved, path, NULL, &err), err);
        for (int i = 0; i < NODES; i++)
            if (is_at_or_below(m->path[i], path))
                *m->path[i] = '\0';
        return;
    default:
        pick_path(random, to);
        if (node < 0 || node_at(m, to) >= 0 || is_at_or_below(to, path))
            return;
        strcpy(moved_path, to);
        if (strrchr(moved_path, '/')) {
            *strrchr(moved_path, '/') = '\0';
            if (node_at(m, moved_path) < 0)
                return;
        }
        ASSERT_OK(zb__moved_move(moved, path, to, &err), err);
        for (int i = 0; i < NODES; i++) {
            if (!is_at_or_below(m->path[i], path))
                continue;
            strcat(strcpy(moved_path, to), m->path[i] + strlen(path));
            if (strlen(moved_path) < NAME)
                strcpy(m->path[i], moved_path);
        }
    }
}

/* Each name leads to its node, or nowhere when that is gone. */
static void names_lead_to_their_nodes(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int run = 1; run <= 400; run++) {
        model m = {.name = {NULL}};
        zb_moved *moved = parse("{}");
        for (int i = 0; i < 60; i++) {
            step(&m, moved, &random);
            for (int n = 0; n < NODES; n++) {
                if (!m.name[n])
                    continue;
                char *path = zb_moved_path(moved, m.name[n]);
                if (path && !*m.path[n] && node_at(&m, path) >= 0)
                    fail_msg("run %d: %s leads to /%s", run, m.name[n], path);
                if (*m.path[n] && (!path || strcmp(path, m.path[n]) != 0))
                    fail_msg("run %d: %s leads to /%s, not to /%s", run, m.name[n],
                             path ? path : "(nothing)", m.path[n]);
                free(path);
            }
        }
        for (int n = 0; n < NODES; n++)
            free(m.name[n]);
        zb_moved_free(moved);
    }
}

/* ---- In a store ---- */

static char *member_of(zb_hierarchy *hierarchy, const char *group) {
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, group, &node, &err), err);
    zb_hdf5_extension *extension;
    ASSERT_OK(zb_hdf5_extension_of(node, &extension, &err), err);
    const zb_json *member = zb_hdf5_extension_get(extension, ZB_HDF5_MOVED);
    char *text = member ? zb_json_print(member) : NULL;
    zb_hdf5_extension_free(extension);
    zb_node_release(node);
    return text;
}

static void make(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_group_create(hierarchy, path, NULL, &node, &err), err);
    zb_node_release(node);
}

static void begin(zb_hierarchy *hierarchy, const char *group, const char *path) {
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, group, &node, &err), err);
    ASSERT_OK(zb_moved_begin(node, path, true, &err), err);
    zb_node_release(node);
}

static void moves_and_deletions_are_noted(void **state) {
    zb_hierarchy *hierarchy;
    zb_error err;
    (void)state;
    ASSERT_OK(zb_hierarchy_new_mem("moved", &hierarchy, &err), err);
    make(hierarchy, "");
    make(hierarchy, "g/d");
    make(hierarchy, "g/e");
    ASSERT_OK(zb_node_move(hierarchy, "g/e", "g/f", &err), err);
    assert_text(member_of(hierarchy, ""), NULL); /* nobody wants to know */
    begin(hierarchy, "", NULL);
    begin(hierarchy, "g", NULL);
    ASSERT_OK(zb_node_move(hierarchy, "g/d", "g/x", &err), err);
    assert_text(member_of(hierarchy, ""), "{\"g/d\":\"g/x\"}");
    assert_text(member_of(hierarchy, "g"), "{\"d\":\"x\"}");
    ASSERT_OK(zb_node_move(hierarchy, "g/f", "f", &err), err); /* out of the group */
    assert_text(member_of(hierarchy, ""), "{\"g/d\":\"g/x\",\"g/f\":\"f\"}");
    assert_text(member_of(hierarchy, "g"), "{\"d\":\"x\",\"f\":null}");
    ASSERT_OK(zb_node_move(hierarchy, "g", "h", &err), err); /* with what it keeps */
    assert_text(member_of(hierarchy, ""), "{\"g/d\":\"h/x\",\"g/f\":\"f\",\"g\":\"h\"}");
    assert_text(member_of(hierarchy, "h"), "{\"d\":\"x\",\"f\":null}");
    ASSERT_OK(zb_node_delete(hierarchy, "h", &err), err);
    assert_text(member_of(hierarchy, ""), "{\"g/f\":\"f\",\"g\":null}");
    assert_int_equal(zb_node_delete(hierarchy, "h", &err), ZB_ENOTFOUND);
    assert_int_equal(zb_node_move(hierarchy, "f", "f/g", &err), ZB_EINVAL);
    assert_text(member_of(hierarchy, ""), "{\"g/f\":\"f\",\"g\":null}"); /* as it was */
    zb_hierarchy_release(hierarchy);
}

/* The root as a program leaves it that is killed when it has noted the move of d to e, and has
   moved the node or not. The next new node is at the other path. */
static void a_kill_leads_no_name_to_a_new_node(void **state) {
    (void)state;
    for (int has_moved = 0; has_moved < 2; has_moved++) {
        const char *there = has_moved ? "e" : "d", *other = has_moved ? "d" : "e";
        zb_hierarchy *hierarchy;
        zb_node *node, *changed;
        zb_moved *moved;
        zb_error err;
        ASSERT_OK(zb_hierarchy_new_mem("killed", &hierarchy, &err), err);
        make(hierarchy, "");
        make(hierarchy, there);
        ASSERT_OK(zb_node_open(hierarchy, "", &node, &err), err);
        ASSERT_OK(
            zb_node_set_attribute(
                node, "_hdf5",
                "\"{\\\"version\\\":1,\\\"moved\\\":{},\\\"moving\\\":[\\\"d\\\",\\\"e\\\"]}\"",
                &changed, &err),
            err);
        ASSERT_OK(zb_moved_of(changed, &moved, NULL, &err), err); /* a reader sees it at once */
        assert_text(zb_moved_path(moved, "d"), there);
        zb_moved_free(moved);
        zb_node_release(changed);
        zb_node_release(node);
        make(hierarchy, other);
        ASSERT_OK(zb_node_open(hierarchy, "", &node, &err), err);
        ASSERT_OK(zb_moved_of(node, &moved, NULL, &err), err);
        assert_text(zb_moved_path(moved, "d"), there);
        assert_text(member_of(hierarchy, ""), has_moved ? "{\"d\":\"e\"}" : "{}");
        zb_moved_free(moved);
        zb_node_release(node);
        zb_hierarchy_release(hierarchy);
    }
}

/* A name of a node that is not there would lead to the one that comes. */
static void only_nodes_get_names(void **state) {
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_error err;
    (void)state;
    ASSERT_OK(zb_hierarchy_new_mem("names", &hierarchy, &err), err);
    make(hierarchy, "");
    make(hierarchy, "d");
    begin(hierarchy, "", "d");
    ASSERT_OK(zb_node_move(hierarchy, "d", "e", &err), err);
    ASSERT_OK(zb_node_open(hierarchy, "", &node, &err), err);
    ASSERT_FAILS(zb_moved_begin(node, "d", true, &err), ZB_ENOTFOUND, err, "no node /d");
    ASSERT_OK(zb_moved_begin(node, "d", false, &err), err);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* As nodes that move: each group above that keeps track, and no other, hears of it. */
static void what_is_no_node_is_told(void **state) {
    zb_hierarchy *hierarchy;
    zb_error err;
    (void)state;
    ASSERT_OK(zb_hierarchy_new_mem("told", &hierarchy, &err), err);
    make(hierarchy, "");
    make(hierarchy, "a/b");
    ASSERT_OK(zb_moved_tell(hierarchy, "a/b/d", "e", &err), err);
    assert_text(member_of(hierarchy, ""), NULL);
    begin(hierarchy, "", NULL);
    begin(hierarchy, "a/b", NULL); /* no group is at a */
    ASSERT_OK(zb_moved_tell(hierarchy, "a/b/d", "e", &err), err);
    assert_text(member_of(hierarchy, ""), "{\"a/b/d\":\"e\"}");
    assert_text(member_of(hierarchy, "a/b"), "{\"d\":null}");
    ASSERT_OK(zb_moved_tell(hierarchy, "e", NULL, &err), err);
    assert_text(member_of(hierarchy, ""), "{\"a/b/d\":null}");
    zb_hierarchy_release(hierarchy);
}

/* The group's document, which holds much else, stays one that can be opened. */
static void a_full_document_grows_no_further(void **state) {
    const size_t size = zb_limits_get()->document_bytes - 400;
    char *text = malloc(size + 1);
    char name[304] = "x";
    zb_hierarchy *hierarchy;
    zb_node *node, *changed;
    zb_error err;
    (void)state;
    assert_non_null(text);
    memset(text, 'x', size);
    memset(name, 'n', 300);
    text[0] = text[size - 1] = '"';
    text[size] = '\0';
    ASSERT_OK(zb_hierarchy_new_mem("full", &hierarchy, &err), err);
    make(hierarchy, "");
    make(hierarchy, "d");
    begin(hierarchy, "", NULL);
    ASSERT_OK(zb_node_open(hierarchy, "", &node, &err), err);
    ASSERT_OK(zb_node_set_attribute(node, "text", text, &changed, &err), err);
    zb_node_release(changed);
    zb_node_release(node);
    ASSERT_FAILS(zb_node_move(hierarchy, "d", name, &err), ZB_ELIMIT, err, "document_bytes");
    assert_text(member_of(hierarchy, ""), "{}");
    ASSERT_OK(zb_node_open(hierarchy, "d", &node, &err), err);
    zb_node_release(node);
    ASSERT_OK(zb_node_move(hierarchy, "d", "e", &err), err);
    assert_text(member_of(hierarchy, ""), "{\"d\":\"e\"}");
    zb_hierarchy_release(hierarchy);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_member_names_are_paths),
        cmocka_unit_test(a_name_follows),
        cmocka_unit_test(a_node_that_came_later_gets_its_own),
        cmocka_unit_test(nodes_in_the_making_have_no_name),
        cmocka_unit_test(deleted_names_stay_below_one_that_has_moved),
        cmocka_unit_test(hostile_entries_are_left_out),
        cmocka_unit_test(the_table_is_bounded),
        cmocka_unit_test(a_table_that_is_too_large_is_not_read),
        cmocka_unit_test(what_was_deleted_last_stays),
        cmocka_unit_test(given_names_go_first),
        cmocka_unit_test(paths_may_look_like_given_names),
        cmocka_unit_test(a_killed_move_is_settled),
        cmocka_unit_test(escapes_are_counted),
        cmocka_unit_test(names_lead_to_their_nodes),
        cmocka_unit_test(moves_and_deletions_are_noted),
        cmocka_unit_test(a_kill_leads_no_name_to_a_new_node),
        cmocka_unit_test(only_nodes_get_names),
        cmocka_unit_test(what_is_no_node_is_told),
        cmocka_unit_test(a_full_document_grows_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
