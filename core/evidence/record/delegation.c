/* The data of a fact and the payload of a signature have the same members; the fact adds what the
 * gateway knows: the tenant, the key and the signature. Checking compares the whole payload, so a
 * signature counts for nothing else. */
#include "evidence/record/delegation.h"

#include "base/clock.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "evidence/record/review_terms.h"

/* ---- checking */

static bool
is_name(struct writ_view text)
{
    return text.len > 0 && text.len <= WRIT_REVIEW_NAME_MAX;
}

static bool
is_id(struct writ_view id)
{
    bool plain = id.len > 0 && id.len <= WRIT_DELEGATION_ID_MAX;

    for (size_t i = 0; plain && i < id.len; i++) {
        plain = (id.ptr[i] >= '0' && id.ptr[i] <= '9') || (id.ptr[i] >= 'a' && id.ptr[i] <= 'z') ||
                id.ptr[i] == '-';
    }
    return plain;
}

static bool
is_pattern(struct writ_view tool)
{
    size_t slash = writ_view_find(tool, '/');

    return tool.len <= WRIT_DELEGATION_TOOL_MAX && slash > 0 && slash + 1 < tool.len;
}

WRIT_RESULT
writ_delegation_check(const struct writ_delegation *delegation, struct writ_err *err)
{
    if (!is_id(delegation->id)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the id must be 1 to %d lower-case letters, digits and hyphens",
            WRIT_DELEGATION_ID_MAX);
    }
    if (!is_name(delegation->voter) || !is_name(delegation->delegate)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "voter and delegate must be names of at most %d bytes",
            WRIT_REVIEW_NAME_MAX);
    }
    if (writ_view_equal(delegation->voter, delegation->delegate)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a voter cannot name itself");
    }
    if (delegation->until_us <= 0 || delegation->until_us > WRIT_TIME_MOST_US ||
        delegation->from_us < 0 || delegation->until_us <= delegation->from_us) {
        WRIT_FAIL(err, WRIT_E_INVALID, "until must be a time after from");
    }
    if (delegation->tools_n > WRIT_DELEGATION_TOOLS_MAX) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "tools has more than %d patterns", WRIT_DELEGATION_TOOLS_MAX);
    }
    for (size_t i = 0; i < delegation->tools_n; i++) {
        if (!is_pattern(delegation->tools[i])) {
            WRIT_FAIL(
                err, WRIT_E_INVALID, "element %zu of tools is not upstream/tool, such as pay/*", i);
        }
    }
    return WRIT_DONE;
}

/* ---- writing */

static void
put_tools(struct writ_write *w, const struct writ_delegation *delegation)
{
    if (delegation->tools_n == 0) {
        return;
    }
    writ_write_name(w, WRIT_LIT("tools"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < delegation->tools_n; i++) {
        writ_write_string(w, delegation->tools[i]);
    }
    writ_write_array_end(w);
}

/* `whole`: the data of the fact; else the payload of a signature. */
static WRIT_RESULT
put(const struct writ_delegation *delegation, bool whole, struct writ_buf *ret,
    struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text(&w, "delegate", delegation->delegate);
    writ_write_time_if(&w, "from", delegation->from_us);
    writ_write_text(&w, "id", delegation->id);
    if (whole && delegation->key.len > 0) {
        writ_write_name(&w, WRIT_LIT("key"));
        writ_write_raw(&w, delegation->key);
    }
    writ_write_text_if(&w, "ledger", delegation->ledger);
    if (whole) {
        writ_write_text_if(&w, "signature", delegation->signature);
        writ_write_text(&w, "tenant", delegation->tenant);
    }
    put_tools(&w, delegation);
    writ_write_time(&w, "until", delegation->until_us);
    writ_write_text(&w, "voter", delegation->voter);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

WRIT_RESULT
writ_delegation_put(
    const struct writ_delegation *delegation, struct writ_buf *ret, struct writ_err *err)
{
    return put(delegation, true, ret, err);
}

WRIT_RESULT
writ_delegation_digest(
    const struct writ_delegation *delegation, struct writ_digest *ret, struct writ_err *err)
{
    writ_auto_buf data = writ_buf_make(WRIT_DELEGATION_BYTES_MAX);

    WRIT_TRY(put(delegation, true, &data, err));
    return writ_digest_bytes(writ_buf_view(&data), ret, err);
}

/* ---- reading */

static struct writ_view
text_at(const struct writ_json *object, const char *name)
{
    struct writ_view text = writ_json_string(writ_json_get(object, writ_view_str(name)));

    return text.ptr != NULL ? text : writ_view("", 0);
}

static bool
read_time(const struct writ_json *object, const char *name, int64_t *ret)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(name));

    return value == NULL || writ_is_ok(writ_time_read(writ_json_string(value), ret));
}

