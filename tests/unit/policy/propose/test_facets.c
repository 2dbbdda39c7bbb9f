/* facets.h: what schemas say together, and what no constraint can say. */
#include "policy/propose/facets.h"

#include "support/evidence/value.h"
#include "support/unit.h"

static struct writ_facets
facets_of(const char *schema)
{
    const struct writ_json *root = writ_values_json(schema);
    struct writ_facets facets;

    writ_facets_read(root, root, &facets);
    return facets;
}

START_TEST(facets_read_several_schemas_gives_the_common_type)
{
    static const struct {
        const char *schema;
        enum writ_facets_type type;
        bool nullable, many, untyped;
    } cases[] = {
        {"{\"type\":\"string\"}", WRIT_FACETS_STRING, false, false, false},
        {"{\"type\":[\"string\"]}", WRIT_FACETS_STRING, false, false, false},
        {"{\"type\":[\"null\",\"string\"]}", WRIT_FACETS_STRING, true, false, false},
        {"{\"type\":[\"string\",\"number\"]}", WRIT_FACETS_STRING, false, true, false},
        {"{\"type\":[\"boolean\",\"string\"]}", WRIT_FACETS_BOOLEAN, false, true, false},
        {"{\"type\":[\"integer\",\"number\"]}", WRIT_FACETS_NUMBER, false, false, false},
        {"{\"type\":[\"integer\",\"string\"]}", WRIT_FACETS_INTEGER, false, true, false},
        {"{\"type\":[\"number\",\"integer\"]}", WRIT_FACETS_NUMBER, false, false, false},
        {"{\"type\":\"number\",\"allOf\":[{\"type\":\"integer\"}]}", WRIT_FACETS_INTEGER, false,
            false, false},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", WRIT_FACETS_STRING, true, false,
            false},
        {"{\"oneOf\":[{\"type\":\"null\"},{\"type\":\"boolean\"}]}", WRIT_FACETS_BOOLEAN, true,
            false, false},
        {"{\"type\":\"string\",\"anyOf\":[{\"maxLength\":3},{\"type\":\"null\"}]}",
            WRIT_FACETS_STRING, false, false, false},
        {"{\"anyOf\":[{\"type\":\"array\"},{\"type\":\"object\"}]}", WRIT_FACETS_ARRAY, false, true,
            false},
        {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"object\"}}}", WRIT_FACETS_OBJECT,
            false, false, false},
        {"{\"properties\":{}}", WRIT_FACETS_OBJECT, false, false, false},
        {"{\"items\":{}}", WRIT_FACETS_ARRAY, false, false, false},
        {"{\"maximum\":3}", WRIT_FACETS_NUMBER, false, false, false},
        {"{\"pattern\":\"a\"}", WRIT_FACETS_STRING, false, false, false},
        {"{}", WRIT_FACETS_STRING, false, false, true},
        {"true", WRIT_FACETS_STRING, false, false, true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_facets facets = facets_of(cases[i].schema);
        ck_assert_msg(facets.lost == NULL, "%s: %s", cases[i].schema, facets.lost);
        ck_assert_msg(facets.type == cases[i].type, "%s: type %d", cases[i].schema, facets.type);
        ck_assert_msg(facets.nullable == cases[i].nullable, "%s: null", cases[i].schema);
        ck_assert_msg(facets.one_of_many == cases[i].many, "%s: many", cases[i].schema);
        ck_assert_msg(facets.untyped == cases[i].untyped, "%s: untyped", cases[i].schema);
    }
}
END_TEST

START_TEST(facets_read_inexpressible_schema_is_lost)
{
    static const char *const lost[] = {"false", "3", "{\"type\":\"nothing\"}",
        "{\"type\":\"string\",\"allOf\":[{\"type\":\"number\"}]}", "{\"$ref\":\"other.json#/a\"}",
        "{\"$ref\":\"#/$defs/none\"}", "{\"$ref\":\"#/%24defs/a\",\"$defs\":{\"a\":{}}}",
        "{\"$ref\":\"#\"}", "{\"$ref\":3}", "{\"$dynamicRef\":\"#a\"}",
        "{\"type\":\"string\",\"not\":{\"maxLength\":3}}",
        "{\"type\":\"string\",\"if\":{\"const\":\"a\"},\"then\":{}}", "{\"anyOf\":3}",
        "{\"anyOf\":[]}", "{\"anyOf\":[false,{\"type\":\"string\"}]}"};

    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        ck_assert_msg(facets_of(lost[i]).lost != NULL, "%s", lost[i]);
    }
    ck_assert_ptr_null(
        facets_of("{\"type\":\"object\",\"not\":{\"required\":[\"a\",\"b\"]}}").lost);
    ck_assert_ptr_null(facets_of("{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}],"
                                 "\"type\":\"object\"}")
                           .lost);
}
END_TEST

START_TEST(facets_read_null_and_listed_values_need_no_type)
{
    struct writ_facets constants =
        facets_of("{\"oneOf\":[{\"const\":1},{\"const\":\"a\"},{\"const\":null}]}");

    ck_assert(facets_of("{\"type\":\"null\"}").only_null);
    ck_assert(facets_of("{\"anyOf\":[{\"type\":\"null\"}]}").only_null);
    ck_assert(!facets_of("{\"type\":\"string\",\"anyOf\":[{\"type\":\"null\"}]}").only_null);
    ck_assert(writ_facets_is_listed(&constants));
    ck_assert(constants.nullable);
    ck_assert_ptr_nonnull(constants.choices);
    ck_assert(facets_of("{\"enum\":[1,null]}").nullable);
    ck_assert(!facets_of("{\"type\":\"integer\",\"enum\":[1,null]}").nullable);
    ck_assert(!facets_of("{\"type\":[\"integer\",\"null\"],\"enum\":[1]}").nullable);
}
END_TEST

START_TEST(facets_read_too_many_schemas_is_lost)
{
    writ_auto_buf text = writ_buf_make(1 << 16);

    for (int n = WRIT_FACETS_NODES_MAX - 1; n <= WRIT_FACETS_NODES_MAX; n++) {
        writ_buf_clear(&text);
        writ_buf_str(&text, "{\"type\":\"string\",\"allOf\":[{}");
        for (int i = 1; i < n; i++) {
            writ_buf_str(&text, ",{}");
        }
        writ_buf_str(&text, "]}");
        writ_buf_byte(&text, '\0');
        ck_assert_int_eq(facets_of(text.ptr).lost == NULL, n < WRIT_FACETS_NODES_MAX);
    }
}
END_TEST

WRIT_UNIT_MAIN("facets", facets_read_several_schemas_gives_the_common_type,
    facets_read_inexpressible_schema_is_lost, facets_read_null_and_listed_values_need_no_type,
    facets_read_too_many_schemas_is_lost)
