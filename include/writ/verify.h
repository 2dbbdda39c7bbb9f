/* verify.h - for a tool server: is this credential good for exactly this call?
 *
 *     struct writ_verify *verify = NULL;
 *     struct writ_verify_answer answer = {0};
 *     const struct writ_verify_call call = {
 *         .tool = tool, .arguments = arguments, .audience = me,
 *         .issuer = gateway, .any_agent = true, .any_tenant = true, .any_target_state = true,
 *         .now_s = time(NULL), .use = use};
 *
 *     writ_verify_new(&verify, &err);
 *     writ_verify_keys(verify, jwks, &err);
 *     if (writ_verify_credential(verify, token, &call, &answer, &err).code == WRIT_OK && answer.ok)
 *         run the call for answer.agent_id;
 *     writ_verify_wipe(&answer);
 *
 * The answer is `ok` or the first reason against the credential, in this order:
 *
 *     missing_credential, malformed, key_revoked, unknown_key, bad_signature, key_out_of_time,
 *     wrong_issuer, wrong_audience, not_yet_valid, expired, scope_mismatch, number_not_exact,
 *     args_mismatch, state_drift, status_unknown, revoked, replayed
 *
 * Zero means no: a zeroed answer is not ok, a verifier without keys verifies nothing, and no
 * credential is good for a zeroed call. To skip a comparison, set the member that names it
 * (`any_...`).
 *
 * Nothing here does I/O, has a clock or remembers used credentials: the caller fetches the keys,
 * and `use` is its memory. Link with `pkg-config writ-verify`; it needs libc, OpenSSL's libcrypto
 * and zlib. */
#ifndef WRIT_VERIFY_H
#define WRIT_VERIFY_H

#include "writ/types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define WRIT_VERIFY_ARGUMENTS_MAX ((size_t)16 << 20) /* bytes of the arguments' text */
#define WRIT_VERIFY_SKEW_MAX_S    60                 /* tolerance for clocks, at most */
#define WRIT_VERIFY_LIFETIME_S    3600 /* longest lifetime of a credential that is accepted */

/** The keys of a gateway. */
struct writ_verify;

/** A verifier without keys. `ret` is new, free with writ_verify_free; written only on success.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_verify_new(struct writ_verify **ret, struct writ_err *err);

/** NULL is permitted. */
void writ_verify_free(struct writ_verify *verify);

/**
 * Takes a key set (RFC 7517 5), which the gateway publishes at /.well-known/jwks.json, in place of
 * the previous one. On failure the previous one stays. Not while another thread verifies.
 *
 * @param jwks  borrowed for the call
 *
 * @return WRIT_OK          possibly with unusable keys: writ_verify_left_out
 *         WRIT_E_PARSE     not strict JSON
 *         WRIT_E_INVALID   not a key set, or two keys with one kid
 *         WRIT_E_MISMATCH  private or symmetric key material in it
 *         WRIT_E_LIMIT     longer than 256 KiB, or more than 64 keys
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_verify_keys(
    struct writ_verify *verify, struct writ_view jwks, struct writ_err *err);

/**
 * Keeps only the keys that are in `trusted`, an earlier trusted key set, or to which its keys lead:
 * a key that is rotated out signs a statement that names its successor. So a set from an untrusted
 * server is as good as one from a trusted place. Call it after writ_verify_keys. Not while another
 * thread verifies.
 *
 * @param trusted  borrowed for the call
 *
 * @return WRIT_OK          possibly with no key left, and then no credential is good
 *         WRIT_E_MISMATCH  a key names two successors; or as writ_verify_keys
 *         WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 *         On failure no key is left.
 */
WRIT_RESULT writ_verify_pin(
    struct writ_verify *verify, struct writ_view trusted, struct writ_err *err);

/**
 * Takes the gateway's list of revoked credentials (Token Status List,
 * draft-ietf-oauth-status-list), a token that the keys have signed, in place of the previous one.
 * From the first call on, also one that fails, a credential needs a place in a current list, and is
 * `status_unknown` without one. Without any call, revocation is not checked. Not while another
 * thread verifies.
 *
 * @param token  borrowed for the call; empty: there is none yet
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_LIMIT not such a token, or older than the present
 *         list
 *         WRIT_E_ABSENT, WRIT_E_MISMATCH its key is unknown, or its signature does not hold
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO On failure the previous list stays.
 */
