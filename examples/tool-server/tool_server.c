/* tool_server.c - what a tool server does before it runs a call: it checks the credential, with the
 * installed library alone.
 *
 *     tool_server JWKS AUDIENCE ISSUER < CALLS
 *
 * Every line of standard input is a call: its tool, its arguments and its credential, separated by
 * tabs. Every answer is a line: what the call was made for, or the reason why it was not. The time
 * is that of the clock, or of TOOL_SERVER_NOW. */
#include <writ/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define USED_MAX 1024

/* Which credentials were used. A real server shares and keeps this: for as long as they live. */
static struct used {
    char jti[257];
    int64_t until_s;
} used[USED_MAX];

static int64_t
now_s(void)
{
    const char *fixed = getenv("TOOL_SERVER_NOW");

    return fixed != NULL ? strtoll(fixed, NULL, 10) : (int64_t)time(NULL);
}

static enum writ_verify_use
use(void *ctx, struct writ_view jti, int64_t until_s)
{
    struct used *room = NULL;

    (void)ctx;
    for (size_t i = 0; i < USED_MAX; i++) {
        if (used[i].until_s < now_s()) {
            room = &used[i];
        } else if (strlen(used[i].jti) == jti.len && memcmp(used[i].jti, jti.ptr, jti.len) == 0) {
            return WRIT_VERIFY_USE_SPENT;
        }
    }
    if (room == NULL || jti.len >= sizeof room->jti) {
        return WRIT_VERIFY_USE_UNKNOWN; /* no room to remember it: better not */
    }
    memcpy(room->jti, jti.ptr, jti.len);
    room->jti[jti.len] = '\0';
    room->until_s = until_s;
    return WRIT_VERIFY_USE_FRESH;
}

static struct writ_view
view(const char *text)
{
    return (struct writ_view){text, strlen(text)};
}

static void
answer(const struct writ_verify *verify, char *const argv[], char *line)
{
    char *rest = line;
    const char *tool = strsep(&rest, "\t"), *arguments = strsep(&rest, "\t");
    const char *token = strsep(&rest, "\t");
    struct writ_verify_answer answer = {0};
    struct writ_err err = {{0}, 0, 0};
    const struct writ_verify_call call = {
        .tool = view(tool),
        .arguments = view(arguments != NULL ? arguments : ""),
        .audience = view(argv[2]),
        .issuer = view(argv[3]),
        .any_agent = true,
        .any_tenant = true,
        .any_target_state = true,
        .now_s = now_s(),
        .use = use,
    };

    if (writ_verify_credential(verify, view(token != NULL ? token : ""), &call, &answer, &err)
            .code != WRIT_OK) {
        printf("no answer: %s\n", err.text);
    } else if (!answer.ok) {
        printf("%s: %s\n", answer.reason, answer.sentence);
    } else {
        printf("ok: %s for %.*s\n", tool, (int)answer.agent_id.len, answer.agent_id.ptr);
    }
    writ_verify_wipe(&answer);
}

static struct writ_verify *
with_keys(const char *path)
{
    static char text[256 * 1024 + 1];
    FILE *file = fopen(path, "r");
    size_t len = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    struct writ_verify *verify = NULL;
    struct writ_err err = {"no such file", 0, 0};

    if (file == NULL || writ_verify_new(&verify, &err).code != WRIT_OK ||
        writ_verify_keys(verify, (struct writ_view){text, len}, &err).code != WRIT_OK) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    return verify;
}

int
main(int argc, char *argv[])
{
    struct writ_verify *verify;
    char *line = NULL;
    size_t room = 0;
    ssize_t len;

    if (argc != 4) {
        fprintf(stderr, "usage: tool_server JWKS AUDIENCE ISSUER < CALLS\n");
        return EXIT_FAILURE;
    }
    verify = with_keys(argv[1]);
    while ((len = getline(&line, &room, stdin)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        answer(verify, argv, line);
    }
    free(line);
    writ_verify_free(verify);
    return EXIT_SUCCESS;
}