static WRIT_RESULT
read_tools(const struct writ_json *list, struct writ_arena *arena, struct writ_delegation *ret,
    struct writ_err *err)
{
    struct writ_view *tools;

    if (list == NULL) {
        return WRIT_DONE;
    }
    if (writ_json_type(list) != WRIT_JSON_ARRAY || list->count == 0 ||
        list->count > WRIT_DELEGATION_TOOLS_MAX) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "tools is not a list of 1 to %d patterns",
            WRIT_DELEGATION_TOOLS_MAX);
    }
    tools = writ_arena_get(arena, list->count * sizeof *tools);
    if (tools == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a delegation");
    }
    WRIT_JSON_EACH(item, list)
    {
        tools[ret->tools_n++] = writ_json_string(item);
    }
    ret->tools = tools;
    return WRIT_DONE;
}

/* `ret` has the texts. */
static WRIT_RESULT
read_rest(const struct writ_json *data, struct writ_arena *arena, struct writ_delegation *ret,
    struct writ_err *err)
{
    if (!read_time(data, "from", &ret->from_us) || !read_time(data, "until", &ret->until_us)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "from and until must be times of RFC 3339");
    }
    WRIT_TRY(read_tools(writ_json_get(data, WRIT_LIT("tools")), arena, ret, err));
    return writ_is_ok(writ_delegation_check(ret, err)) ? WRIT_DONE : (writ_result){WRIT_E_MISMATCH};
}

WRIT_RESULT
writ_delegation_read(const struct writ_json *data, struct writ_arena *arena,
    struct writ_delegation *ret, struct writ_err *err)
{
    struct writ_delegation delegation = {.id = text_at(data, "id"),
        .voter = text_at(data, "voter"),
        .delegate = text_at(data, "delegate"),
        .tenant = text_at(data, "tenant"),
        .key = WRIT_LIT(""),
        .signature = text_at(data, "signature"),
        .ledger = text_at(data, "ledger")};

    WRIT_TRY(writ_review_terms_key(data, arena, &delegation.key, err));
    WRIT_TRY(read_rest(data, arena, &delegation, err));
    *ret = delegation;
    return WRIT_DONE;
}

WRIT_RESULT
writ_delegation_parse(const struct writ_json *body, struct writ_view id, struct writ_view voter,
    struct writ_arena *arena, struct writ_delegation *ret, struct writ_err *err)
{
    struct writ_delegation delegation = {.id = id,
        .voter = voter,
        .delegate = text_at(body, "delegate"),
        .tenant = WRIT_LIT(""),
        .key = WRIT_LIT(""),
        .signature = WRIT_LIT(""),
        .ledger = WRIT_LIT("")};

    WRIT_TRY(read_rest(body, arena, &delegation, err));
    *ret = delegation;
    return WRIT_DONE;
}

/* ---- signatures */

static const char *const signed_members[] = {
    "delegate", "from", "id", "ledger", "tools", "until", "voter", NULL};

static WRIT_RESULT
open_token(struct writ_view token, struct writ_arena *arena, struct writ_jws *ret_jws,
    struct writ_delegation *ret, struct writ_err *err)
{
    const struct writ_json *payload = NULL;
    writ_result result;