WRIT_RESULT writ_verify_status(
    struct writ_verify *verify, struct writ_view token, struct writ_err *err);

/** The number of keys of the set that cannot be used, and the reason for the first ("" when all
 * can). */
size_t writ_verify_left_out(const struct writ_verify *verify, const char **ret_why);

/** The caller's memory of a jti. Zero: the lookup failed. */
enum writ_verify_use {
    WRIT_VERIFY_USE_UNKNOWN = 0,
    WRIT_VERIFY_USE_FRESH, /* was not there, and is remembered from now on */
    WRIT_VERIFY_USE_SPENT,
};

/** The call as it arrived, and its expected sender. All views are borrowed for the call of
 * writ_verify_credential. */
struct writ_verify_call {
    struct writ_view tool;        /* the tool's own name; needed */
    struct writ_view arguments;   /* the JSON text of an object, as it arrived; empty: {} */
    struct writ_view params_hash; /* in place of `arguments`, "sha256:...", when the caller has
                                     digested them (RFC 8785), and refused numbers that this
                                     changes; empty: by `arguments` */
    struct writ_view audience;    /* the identity of the caller: the `resource` of the upstream;
                                     needed */
    struct writ_view issuer;      /* the gateway's `issuer` */
    struct writ_view agent_id;
    struct writ_view tenant;              /* empty: the credential must say null */
    struct writ_view target_state_digest; /* the present one, "sha256:..."; empty: the credential
                                             must say null */
    struct writ_view typ;                 /* of the header; empty: "writ-credential+jwt" */
    bool any_issuer;                      /* any holder of the keys may have issued it */
    bool any_agent, any_tenant;
    bool any_target_state; /* the caller cannot observe it */
    bool any_arguments;    /* the caller does not see them: another component compares
                              answer.params_hash */

    int64_t now_s;          /* seconds since 1970 */
    int64_t skew_s;         /* 0..WRIT_VERIFY_SKEW_MAX_S */
    int64_t lifetime_max_s; /* longest exp - iat; 0: WRIT_VERIFY_LIFETIME_S */

    /** Remembers a jti at least until `until_s` and returns whether it was there before, in one
     * atomic step. Called last, once, and only for a credential that is good otherwise; jti is at
     * most 256 bytes. NULL: the caller checks single use elsewhere. */
    enum writ_verify_use (*use)(void *ctx, struct writ_view jti, int64_t until_s);
    void *ctx;
};

/** The result. Strings and views of claims live until writ_verify_wipe. */
struct writ_verify_answer {
    bool ok;
    const char *reason;   /* "ok", or one of the names above; static */
    const char *sentence; /* for people, without a value of the call; static */
    const char *hint;     /* an imperative; may be ""; static */

    /* of a good credential; a view with ptr NULL where the claim is null */
    struct writ_view jti; /* the decision_id */
    struct writ_view issuer, agent_id, tenant;
    struct writ_view subject; /* the user behind the agent, if the gateway states one */
    struct writ_view params_hash, target_state_digest;
    struct writ_view normalized_scope, idempotency_key, boundary_id;
    int64_t issued_at_s, expires_at_s;
    void *memory; /* of the views; for writ_verify_wipe alone */
};

/**
 * Verifies a credential for a call.
 *
 * @param token  as it arrived; empty when there was none
 * @param ret    zeroed or wiped; written only on success, wipe with writ_verify_wipe
 *
 * @return WRIT_OK         there is an answer: read ret->ok
 *         WRIT_E_INVALID  the call lacks tool or audience, has a malformed digest, or a number that
 *                         is out of range; or its arguments are not a JSON object
 *         WRIT_E_PARSE    the arguments are not strict JSON (RFC 7493)
 *         WRIT_E_LIMIT    the arguments are longer than WRIT_VERIFY_ARGUMENTS_MAX
 *         WRIT_E_IO       `use` failed
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 *         After any other code there is no answer, and the call must be refused.
 *
 * Thread-safe while no other thread changes the verifier. Does not block, except in `use`.
 */
WRIT_RESULT writ_verify_credential(const struct writ_verify *verify, struct writ_view token,
    const struct writ_verify_call *call, struct writ_verify_answer *ret, struct writ_err *err);

/** Frees the memory of the answer's views and zeroes it. */
void writ_verify_wipe(struct writ_verify_answer *answer);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
