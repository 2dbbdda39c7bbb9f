/* The scope that a server demands is read from a Bearer challenge alone. */
#include "support/unit.h"

#include "gateway/http/challenge.h"

START_TEST(scope_of_a_bearer_challenge)
{
    static const struct {
        const char *field, *scope; /* scope NULL: none */
    } cases[] = {
        {"Bearer scope=\"files:write admin\"", "files:write admin"},
        {"bearer realm=\"x\", SCOPE=\"a\", error=\"insufficient_scope\"", "a"},
        {"Bearer scope=a", "a"},
        {"Basic realm=\"scope=x\", Bearer error=\"e\",scope=\"b c\"", "b c"},
        {"Bearer realm=\"a\\\" scope=\\\"b\"", NULL},
        {"Basic scope=\"a\"", NULL},
        {"Bearer", NULL},
        {"", NULL},
        {"Bearer scope=\"\"", NULL},
        {"Bearer scope=\"a\xc3\xa9\"", NULL},
        {"Bearer scope=\"a", NULL},
        {"Bearer scope=\"a\\", NULL},
        {"Bearer \"scope=a\"", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writ_view scope = WRIT_LIT("kept");
        bool found = writ_challenge_scope(writ_view_str(cases[i].field), &scope);

        ck_assert_msg(found == (cases[i].scope != NULL), "%s", cases[i].field);
        ck_assert_msg(writ_view_is(scope, found ? cases[i].scope : "kept"), "%s", cases[i].field);
    }
}
END_TEST

WRIT_UNIT_MAIN("challenge", scope_of_a_bearer_challenge)
