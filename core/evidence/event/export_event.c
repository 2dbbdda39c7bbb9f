/* One reader for each kind of record. Members of a wrong type count as absent, so that a record of
 * another program gives an event too. */
#include "evidence/event/export_event.h"

#include "evidence/json/json.h"
#include "evidence/log/checkpoint.h"
#include "evidence/record/reason.h"
#include "evidence/record/record.h"
#include "evidence/record/review_record.h"

static const struct writ_export_meaning meanings[] = {
#define MEANING(KIND, word_, text_, SEVERITY, activity_, action_, disposition_, status_)           \
    {.kind = WRIT_EXPORT_##KIND,                                                                   \
        .word = {#word_, sizeof #word_ - 1},                                                       \
        .text = (text_),                                                                           \
        .severity = WRIT_EXPORT_##SEVERITY,                                                        \
        .activity = (activity_),                                                                   \
        .action = (action_),                                                                       \
        .disposition = (disposition_),                                                             \
        .status = (status_)},
    WRIT_EXPORT_EVENTS(MEANING)
#undef MEANING
};

static const struct {
    const char *list, *caption;
    int id;
} captions[] = {
#define CAPTION(list_, id_, caption_) {#list_, caption_, id_},
    WRIT_EXPORT_NAMES(CAPTION)
#undef CAPTION
};

static const struct writ_view kinds[] = {[WRIT_EXPORT_NONE] = {"none", 4},
#define KIND_NAME(NAME, name) [WRIT_EXPORT_##NAME] = {#name, sizeof #name - 1},
    WRIT_EXPORT_KINDS(KIND_NAME)
#undef KIND_NAME
};
#define KINDS (sizeof kinds / sizeof kinds[0])

struct writ_view
writ_export_event_kind_name(enum writ_export_kind kind)
{
    return kinds[(size_t)kind < KINDS ? kind : WRIT_EXPORT_NONE];
}

const char *
writ_export_event_caption(const char *list, int id)
{
    for (size_t i = 0; i < sizeof captions / sizeof captions[0]; i++) {
        if (captions[i].id == id && writ_view_is(writ_view_str(list), captions[i].list)) {
            return captions[i].caption;
        }
    }
    return NULL;
}

/* The row of a word; without one, the row `other` of its kind. */
static const struct writ_export_meaning *
find(enum writ_export_kind kind, struct writ_view word)
{
    const struct writ_export_meaning *last = NULL;

    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].kind == kind) {
            last = &meanings[i];
            if (writ_view_equal(word, last->word)) {
                break;
            }
        }
    }
    return last; /* `other` is the last row of each kind */
}

static struct writ_view
text_of(const struct writ_member_text *member)
{
    return member->is == WRIT_PRESENT ? member->view : writ_view(NULL, 0);
}

static WRIT_RESULT
read_json(struct writ_view text, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = WRIT_RECORD_MAX_BYTES;
    return writ_json_read(text, &limits, arena, ret, err);
}

