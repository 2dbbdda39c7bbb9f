/* Rebuilds a bundle from its own lines: a line is read only when it is not already determined, and
 * every determined line must be equal to the byte. The first reason against the file is final. */
#include "evidence/proof/bundle_check.h"

#include "evidence/json/jcs.h"

#define ARENA        ((size_t)256 << 20) /* one line */
#define EXPECTED_MAX ((size_t)1 << 30)   /* the phases of all calls without an end */

static const struct writ_json_limits limits = {
    .bytes = WRIT_BUNDLE_LINE_MAX,
    .depth = 80,
    .values = (size_t)1 << 20,
    .name_bytes = 65536,
    .string_bytes = WRIT_RECORD_MAX_BYTES,
    .number_bytes = 64,
};

struct writ_bundle_check {
    const struct writ_checkpoint_trust *trust;
    struct writ_arena *arena;
    struct writ_buf note; /* of the first line */
    struct writ_checkpoint head;
    struct writ_bundle *bundle; /* NULL: no line yet */
    struct writ_buf expected;   /* lines that must come next, from `at` on */
    size_t at;
    struct writ_buf body;
    enum writ_detached_record_kind kind; /* of the record of the last line; NONE: it has none */
    bool has_ended;
    struct writ_bundle_report report;
};

WRIT_RESULT
writ_bundle_check_new(
    const struct writ_checkpoint_trust *trust, struct writ_bundle_check **ret, struct writ_err *err)
{
    struct writ_bundle_check *c = writ_alloc(sizeof *c);

    if (c == NULL || (c->arena = writ_arena_new(ARENA)) == NULL) {
        writ_free(c);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to verify a bundle");
    }
    c->trust = trust;
    c->note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    c->expected = writ_buf_make(EXPECTED_MAX);
    c->body = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    *ret = c;
    return WRIT_DONE;
}

void
writ_bundle_check_free(struct writ_bundle_check *c)
{
    if (c != NULL) {
        writ_bundle_free(c->bundle);
        writ_arena_free(c->arena);
        writ_buf_wipe(&c->note);
        writ_buf_wipe(&c->expected);
        writ_buf_wipe(&c->body);
        writ_free(c);
    }
}

static WRIT_RESULT
malformed(enum writ_reason *ret_why, struct writ_err *err, const char *what)
{
    (void)writ_fail(err, WRIT_E_INVALID, "%s", what);
    *ret_why = WRIT_REASON_EVIDENCE_MALFORMED;
    return WRIT_DONE;
}

/* ---- the first line ---- */

static bool
read_select(const struct writ_json *value, struct writ_bundle_select *ret)
{
    const struct {
        const char *name;
        struct writ_view *to;
    } rows[] = {{"tenant", &ret->tenant}, {"boundary", &ret->boundary_id},
        {"agent", &ret->agent_id}, {"since", &ret->since}, {"until", &ret->until},
        {"at", &ret->at}};

    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        return false;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct writ_json *member = writ_json_get(value, writ_view_str(rows[i].name));

        if (member != NULL) {
            *rows[i].to = writ_json_string(member);
            if (writ_json_type(member) != WRIT_JSON_STRING) {
                return false;
            }
            if (rows[i].to->ptr == NULL) {
                *rows[i].to = WRIT_LIT("");
            }
        }
    }
    return true;
}

