/* Statements of rotation in hostile hands. The input is pairs of bytes, each a statement of one of
 * a few keys about another one: genuine, for another purpose, of another time, or signed with a
 * wrong key; or a key that is revoked from a time on; or text of the input in place of one.
 *
 * For every set: following it fails because of a fork and leaves the set as it was, or it leaves
 * those keys that a model, which has the list of genuine statements, reaches from the trusted one.
 */
#include "support/fuzz.h"

#include "evidence/jose/rotation.h"
#include "evidence/json/write.h"

#define KEYS      4
#define TRUSTED   0
#define STEPS_MAX 12
#define SET_MAX   WRIT_JWKS_BYTES_MAX
#define SECOND_US INT64_C(1000000)
#define PURPOSE   WRIT_LIT("ledger")

static struct writ_signer *signers[KEYS];
static struct writ_jwks *trusted;

/* The state of the model. */
struct world {
    bool leads[KEYS][KEYS];  /* genuine, and before its signer was revoked */
    int64_t revoked_s[KEYS]; /* INT64_MAX: never */
};

struct step {
    int from, to, time_s;
    enum { GENUINE, WRONG_KEY, REVOKE, TEXT } what;
};

static void
prepare(void)
{
    const struct writ_jwk *first[1];
    writ_auto_buf text = writ_buf_make(SET_MAX);

    if (trusted != NULL) {
        return;
    }
    for (int i = 0; i < KEYS; i++) {
        WRIT_INVARIANT(writ_is_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signers[i], NULL)));
    }
    first[0] = writ_signer_jwk(signers[TRUSTED]);
    writ_jwks_put(&text, first, 1);
    WRIT_INVARIANT(writ_is_ok(writ_jwks_read(writ_buf_view(&text), &trusted, NULL)));
}

static size_t
read_steps(struct writ_view input, struct step ret[STEPS_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i + 2 <= input.len && n < STEPS_MAX; i += 2) {
        unsigned a = (unsigned char)input.ptr[i], b = (unsigned char)input.ptr[i + 1];

        ret[n++] = (struct step){.from = (int)(a % KEYS),
            .to = (int)(a / KEYS % KEYS),
            .time_s = (int)(b % 16) * 10,
            .what = (int)(b / 16 % 4)};
    }
    return n;
}

static void
put_statement(struct writ_write *w, const struct step *step)
{
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    int64_t at_us = step->time_s * SECOND_US;

    WRIT_INVARIANT(writ_is_ok(writ_rotation_make(
        signers[step->from], writ_signer_jwk(signers[step->to]), PURPOSE, at_us, &token, NULL)));
    if (step->what == WRONG_KEY) { /* the payload of one, the signature of another */
        size_t dot = token.len - 1;
        while (token.ptr[dot] != '.') {
            dot--;
        }
        token.ptr[dot + 1] = token.ptr[dot + 1] == 'A' ? 'B' : 'A';
    }
    writ_write_string(w, writ_buf_view(&token));
}

static void
put_rotations(struct writ_write *w, struct writ_view input, const struct step *steps, size_t n)
{
    writ_write_name(w, WRIT_LIT("rotations"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < n; i++) {
        if (steps[i].what == TEXT) {
            writ_auto_buf text = writ_buf_make(2 * WRIT_JWS_BYTES_MAX);
            writ_base64url_put(&text, writ_view_sub(input, 0, WRIT_JWS_BYTES_MAX));
            writ_write_string(w, writ_buf_view(&text));
        } else if (steps[i].what != REVOKE) {
            put_statement(w, &steps[i]);
        }
    }
    writ_write_array_end(w);
}

static void
put_set(struct writ_buf *text, struct writ_view input, const struct step *steps, size_t n)
{
    struct writ_write w = writ_write_to(text);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("keys"));
    writ_write_array_begin(&w);
    for (int i = 0; i < KEYS; i++) {
        writ_write_raw(&w, writ_jwk_text(writ_signer_jwk(signers[i])));
    }
    writ_write_array_end(&w);
    writ_write_name(&w, WRIT_LIT("revoked"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < n; i++) {
        if (steps[i].what == REVOKE) {
            writ_write_object_begin(&w);
            writ_write_name(&w, WRIT_LIT("kid"));
            writ_write_string(&w, writ_jwk_kid(writ_signer_jwk(signers[steps[i].from])));
            writ_write_name(&w, WRIT_LIT("revoked_at"));
            writ_write_i64(&w, steps[i].time_s);
            writ_write_object_end(&w);
        }
    }
    writ_write_array_end(&w);
    put_rotations(&w, input, steps, n);
    writ_write_object_end(&w);
    WRIT_INVARIANT(writ_is_ok(writ_write_end(&w, NULL)));
}

/* ---- the model ---- */

static void
learn(struct world *world, const struct step *steps, size_t n)
{
    *world = (struct world){0};
    for (int i = 0; i < KEYS; i++) {
        world->revoked_s[i] = INT64_MAX;
    }
    for (size_t i = n; i > 0; i--) { /* of several rows for one key the first counts */
        if (steps[i - 1].what == REVOKE) {
            world->revoked_s[steps[i - 1].from] = steps[i - 1].time_s;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (steps[i].what == GENUINE && steps[i].time_s < world->revoked_s[steps[i].from]) {
            world->leads[steps[i].from][steps[i].to] = true;
        }
    }
}

/* True: a fork. */
static bool
walk(const struct world *world, bool reached[KEYS])
{
    bool fork = false;

    reached[TRUSTED] = true;
    for (int round = 0; round < KEYS; round++) {
        for (int from = 0; from < KEYS; from++) {
            int successors = 0;

            for (int to = 0; reached[from] && to < KEYS; to++) {
                successors += world->leads[from][to] ? 1 : 0;
                reached[to] = reached[to] || world->leads[from][to];
            }
            fork = fork || successors > 1;
        }
    }
    return fork;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view input = writ_view(data, size);
    writ_auto_buf text = writ_buf_make(SET_MAX);
    bool reached[KEYS] = {false}, fork;
    struct step steps[STEPS_MAX];
    struct writ_jwks *set = NULL;
    struct world world;
    size_t n, count = 0;
    writ_result result;

    prepare();
    n = read_steps(input, steps);
    put_set(&text, input, steps, n);
    WRIT_INVARIANT(writ_is_ok(writ_jwks_read(writ_buf_view(&text), &set, NULL)));
    learn(&world, steps, n);
    fork = walk(&world, reached);
    result = writ_rotation_follow(set, trusted, NULL);
    WRIT_INVARIANT(result.code == (fork ? WRIT_E_MISMATCH : WRIT_OK));
    for (int i = 0; i < KEYS; i++) {
        bool there = writ_jwks_find(set, writ_jwk_kid(writ_signer_jwk(signers[i]))) != NULL;

        WRIT_INVARIANT(there == (fork || reached[i]));
        count += there ? 1 : 0;
    }
    WRIT_INVARIANT(count == writ_jwks_count(set));
    writ_jwks_free(set);
    return 0;
}
