/* The tools that a hostile tool server lists: the input is a JSON array of definitions and, behind
 * a newline, arguments of a call.
 *
 * For every input: a tool is found by its name unless two definitions of it differ, with the
 * digest of its own definition; its shown name is one that clients take, and leads back to it or
 * to a tool of the same name; and the same list gives the same catalog. Each of its headers has
 * its own argument and name, and a header with the value of the argument agrees. */
#include "support/fuzz.h"

#include "evidence/json/jcs.h"
#include "gateway/mcp/tool_name.h"

#define ARENA_MAX ((size_t)64 << 20)
#define NAME_MAX  ((size_t)1 << 20)
#define SEPARATOR WRIT_LIT("__")
#define UPSTREAM  WRIT_LIT("fs")

static struct writ_arena *arena;

static struct writ_catalog *
catalog_of(const struct writ_json *list)
{
    struct writ_catalog *catalog = NULL;

    WRIT_INVARIANT(writ_is_ok(writ_catalog_new(&catalog)));
    WRIT_JSON_EACH(item, list)
    {
        writ_result added = writ_catalog_add(catalog, item);

        WRIT_INVARIANT(added.code != WRIT_E_NOMEM && added.code != WRIT_E_CRYPTO);
    }
    writ_catalog_seal(catalog);
    return catalog;
}

static bool
is_wire_name(struct writ_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '_' || c == '-' || c == '.')) {
            return false;
        }
    }
    return name.len > 0 && name.len <= WRIT_TOOL_NAME_NAME_MAX;
}

/* What a client sends that has seen the list. */
static void
check_shown(const struct writ_catalog *catalog, const struct writ_catalog_tool *tool)
{
    writ_auto_buf shown = writ_buf_make(NAME_MAX), again = writ_buf_make(NAME_MAX);
    struct writ_view upstream, own, back;

    writ_tool_name_put_tool(SEPARATOR, UPSTREAM, tool->name, &shown);
    WRIT_INVARIANT(is_wire_name(writ_buf_view(&shown)));
    WRIT_INVARIANT(writ_tool_name_split(SEPARATOR, writ_buf_view(&shown), &upstream, &own));
    WRIT_INVARIANT(writ_view_equal(upstream, UPSTREAM));
    back = writ_tool_name_tool(SEPARATOR, UPSTREAM, own, catalog);
    if (!writ_view_equal(back, tool->name)) { /* the name is another tool's own */
        WRIT_INVARIANT(writ_view_equal(back, own));
    }
    writ_tool_name_put_tool(SEPARATOR, UPSTREAM, back, &again);
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&again), writ_buf_view(&shown)));
}

static void
check_param(const struct writ_param *param, const struct writ_json *arguments)
{
    const struct writ_json *value = writ_json_pointer(arguments, param->pointer);
    enum writ_param_answer silent = writ_param_check(param, arguments, writ_view(NULL, 0));

    WRIT_INVARIANT(writ_view_has_prefix(param->header, WRIT_LIT("Mcp-Param-")));
    WRIT_INVARIANT(writ_json_is_pointer(param->pointer) && param->type != WRIT_PARAM_NONE);
    if (value == NULL || writ_json_type(value) == WRIT_JSON_NULL) {
        WRIT_INVARIANT(silent == WRIT_PARAM_AGREES);
        WRIT_INVARIANT(writ_param_check(param, arguments, WRIT_LIT("x")) == WRIT_PARAM_DIFFERS);
    }
    WRIT_INVARIANT(silent != WRIT_PARAM_DIFFERS);
    if (silent == WRIT_PARAM_MISSING && param->type == WRIT_PARAM_BOOLEAN) {
        bool yes = writ_json_type(value) == WRIT_JSON_TRUE;

        WRIT_INVARIANT(writ_param_check(param, arguments,
                           yes ? WRIT_LIT("true") : WRIT_LIT("false")) == WRIT_PARAM_AGREES);
        WRIT_INVARIANT(writ_param_check(param, arguments,
                           yes ? WRIT_LIT("false") : WRIT_LIT("true")) == WRIT_PARAM_DIFFERS);
    }
}

static void
check_tool(const struct writ_catalog *catalog, const struct writ_catalog_tool *tool,
    const struct writ_json *arguments)
{
    const struct writ_catalog_tool *found = writ_catalog_find(catalog, tool->name);
    struct writ_digest digest;

    WRIT_INVARIANT(found == (tool->doubled ? NULL : tool));
    WRIT_INVARIANT(writ_is_ok(writ_digest_bytes(tool->text, &digest, NULL)));
    WRIT_INVARIANT(writ_digest_equal(&digest, &tool->digest));
    if (found != NULL) {
        check_shown(catalog, tool);
    }
    for (size_t i = 0; i < tool->params.n; i++) {
        check_param(&tool->params.items[i], arguments);
        for (size_t j = 0; j < i; j++) {
            WRIT_INVARIANT(!writ_view_equal_nocase(
                tool->params.items[i].header, tool->params.items[j].header));
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size);
    size_t end = writ_view_find(text, '\n');
    const struct writ_json *list = NULL, *arguments = NULL;
    struct writ_catalog *catalog, *again;

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    if (!writ_is_ok(writ_json_read(
            writ_view_sub(text, 0, end), &writ_json_limits_default, arena, &list, NULL))) {
        return 0;
    }
    /* text that is not JSON gives no arguments: NULL */
    (void)!writ_is_ok(writ_json_read(writ_view_sub(text, end + 1, text.len),
        &writ_json_limits_default, arena, &arguments, NULL));
    catalog = catalog_of(list);
    again = catalog_of(list);
    WRIT_INVARIANT(writ_catalog_equal(catalog, again));
    for (size_t i = 0; i < catalog->n; i++) {
        check_tool(catalog, &catalog->tools[i], arguments);
    }
    writ_catalog_drop(catalog);
    writ_catalog_drop(again);
    return 0;
}