/* The vkeys, a line each; each must be of the checkpoint's log. */
static WRIT_RESULT
read_keys(const struct writ_bundle_check *c, const struct writ_json *keys, struct writ_buf *ret,
    bool *ret_right, struct writ_err *err)
{
    *ret_right = writ_json_type(keys) == WRIT_JSON_ARRAY;
    if (!*ret_right) {
        return WRIT_DONE;
    }
    WRIT_JSON_EACH(value, keys)
    {
        struct writ_note_key *key = NULL;
        writ_result result = writ_note_key_read(writ_json_string(value), &key, err);

        if (result.code == WRIT_E_NOMEM || result.code == WRIT_E_CRYPTO) {
            return result;
        }
        *ret_right = *ret_right && writ_is_ok(result) &&
                     writ_view_equal(writ_note_key_name(key), c->head.origin);
        writ_note_key_free(key);
        writ_buf_put(ret, writ_json_string(value));
        writ_buf_byte(ret, '\n');
    }
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
read_checkpoint(struct writ_bundle_check *c, const struct writ_json *root,
    enum writ_reason *ret_why, struct writ_err *err)
{
    writ_result result;

    writ_buf_put(&c->note, writ_json_string(writ_json_get(root, WRIT_LIT("checkpoint"))));
    result = writ_buf_check(&c->note, err);
    if (result.code == WRIT_E_LIMIT) {
        return malformed(ret_why, err, "the checkpoint is too long");
    }
    WRIT_TRY(result);
    return writ_checkpoint_judge(writ_buf_view(&c->note), c->trust, &c->head, ret_why, err);
}

static WRIT_RESULT
begin(struct writ_bundle_check *c, const struct writ_json *root, enum writ_reason *ret_why,
    struct writ_err *err)
{
    writ_auto_buf keys = writ_buf_make(WRIT_BUNDLE_LINE_MAX);
    struct writ_bundle_select select = {0};
    bool is_right = false;
    writ_result result;

    if (!writ_json_is(writ_json_get(root, WRIT_LIT("format")), WRIT_LIT("writ-bundle/1")) ||
        !read_select(writ_json_get(root, WRIT_LIT("select")), &select)) {
        return malformed(ret_why, err, "the first line is not the first line of a bundle");
    }
    WRIT_TRY(read_checkpoint(c, root, ret_why, err));
    if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_keys(c, writ_json_get(root, WRIT_LIT("keys")), &keys, &is_right, err));
    if (!is_right) {
        return malformed(ret_why, err, "a key is not a key of this log");
    }
    result = writ_bundle_begin(&select, writ_buf_view(&keys), writ_buf_view(&c->note), &c->head,
        &c->expected, &c->bundle, err);
    if (result.code == WRIT_E_INVALID) {
        return malformed(ret_why, err, "a time in the first line is malformed");
    }
    return result;
}

/* ---- the others ---- */

static bool
read_digest(const struct writ_json *line, struct writ_digest *ret)
{
    return writ_is_ok(
        writ_digest_read(writ_json_string(writ_json_get(line, WRIT_LIT("digest"))), ret, NULL));
}

static WRIT_RESULT
take_node(struct writ_bundle_check *c, const struct writ_json *line, enum writ_reason *ret_why,
    struct writ_err *err)
{
    struct writ_digest digest;
    int64_t level = 0;
    writ_result result;

    if (!read_digest(line, &digest) ||
        !writ_is_ok(writ_json_integer(
            writ_json_get(line, WRIT_LIT("level")), 0, WRIT_TREE_LEVELS - 1, &level))) {
        return malformed(ret_why, err, "a node is malformed");
    }
    result = writ_bundle_node(c->bundle, (unsigned)level, &digest, &c->expected, err);
    if (result.code == WRIT_E_INVALID || result.code == WRIT_E_LIMIT) {
        *ret_why = WRIT_REASON_RECORD_NOT_IN_LOG;
        return WRIT_DONE;
    }
    return result;
}

static WRIT_RESULT
take_withheld(struct writ_bundle_check *c, const struct writ_json *line, enum writ_reason *ret_why,
    struct writ_err *err)
{
    const struct writ_json *id = writ_json_get(line, WRIT_LIT("decision_id"));
    struct writ_bundle_withheld w = {
        .kind =
            writ_detached_record_kind_named(writ_json_string(writ_json_get(line, WRIT_LIT("of")))),
        .tenant = writ_json_string(writ_json_get(line, WRIT_LIT("tenant"))),
        .boundary_id = writ_json_string(writ_json_get(line, WRIT_LIT("boundary_id"))),
    };
    int64_t seq = 0;
    bool is_decision = w.kind == WRIT_DETACHED_RECORD_DECISION;

    if (id != NULL) {
        w.decision_id = writ_json_string(id);
    }
    if (w.kind == WRIT_DETACHED_RECORD_NONE || !read_digest(line, &w.leaf) ||
        (w.kind != WRIT_DETACHED_RECORD_SEAL && w.decision_id.len == 0) ||
        (is_decision && !writ_is_ok(writ_json_integer(writ_json_get(line, WRIT_LIT("seq")), 0,
                            (int64_t)WRIT_DECISION_SEQ_MAX, &seq)))) {
        return malformed(ret_why, err, "a withheld record is malformed");
    }
    if (is_decision && w.tenant.ptr == NULL) {
        w.tenant = WRIT_LIT("");
    }
    w.seq = (uint64_t)seq;
    return writ_bundle_withhold(c->bundle, &w, &c->expected, err);
}

static WRIT_RESULT
take_record(struct writ_bundle_check *c, enum writ_detached_record_kind kind,
    const struct writ_json *line, enum writ_reason *ret_why, struct writ_err *err)
{
    const struct writ_json *record = writ_json_get(line, WRIT_LIT("record"));
    writ_result result = {WRIT_E_INVALID};

    writ_buf_clear(&c->body);
    if (record != NULL) {
        result = writ_jcs_put(&c->body, record, err);
    }
    if (result.code == WRIT_E_NOMEM) {
        return result;
    }
    if (!writ_is_ok(result)) {
        *ret_why = WRIT_REASON_RECORD_INVALID;
        return WRIT_DONE;
    }
    c->kind = kind;
    return writ_bundle_record(c->bundle, kind, writ_buf_view(&c->body), &c->expected, ret_why, err);
}