    WRIT_TRY(writ_jws_read(token, arena, ret_jws, err));
    if (!writ_view_is(ret_jws->typ, WRIT_DELEGATION_TYP)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the typ of the token is not that of a delegation");
    }
    WRIT_TRY(writ_jws_claims(ret_jws, arena, &payload, err));
    if (!writ_json_has_only(payload, signed_members)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the payload has a member that a delegation does not have");
    }
    result = writ_delegation_read(payload, arena, ret, err);
    return result.code == WRIT_E_MISMATCH ? (writ_result){WRIT_E_PARSE} : result;
}

WRIT_RESULT
writ_delegation_open(struct writ_view token, struct writ_arena *arena, struct writ_delegation *ret,
    struct writ_err *err)
{
    struct writ_delegation delegation = {0};
    struct writ_jws jws;

    WRIT_TRY(open_token(token, arena, &jws, &delegation, err));
    delegation.signature = token;
    *ret = delegation;
    return WRIT_DONE;
}

/* Compares the members that are signed, as they are written. */
static WRIT_RESULT
compare(const struct writ_delegation *a, const struct writ_delegation *b, struct writ_err *err)
{
    writ_auto_buf one = writ_buf_make(WRIT_DELEGATION_BYTES_MAX);
    writ_auto_buf other = writ_buf_make(WRIT_DELEGATION_BYTES_MAX);

    WRIT_TRY(put(a, false, &one, err));
    WRIT_TRY(put(b, false, &other, err));
    if (!writ_view_equal(writ_buf_view(&one), writ_buf_view(&other))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the signed delegation differs from the delegation");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_delegation_verify(
    const struct writ_delegation *delegation, struct writ_arena *arena, struct writ_err *err)
{
    struct writ_delegation read = {0};
    const struct writ_json *value = NULL;
    struct writ_jwk *jwk = NULL;
    struct writ_jws jws;
    writ_result result;

    WRIT_TRY(open_token(delegation->signature, arena, &jws, &read, err));
    WRIT_TRY(compare(delegation, &read, err));
    WRIT_TRY(writ_json_read(delegation->key, &writ_jws_limits, arena, &value, err));
    WRIT_TRY(writ_jwk_read(value, &jwk, err));
    result = writ_jws_check(&jws, jwk, err);
    writ_jwk_free(jwk);
    return result;
}

WRIT_RESULT
writ_delegation_sign(const struct writ_delegation *delegation, const struct writ_signer *signer,
    struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf payload = writ_buf_make(WRIT_JWS_BYTES_MAX);

    WRIT_TRY(put(delegation, false, &payload, err));
    return writ_jws_sign(signer, WRIT_LIT(WRIT_DELEGATION_TYP), writ_buf_view(&payload), ret, err);
}

/* ---- revocations */

void
writ_delegation_show(struct writ_write *w, const struct writ_delegation *delegation,
    struct writ_view digest, int64_t at_us)
{
    writ_write_text(w, "id", delegation->id);
    writ_write_text(w, "voter", delegation->voter);
    writ_write_text(w, "delegate", delegation->delegate);
    writ_write_text_if(w, "tenant", delegation->tenant);
    writ_write_time_if(w, "from", delegation->from_us);
    writ_write_time(w, "until", delegation->until_us);
    if (delegation->tools_n > 0) {
        writ_write_name(w, WRIT_LIT("tools"));
        writ_write_array_begin(w);
        for (size_t i = 0; i < delegation->tools_n; i++) {
            writ_write_string(w, delegation->tools[i]);
        }
        writ_write_array_end(w);
    }
    writ_write_flag(w, "signed", delegation->signature.len > 0);
    writ_write_time(w, "set_at", at_us);
    writ_write_text(w, "digest", digest);
}

WRIT_RESULT
writ_delegation_put_revoked(
    struct writ_view id, struct writ_view by, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text(&w, "by", by);
    writ_write_text(&w, "id", id);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

WRIT_RESULT
writ_delegation_read_revoked(const struct writ_json *data, struct writ_view *ret_id,
    struct writ_view *ret_by, struct writ_err *err)
{
    struct writ_view id = text_at(data, "id"), by = text_at(data, "by");

    if (!is_id(id) || !is_name(by)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a record of a revoked delegation is not readable");
    }
    *ret_id = id;
    *ret_by = by;
    return WRIT_DONE;
}
