/* catalog.c - tools are added one by one, then sealed: sorted by name and joined. A catalog does
 * not change after the seal, and the last holder frees it. */
#include "gateway/mcp/catalog.h"

#include "evidence/json/jcs.h"
#include "gateway/mcp/odd.h"
#include "policy/decide/approval.h"

#include "policy/schema/jsonschema.h"

#include <pthread.h>
#include <stdlib.h>

#define FIRST_CAP  32
#define SCHEMA_MAX ((size_t)32 << 20) /* arena of a definition whose schemas are compiled */

/* The schemas of one definition, made when a rule first asks for one. */
struct writ_catalog_schemas {
    pthread_mutex_t lock;
    struct {
        enum writ_code code; /* UNSET: not asked for yet */
        struct writ_jsonschema *schema;
    } of[2];
};

writ_result
writ_catalog_new(struct writ_catalog **ret)
{
    struct writ_catalog *catalog = writ_alloc(sizeof *catalog);

    if (catalog == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    atomic_init(&catalog->holders, 1);
    catalog->arena = writ_arena_new(WRIT_CATALOG_BYTES_MAX);
    if (catalog->arena == NULL) {
        writ_catalog_drop(catalog);
        return (writ_result){WRIT_E_NOMEM};
    }
    *ret = catalog;
    return WRIT_DONE;
}

static writ_result
make_room(struct writ_catalog *catalog)
{
    size_t cap = catalog->cap > 0 ? 2 * catalog->cap : FIRST_CAP;
    struct writ_catalog_tool *tools;

    if (catalog->n < catalog->cap) {
        return WRIT_DONE;
    }
    if (catalog->n >= WRIT_CATALOG_TOOLS_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    tools = writ_realloc(catalog->tools, cap * sizeof *tools);
    if (tools == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    catalog->tools = tools;
    catalog->cap = cap;
    return WRIT_DONE;
}

writ_result
writ_catalog_add(struct writ_catalog *catalog, const struct writ_json *item)
{
    struct writ_view name =
        writ_json_string(writ_json_get_typed(item, WRIT_LIT("name"), WRIT_JSON_STRING));
    writ_auto_buf text = writ_buf_make(WRIT_CATALOG_TOOL_MAX);
    struct writ_catalog_tool tool = {.hints = writ_approval_hints(item)};

    if (name.ptr == NULL) {
        return (writ_result){WRIT_E_INVALID};
    }
    WRIT_TRY(writ_jcs_put_lossless(&text, item, NULL));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&text), &tool.digest, NULL));
    tool.name = writ_view_copy(name, catalog->arena);
    tool.text = writ_view_copy(writ_buf_view(&text), catalog->arena);
    if (tool.name.ptr == NULL || tool.text.ptr == NULL) {
        return (writ_result){WRIT_E_LIMIT};
    }
    WRIT_TRY(writ_param_read(item, catalog->arena, &tool.params));
    WRIT_TRY(make_room(catalog));
    tool.schemas = writ_alloc(sizeof *tool.schemas);
    if (tool.schemas == NULL || pthread_mutex_init(&tool.schemas->lock, NULL) != 0) {
        writ_free(tool.schemas);
        return (writ_result){WRIT_E_NOMEM};
    }
    catalog->tools[catalog->n++] = tool;
    return WRIT_DONE;
}

/* ---- schemas ---- */

static void
free_schemas(struct writ_catalog_schemas *schemas)
{
    for (size_t i = 0; i < sizeof schemas->of / sizeof *schemas->of; i++) {
        writ_jsonschema_free(schemas->of[i].schema);
    }
    (void)pthread_mutex_destroy(&schemas->lock);
    writ_free(schemas);
}

static enum writ_code
compile(const struct writ_catalog_tool *tool, enum writ_catalog_schema which,
    struct writ_jsonschema **ret)
{
    writ_auto_arena arena = writ_arena_new(SCHEMA_MAX);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *definition = NULL, *schema;
    writ_result r;

    if (arena == NULL) {
        return WRIT_E_NOMEM;
    }
    limits.bytes = limits.string_bytes = WRIT_CATALOG_TOOL_MAX;
    r = writ_json_read(tool->text, &limits, arena, &definition, NULL);
    if (!writ_is_ok(r)) {
        return r.code == WRIT_E_PARSE ? WRIT_E_INVALID : r.code;
    }
    schema = writ_json_get(definition,
        which == WRIT_CATALOG_INPUT ? WRIT_LIT("inputSchema") : WRIT_LIT("outputSchema"));
    return schema == NULL
               ? WRIT_E_ABSENT
               : writ_jsonschema_new(schema, WRIT_JSONSCHEMA_FORMATS_ANNOTATE, ret, NULL).code;
}

WRIT_RESULT
writ_catalog_schema(const struct writ_catalog_tool *tool, enum writ_catalog_schema which,
    const struct writ_jsonschema **ret)
{
    struct writ_catalog_schemas *schemas = tool->schemas;
    enum writ_code code;

    (void)pthread_mutex_lock(&schemas->lock);
    if (schemas->of[which].code == WRIT_E_UNSET || schemas->of[which].code == WRIT_E_NOMEM) {
        schemas->of[which].code = compile(tool, which, &schemas->of[which].schema);
    }
    code = schemas->of[which].code;
    *ret = schemas->of[which].schema;
    (void)pthread_mutex_unlock(&schemas->lock);
    return (writ_result){code};
}