static WRIT_RESULT
take(struct writ_bundle_check *c, const struct writ_json *line, enum writ_reason *ret_why,
    struct writ_err *err)
{
    struct writ_view kind = writ_json_string(writ_json_get(line, WRIT_LIT("kind")));
    enum writ_detached_record_kind known = writ_detached_record_kind_named(kind);

    *ret_why = WRIT_REASON_EVIDENCE_OK;
    if (known != WRIT_DETACHED_RECORD_NONE) {
        return take_record(c, known, line, ret_why, err);
    }
    if (writ_view_is(kind, "node")) {
        return take_node(c, line, ret_why, err);
    }
    if (writ_view_is(kind, "withheld")) {
        return take_withheld(c, line, ret_why, err);
    }
    /* the last lines follow from those before, so they are compared and not read */
    c->has_ended = true;
    return writ_bundle_end(c->bundle, &c->expected, &c->report, ret_why, err);
}

/* The next line that must come, without its end; false when none is due. */
static bool
next_expected(struct writ_bundle_check *c, struct writ_view *ret)
{
    struct writ_view rest =
        writ_view_sub(writ_buf_view(&c->expected), c->at, c->expected.len - c->at);
    size_t end = writ_view_find(rest, '\n');

    if (rest.len == 0) {
        writ_buf_clear(&c->expected);
        c->at = 0;
        return false;
    }
    *ret = writ_view_sub(rest, 0, end);
    c->at += end + 1;
    return true;
}

/* Reads a line that is not determined; the determined lines then begin with it. */
static WRIT_RESULT
read_line(struct writ_bundle_check *c, struct writ_view line, enum writ_reason *ret_why,
    struct writ_err *err)
{
    const struct writ_json *value = NULL;
    writ_result result;

    if (c->has_ended) {
        return malformed(ret_why, err, "the file continues behind the last line");
    }
    writ_arena_reset(c->arena);
    result = writ_json_read(line, &limits, c->arena, &value, err);
    if (result.code == WRIT_E_NOMEM) {
        return result;
    }
    if (!writ_is_ok(result)) {
        *ret_why = WRIT_REASON_EVIDENCE_MALFORMED;
        return WRIT_DONE;
    }
    return c->bundle == NULL ? begin(c, value, ret_why, err) : take(c, value, ret_why, err);
}

WRIT_RESULT
writ_bundle_check_line(struct writ_bundle_check *c, struct writ_view line,
    enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_view expected;

    *ret_why = WRIT_REASON_EVIDENCE_OK;
    c->kind = WRIT_DETACHED_RECORD_NONE;
    if (!next_expected(c, &expected)) {
        WRIT_TRY(read_line(c, line, ret_why, err));
        if (*ret_why != WRIT_REASON_EVIDENCE_OK || !next_expected(c, &expected)) {
            return WRIT_DONE;
        }
    }
    if (!writ_view_equal(line, expected)) {
        return malformed(ret_why, err, "a line does not follow from the records before it");
    }
    return WRIT_DONE;
}

enum writ_detached_record_kind
writ_bundle_check_record(const struct writ_bundle_check *c, struct writ_view *ret)
{
    *ret = writ_buf_view(&c->body);
    return c->kind;
}

bool
writ_bundle_check_ended(const struct writ_bundle_check *c, struct writ_bundle_report *ret,
    struct writ_checkpoint *ret_head)
{
    if (!c->has_ended || c->at != c->expected.len) {
        return false;
    }
    *ret = c->report;
    *ret_head = c->head;
    return true;
}

void
writ_bundle_check_put(
    struct writ_write *w, const struct writ_bundle_report *r, const struct writ_checkpoint *head)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {{"size", head->size}, {"records", r->records}, {"decisions", r->decisions},
        {"outcomes", r->outcomes}, {"seals", r->seals}, {"review_events", r->reviews},
        {"withheld", r->withheld}, {"skipped", r->skipped}, {"skipped_inside", r->inside},
        {"unmatched_outcomes", r->unmatched}, {"in_flight", r->in_flight}, {"twice", r->twice},
        {"boundaries", r->boundaries}, {"faulty", r->faulty}, {"unsealed", r->unsealed}};

    writ_write_text(w, "origin", head->origin);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_write_count(w, rows[i].name, rows[i].count);
    }
}
