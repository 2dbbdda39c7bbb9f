/* credential_issue KEY_DIR ISSUER AUDIENCE TENANT < DECISION - prints the credential of a placed
 * decision, as the gateway would issue it; TENANT may be empty. For tests that need a credential
 * without a gateway. */
#include "evidence/credential/credential.h"
#include "store/trusted/keydir.h"

#include <stdio.h>
#include <stdlib.h>

#define DECISION_MAX 65536
#define ARENA_MAX    ((size_t)1 << 20)

/* Reads the decision and issues; the members of `request` that argv gives are set. */
static WRIT_RESULT
issue(const char *dir, struct writ_credential_request *request, struct writ_arena *arena,
    struct writ_buf *ret, struct writ_err *err)
{
    static char text[DECISION_MAX];
    size_t len = fread(text, 1, sizeof(text), stdin);
    const struct writ_json *value = NULL;
    struct writ_decision decision;
    struct writ_keyring *ring = NULL;
    writ_result issued;

    WRIT_TRY(writ_json_read(writ_view(text, len), &writ_json_limits_default, arena, &value, err));
    WRIT_TRY(writ_decision_read(value, arena, &decision, err));
    WRIT_TRY(writ_keydir_load(dir, &ring, err));
    request->decision = &decision;
    issued = writ_credential_issue(
        writ_keyring_active(ring, WRIT_KEY_PURPOSE_CREDENTIAL), request, ret, err);
    writ_keyring_free(ring);
    return issued;
}

int
main(int argc, char **argv)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_err err = {.text = "usage: credential_issue KEY_DIR ISSUER AUDIENCE TENANT"};
    bool issued = false;

    if (argc == 5 && arena != NULL) {
        struct writ_credential_request request = {
            .issuer = writ_view_str(argv[2]),
            .audience = writ_view_str(argv[3]),
            .tenant = writ_view_str(argv[4]),
        };
        issued = writ_is_ok(issue(argv[1], &request, arena, &token, &err));
    }
    if (issued) {
        (void)printf(WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(writ_buf_view(&token)));
    } else {
        (void)fprintf(stderr, "credential_issue: %s\n", err.text);
    }
    writ_buf_wipe(&token);
    writ_arena_free(arena);
    return issued ? EXIT_SUCCESS : EXIT_FAILURE;
}