/* What a decision says about its call; also for the records that are about it. */
static WRIT_RESULT
take_call(struct writ_export_event *event, const struct writ_decision *decision,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_extension extension = {0};

    WRIT_TRY(writ_extension_read(&decision->extensions, arena, &extension, err));
    event->decision_id = text_of(&decision->decision_id);
    event->boundary_id = text_of(&decision->boundary_id);
    event->agent_id = text_of(&decision->agent_id);
    event->agent_role = text_of(&decision->agent_role);
    event->policy_digest = text_of(&decision->policy_digest);
    event->tool = text_of(&decision->tool);
    event->tenant = text_of(&extension.tenant);
    event->upstream = text_of(&extension.upstream);
    event->trace_id = text_of(&extension.trace_id);
    if (decision->policy_refs.is == WRIT_PRESENT && decision->policy_refs.count > 0) {
        event->rule = decision->policy_refs.items[0];
    }
    if (event->source->kind == WRIT_EXPORT_DECISION) {
        event->reason = text_of(&extension.reason);
        event->constraint = text_of(&extension.constraint);
        event->shadow = extension.shadow.is == WRIT_PRESENT && extension.shadow.value;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_decision(struct writ_export_event *event, const struct writ_json *value,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_decision decision = {0};

    WRIT_TRY(writ_decision_read(value, arena, &decision, err));
    WRIT_TRY(take_call(event, &decision, arena, err));
    event->word = writ_reason_verdict(text_of(&decision.decision), event->reason);
    event->supersedes = text_of(&decision.supersedes);
    return WRIT_DONE;
}

static WRIT_RESULT
take_outcome(struct writ_export_event *event, const struct writ_json *value,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_outcome outcome = {0};

    WRIT_TRY(writ_outcome_read(value, arena, &outcome, err));
    event->word = text_of(&outcome.outcome);
    event->reason = text_of(&outcome.error_type);
    event->decision_id = text_of(&outcome.decision_id);
    event->boundary_id = text_of(&outcome.boundary_id);
    return WRIT_DONE;
}

static WRIT_RESULT
take_seal(struct writ_export_event *event, const struct writ_json *value, struct writ_arena *arena,
    struct writ_err *err)
{
    struct writ_seal seal = {0};

    WRIT_TRY(writ_seal_read(value, arena, &seal, err));
    event->word = WRIT_LIT("sealed");
    event->boundary_id = text_of(&seal.boundary_id);
    return WRIT_DONE;
}

static WRIT_RESULT
take_review(struct writ_export_event *event, const struct writ_json *value,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_review_record review = {0};

    WRIT_TRY(writ_review_record_read(value, arena, &review, err));
    event->word = text_of(&review.event);
    event->by = text_of(&review.by);
    event->reason = review.vote.is == WRIT_PRESENT ? review.vote.view : text_of(&review.reason);
    event->decision_id = text_of(&review.decision_id);
    event->boundary_id = text_of(&review.boundary_id);
    return WRIT_DONE;
}

/* The first of these members that is a text. */
static struct writ_view
first_text(const struct writ_json *data, const char *const *names)
{
    struct writ_view text = {NULL, 0};

    for (; *names != NULL && text.ptr == NULL; names++) {
        text = writ_json_string(writ_json_get(data, writ_view_str(*names)));
    }
    return text;
}

static void
take_fact(struct writ_export_event *event, const struct writ_json *value)
{
    static const char *const who[] = {"who", "by", NULL};
    static const char *const whose[] = {"value", "decision_id", "agent_id", "tool", "id", NULL};
    const struct writ_json *data = writ_json_get(value, WRIT_LIT("data"));
    bool is_stop;

    event->word = writ_json_string(writ_json_get(value, WRIT_LIT("event")));
    is_stop = writ_view_is(event->word, "kill_pulled");
    /* `by` of a stop is the kind of what it stops */
    event->by = first_text(data, is_stop ? (const char *const[]){"who", NULL} : who);
    event->reason = is_stop ? writ_json_string(writ_json_get(data, WRIT_LIT("by")))
                            : writ_json_string(writ_json_get(data, WRIT_LIT("purpose")));
    event->subject = first_text(data, whose);
    event->comment = writ_json_string(writ_json_get(data, WRIT_LIT("reason")));
    event->tenant = writ_json_string(writ_json_get(data, WRIT_LIT("tenant")));
}

static WRIT_RESULT
take_record(struct writ_export_event *event, const struct writ_json *value,
    struct writ_arena *arena, struct writ_err *err)
{
    switch (event->source->kind) {
    case WRIT_EXPORT_DECISION:
        return take_decision(event, value, arena, err);
    case WRIT_EXPORT_OUTCOME:
        return take_outcome(event, value, arena, err);
    case WRIT_EXPORT_SEAL:
        return take_seal(event, value, arena, err);
    case WRIT_EXPORT_REVIEW:
        return take_review(event, value, arena, err);
    case WRIT_EXPORT_FACT:
        take_fact(event, value);
        return WRIT_DONE;
    case WRIT_EXPORT_NONE:
        break;
    }
    WRIT_FAIL(err, WRIT_E_PARSE, "a record of an unknown kind");
}

/* The call of an outcome or an event of a review. What the record itself says stays. */
static WRIT_RESULT
take_about(struct writ_export_event *event, struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_export_event record = *event;
    const struct writ_json *value = NULL;
    struct writ_decision decision = {0};

    if (event->source->decision.len == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_json(event->source->decision, arena, &value, err));
    WRIT_TRY(writ_decision_read(value, arena, &decision, err));
    WRIT_TRY(take_call(event, &decision, arena, err));
    event->decision_id = record.decision_id;
    return WRIT_DONE;
}

static WRIT_RESULT
read_origin(struct writ_view note, struct writ_view *ret, struct writ_err *err)
{
    struct writ_note read;
    struct writ_checkpoint checkpoint;

    WRIT_TRY(writ_note_read(note, &read, err));
    WRIT_TRY(writ_checkpoint_read(read.text, &checkpoint, err));
    *ret = checkpoint.origin;
    return WRIT_DONE;
}

/* A canonical record has no control byte, which could end the line of its event. */
static WRIT_RESULT
check_bytes(struct writ_view record, struct writ_err *err)
{
    for (size_t i = 0; i < record.len; i++) {
        if ((unsigned char)record.ptr[i] < ' ') {
            WRIT_FAIL(err, WRIT_E_PARSE, "it is not canonical");
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
make(struct writ_export_event *event, struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_json *value = NULL;

    WRIT_TRY(check_bytes(event->source->record, err));
    WRIT_TRY(writ_tree_leaf(event->source->record, &event->leaf_hash, err));
    WRIT_TRY(read_origin(event->source->checkpoint, &event->origin, err));
    WRIT_TRY(read_json(event->source->record, arena, &value, err));
    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_PARSE, "it is not an object");
    }
    WRIT_TRY(take_record(event, value, arena, err));
    return take_about(event, arena, err);
}

WRIT_RESULT
writ_export_event_make(const struct writ_export_source *source, struct writ_arena *arena,
    struct writ_export_event *ret, struct writ_err *err)
{
    struct writ_export_event event = {.source = source};
    struct writ_err why = {0};
    writ_result result = make(&event, arena, &why);

    if (result.code == WRIT_E_NOMEM || result.code == WRIT_E_CRYPTO) {
        WRIT_FAIL(err, result.code, "%s", why.text);
    }
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "record %llu is not readable (%s): see `writ ledger verify`",
            (unsigned long long)source->leaf, why.text);
    }
    event.meaning = find(source->kind,
        event.shadow && !writ_view_is(event.word, "allow") && !writ_reason_is_of_run(event.word)
            ? WRIT_LIT("shadow")
            : event.word);
    *ret = event;
    return WRIT_DONE;
}
