/* Capabilities of MCP clients. A method that needs a capability is refused when the client has not
 * declared it. */
#include "support/unit.h"

#include "gateway/mcp/abilities.h"
#include "gateway/mcp/mcp.h"

static const struct writ_json *
json_of(const char *text, struct writ_arena *arena)
{
    const struct writ_json *value = NULL;

    ck_assert_ok(
        writ_json_read(writ_view_str(text), &writ_json_limits_default, arena, &value, NULL));
    return value;
}

START_TEST(read_accepts_objects_only_as_capabilities)
{
    static const struct {
        const char *capabilities;
        unsigned abilities;
    } rows[] = {{"{}", 0}, {"[]", 0}, {"{\"sampling\":true,\"roots\":1,\"elicitation\":null}", 0},
        {"{\"sampling\":{}}", WRIT_ABLE_SAMPLING},
        {"{\"sampling\":{\"tools\":{}}}", WRIT_ABLE_SAMPLING | WRIT_ABLE_SAMPLING_TOOLS},
        {"{\"elicitation\":{}}", WRIT_ABLE_FORM},
        {"{\"elicitation\":{\"form\":{}}}", WRIT_ABLE_FORM},
        {"{\"elicitation\":{\"url\":{}}}", WRIT_ABLE_URL}, {"{\"elicitation\":{\"url\":true}}", 0},
        {"{\"elicitation\":{\"url\":{},\"form\":{}}}", WRIT_ABLE_URL | WRIT_ABLE_FORM},
        {"{\"roots\":{\"listChanged\":true}}", WRIT_ABLE_ROOTS},
        {"{\"tasks\":{}}", WRIT_ABLE_TASKS}};
    writ_auto_arena arena = writ_arena_new(1 << 16);

    ck_assert_uint_eq(writ_abilities_read(NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(
            writ_abilities_read(json_of(rows[i].capabilities, arena)) == rows[i].abilities, "%s",
            rows[i].capabilities);
    }
}
END_TEST

START_TEST(refuse_asks_for_the_ability_of_each_method)
{
    static const struct {
        const char *message;
        unsigned needs; /* 0: none */
        int code;       /* without it, with all others */
    } rows[] = {
        {"{\"method\":\"ping\"}", 0, 0},
        {"{\"method\":\"com.example/own\"}", 0, 0},
        {"{\"method\":\"sampling/createMessage\",\"params\":{}}", WRIT_ABLE_SAMPLING,
            WRIT_RPC_METHOD_NOT_FOUND},
        {"{\"method\":\"sampling/createMessage\",\"params\":{\"tools\":[]}}",
            WRIT_ABLE_SAMPLING_TOOLS, WRIT_RPC_INVALID_PARAMS},
        {"{\"method\":\"sampling/createMessage\",\"params\":{\"toolChoice\":{}}}",
            WRIT_ABLE_SAMPLING_TOOLS, WRIT_RPC_INVALID_PARAMS},
        {"{\"method\":\"elicitation/create\",\"params\":{}}", WRIT_ABLE_FORM,
            WRIT_RPC_INVALID_PARAMS},
        {"{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\"}}", WRIT_ABLE_FORM,
            WRIT_RPC_INVALID_PARAMS},
        {"{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\"}}", WRIT_ABLE_URL,
            WRIT_RPC_INVALID_PARAMS},
        {"{\"method\":\"roots/list\"}", WRIT_ABLE_ROOTS, WRIT_RPC_METHOD_NOT_FOUND},
        {"{\"method\":\"tasks/get\"}", WRIT_ABLE_TASKS, WRIT_RPC_METHOD_NOT_FOUND},
    };
    writ_auto_arena arena = writ_arena_new(1 << 16);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct writ_json *message = json_of(rows[i].message, arena);
        ck_assert_int_eq(writ_abilities_refuse(WRIT_ABLE_ALL, message), 0);
        ck_assert_int_eq(
            writ_abilities_refuse(WRIT_ABLE_ALL & ~rows[i].needs, message), rows[i].code);
        ck_assert_int_eq(
            writ_abilities_refuse(0, message), rows[i].needs == 0 ? 0 : WRIT_RPC_METHOD_NOT_FOUND);
    }
}
END_TEST

WRIT_UNIT_MAIN("abilities", read_accepts_objects_only_as_capabilities,
    refuse_asks_for_the_ability_of_each_method)