static int
by_name(const void *a, const void *b)
{
    const struct writ_catalog_tool *left = a, *right = b;

    return writ_view_compare(left->name, right->name);
}

/* Of neighbours with one name the first stays, and notes whether the others differed. */
static void
join_doubles(struct writ_catalog *catalog)
{
    size_t kept = 0;

    for (size_t i = 0; i < catalog->n; i++) {
        struct writ_catalog_tool *last = kept > 0 ? &catalog->tools[kept - 1] : NULL;
        if (last != NULL && writ_view_equal(last->name, catalog->tools[i].name)) {
            last->doubled =
                last->doubled || !writ_digest_equal(&last->digest, &catalog->tools[i].digest);
            free_schemas(catalog->tools[i].schemas);
        } else {
            catalog->tools[kept++] = catalog->tools[i];
        }
    }
    catalog->n = kept;
}

void
writ_catalog_seal(struct writ_catalog *catalog)
{
    if (catalog->n > 0) {
        qsort(catalog->tools, catalog->n, sizeof *catalog->tools, by_name);
    }
    join_doubles(catalog);
}

/* ---- oddities ---- */

static int
by_text(const void *a, const void *b)
{
    const struct writ_view *left = a, *right = b;

    return writ_view_compare(*left, *right);
}

static struct writ_view
skeleton_of(struct writ_view name, struct writ_arena *arena)
{
    struct writ_buf skeleton = writ_buf_in(arena, WRIT_ODDITY_SKELETON_MAX);

    writ_oddity_skeleton(&skeleton, name);
    return writ_buf_view(&skeleton);
}

void
writ_catalog_look_at(struct writ_catalog *catalog, const struct writ_catalog *known)
{
    struct writ_view *skeletons =
        writ_arena_get(catalog->arena, (catalog->n + 1) * sizeof *skeletons);

    for (size_t i = 0; i < catalog->n; i++) {
        struct writ_catalog_tool *tool = &catalog->tools[i];
        const struct writ_catalog_tool *before = writ_catalog_find(known, tool->name);

        tool->odd = before != NULL && writ_digest_equal(&before->digest, &tool->digest)
                        ? before->odd
                        : writ_odd_of_text(tool->text);
        if (skeletons != NULL) {
            skeletons[i] = skeleton_of(tool->name, catalog->arena);
        }
    }
    if (skeletons != NULL && catalog->n > 0) {
        qsort(skeletons, catalog->n, sizeof *skeletons, by_text);
    }
    catalog->skeletons = skeletons;
}

static const struct writ_catalog_tool *
find(const struct writ_catalog *catalog, struct writ_view name)
{
    size_t low = 0, high = catalog != NULL ? catalog->n : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct writ_catalog_tool *tool = &catalog->tools[middle];
        int order = writ_view_compare(tool->name, name);
        if (order == 0) {
            return tool;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

/* How many names look so. */
static size_t
count_alike(const struct writ_catalog *catalog, struct writ_view skeleton)
{
    size_t low = 0, high = catalog->n, n = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (writ_view_compare(catalog->skeletons[middle], skeleton) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (low + n < catalog->n && writ_view_equal(catalog->skeletons[low + n], skeleton)) {
        n++;
    }
    return n;
}

unsigned
writ_catalog_odd_name(const struct writ_catalog *catalog, struct writ_view name,
    const struct writ_digest *digest, struct writ_view skeleton)
{
    const struct writ_catalog_tool *tool = find(catalog, name);
    size_t same = tool != NULL ? 1 : 0;
    bool repeats = tool != NULL &&
                   (tool->doubled || digest == NULL || !writ_digest_equal(&tool->digest, digest));

    if (catalog == NULL || catalog->n == 0) {
        return 0;
    }
    return (repeats ? WRIT_ODD_BIT(WRIT_ODDITY_REPEATS) : 0) |
           /* no memory: not known to be another */
           (catalog->skeletons == NULL || count_alike(catalog, skeleton) > same
                   ? WRIT_ODD_BIT(WRIT_ODDITY_IMITATES)
                   : 0);
}

const struct writ_catalog_tool *
writ_catalog_find(const struct writ_catalog *catalog, struct writ_view name)
{
    const struct writ_catalog_tool *tool = find(catalog, name);

    return tool != NULL && !tool->doubled ? tool : NULL;
}

bool
writ_catalog_is_doubled(const struct writ_catalog *catalog, struct writ_view name)
{
    const struct writ_catalog_tool *tool = find(catalog, name);

    return tool != NULL && tool->doubled;
}

bool
writ_catalog_equal(const struct writ_catalog *a, const struct writ_catalog *b)
{
    size_t n = a != NULL ? a->n : 0;

    if (n != (b != NULL ? b->n : 0) || (a == NULL) != (b == NULL)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!writ_view_equal(a->tools[i].name, b->tools[i].name) ||
            a->tools[i].doubled != b->tools[i].doubled ||
            !writ_digest_equal(&a->tools[i].digest, &b->tools[i].digest)) {
            return false;
        }
    }
    return true;
}

struct writ_catalog *
writ_catalog_hold(struct writ_catalog *catalog)
{
    (void)atomic_fetch_add(&catalog->holders, 1);
    return catalog;
}

void
writ_catalog_drop(struct writ_catalog *catalog)
{
    if (catalog == NULL || atomic_fetch_sub(&catalog->holders, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < catalog->n; i++) {
        free_schemas(catalog->tools[i].schemas);
    }
    writ_arena_free(catalog->arena);
    writ_free(catalog->tools);
    writ_free(catalog);
}
