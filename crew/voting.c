/* Reads the object `voting`. An unknown member is an error, because a misspelt quorum would fail
 * open. */
#include "crew/voting.h"

#include "crew/engines.h"
#include "crew/value.h"

#include <math.h>
#include <stdlib.h>

const struct writ_crew_voting writ_voting_default = {
    .mode = WRIT_VOTING_FIRST_VALID,
    .mode_text = {"first_valid", sizeof "first_valid" - 1},
    .weight_function = {"equal", sizeof "equal" - 1},
    .threshold = {33, 50},
    .threshold_number = 0.66,
    .quorum = {0, 1},
    .alpha = {0, 1},
    .beta = {0, 1},
    .lambda = {1, 2},
};

/* ---- members */

/* A misspelt quorum would fail open, so an unknown member is refused. */
static void
refuse_unknown(struct writ_scan *scan, const struct writ_json *object)
{
    static const char *const known[] = {"mode", "weight_function", "threshold", "weights", "quorum",
        "veto", "score", "abstain", "tie", "alpha", "beta", "lambda"};

    WRIT_JSON_EACH(name, object)
    {
        bool found = false;
        for (size_t at = 0; at < sizeof known / sizeof *known; at++) {
            found |= writ_json_is(name, writ_view_str(known[at]));
        }
        if (!found) {
            size_t entered = writ_scan_enter(scan, writ_json_string(name));
            writ_scan_fault(scan, WRIT_SCAN_VALUE);
            writ_scan_leave(scan, entered);
        }
    }
}

/* The name of an added engine; absent: the text names none. The prefix is an older spelling, and
 * names an engine that the reader does not know too. */
static struct writ_view
engine_of(const struct writ_scan *scan, struct writ_view text)
{
    if (writ_view_has_prefix(text, WRIT_LIT(WRIT_ENGINES_PREFIX)) &&
        text.len > sizeof WRIT_ENGINES_PREFIX - 1) {
        return writ_view_sub(text, sizeof WRIT_ENGINES_PREFIX - 1, text.len);
    }
    return writ_engines_find(scan->engines, text) != NULL ? text : writ_view(NULL, 0);
}

/* The built-in modes come first: a plug-in does not change what an existing shape means. */
static enum writ_voting_mode
mode_of(const struct writ_scan *scan, struct writ_view text)
{
    static const char *const names[] = {
#define MODE_NAME(name, text, function, what) [WRIT_VOTING_##name] = (text),
        WRIT_VOTING_MODES(MODE_NAME)
#undef MODE_NAME
    };

    for (size_t mode = WRIT_VOTING_NONE + 1; mode < WRIT_VOTING_ENGINE; mode++) {
        if (writ_view_is(text, names[mode])) {
            return (enum writ_voting_mode)mode;
        }
    }
    return engine_of(scan, text).ptr != NULL ? WRIT_VOTING_ENGINE : WRIT_VOTING_NONE;
}

static void
set_mode(const struct writ_scan *scan, struct writ_crew_voting *voting, enum writ_voting_mode mode,
    struct writ_view text)
{
    voting->mode = mode;
    voting->mode_text = text;
    if (mode == WRIT_VOTING_ENGINE) {
        voting->engine = engine_of(scan, text);
    }
    if (mode == WRIT_VOTING_REVIEW) {
        voting->threshold = (struct writ_rational){2, 3};
        voting->threshold_number = -1;
    }
}

static void
scan_mode(struct writ_scan *scan, const struct writ_json *object, struct writ_crew_voting *voting)
{
    const struct writ_json *value = writ_json_get(object, WRIT_LIT("mode"));
    enum writ_voting_mode mode = mode_of(scan, writ_json_string(value));

    if (value == NULL) {
        set_mode(scan, voting, WRIT_VOTING_WEIGHTED, WRIT_LIT("weighted_consensus"));
    } else if (mode == WRIT_VOTING_NONE) {
        writ_scan_fault_at(scan, "mode", WRIT_SCAN_VALUE);
    } else {
        set_mode(scan, voting, mode, writ_scan_copy(scan, writ_json_string(value)));
    }
}

/* A share from 0 to 1. */
static bool
scan_share(struct writ_scan *scan, const struct writ_json *object, const char *member,
    struct writ_rational *share)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));
    const char *wrong = NULL;
    struct writ_rational read;

    if (value == NULL) {
        return false;
    }
    if (writ_json_type(value) == WRIT_JSON_NUMBER && value->number < 0) {
        wrong = WRIT_SCAN_SMALL;
    } else if (writ_json_type(value) == WRIT_JSON_NUMBER && value->number > 1) {
        wrong = WRIT_SCAN_BIG;
    } else if (!writ_is_ok(writ_rational_read(value, &read))) {
        wrong =
            writ_json_type(value) == WRIT_JSON_NUMBER || writ_json_type(value) == WRIT_JSON_STRING
                ? WRIT_SCAN_VALUE
                : WRIT_SCAN_TYPE;
    } else if (read.numerator > read.denominator) {
        wrong = WRIT_SCAN_BIG;
    }
    if (wrong != NULL) {
        writ_scan_fault_at(scan, member, wrong);
        return false;
    }
    *share = read;
    return true;
}

static void
scan_threshold(
    struct writ_scan *scan, const struct writ_json *object, struct writ_crew_voting *voting)
{
    const struct writ_json *value = writ_json_get(object, WRIT_LIT("threshold"));

    if (!scan_share(scan, object, "threshold", &voting->threshold)) {
        return;
    }
    voting->threshold_number = writ_json_type(value) == WRIT_JSON_NUMBER ? value->number : -1;
    /* at one half ACCEPT and REJECT could both hold */
    if (voting->mode == WRIT_VOTING_REVIEW && writ_rational_compare(1, 2, voting->threshold) >= 0) {
        writ_scan_fault_at(scan, "threshold", WRIT_SCAN_SMALL);
    }
}

static int
compare_weights(const void *a, const void *b)
{
    const struct writ_voting_weight *left = a, *right = b;

    return writ_view_compare(left->id, right->id);
}

const struct writ_voting_weight *
writ_voting_weight_of(const struct writ_crew_voting *voting, struct writ_view id)
{
    const struct writ_voting_weight key = {id, 0};

    return voting->weights_n > 0
               ? bsearch(&key, voting->weights, voting->weights_n, sizeof key, compare_weights)
               : NULL;
}

static void
scan_weights(
    struct writ_scan *scan, const struct writ_json *object, struct writ_crew_voting *voting)
{
    const struct writ_json *value =
        writ_scan_typed(scan, object, "weights", WRIT_JSON_OBJECT, WRIT_SCAN_OPTIONAL);
    size_t entered = writ_scan_enter(scan, WRIT_LIT("weights")), n = 0;
    struct writ_voting_weight *list = NULL;

    if (value != NULL) {
        list = writ_scan_memory(scan, value->count + 1, sizeof *list);
    }
    WRIT_JSON_EACH(name, list != NULL ? value : NULL)
    {
        const struct writ_json *weight = writ_json_value(name);
        size_t at = writ_scan_enter(scan, writ_json_string(name));
        bool number = writ_json_type(weight) == WRIT_JSON_NUMBER;
        list[n] = (struct writ_voting_weight){writ_scan_copy(scan, writ_json_string(name)), 0};
        if (!number || weight->number != trunc(weight->number)) {
            writ_scan_fault(scan, WRIT_SCAN_TYPE);
        } else if (weight->number < 0) {
            writ_scan_fault(scan, WRIT_SCAN_SMALL);
        } else if (weight->number > WRIT_CREW_WEIGHT_MAX) {
            writ_scan_fault(scan, WRIT_SCAN_BIG);
        } else {
            list[n].weight = (int64_t)weight->number;
        }
        n++;
        writ_scan_leave(scan, at);
    }
    writ_scan_leave(scan, entered);
    if (n > 0) {
        qsort(list, n, sizeof *list, compare_weights);
    }
    voting->weights = list;
    voting->weights_n = n;
}

/* A count, or a share of the electorate. */
static void
scan_quorum(struct writ_scan *scan, const struct writ_json *object, struct writ_crew_voting *voting)
{
    const struct writ_json *value = writ_json_get(object, WRIT_LIT("quorum"));
    double count;

    if (writ_json_type(value) == WRIT_JSON_STRING) {
        voting->quorum_share = scan_share(scan, object, "quorum", &voting->quorum);
        return;
    }
    count = writ_scan_whole(scan, object, "quorum", 0, WRIT_SCAN_OPTIONAL);
    if (count >= 0) {
        voting->quorum = (struct writ_rational){(int64_t)count, 1};
    }
}

/* "first" (the default) or "none". */
static bool
scan_tie(struct writ_scan *scan, const struct writ_json *object)
{
    struct writ_view word = writ_scan_text(scan, object, "tie", WRIT_SCAN_OPTIONAL);
    bool none = writ_view_is(word, "none");

    if (word.ptr != NULL && !none && !writ_view_is(word, "first")) {
        writ_scan_fault_at(scan, "tie", WRIT_SCAN_VALUE);
    }
    return none;
}

void
writ_voting_scan(
    struct writ_scan *scan, const struct writ_json *object, struct writ_crew_voting *ret)
{
    struct writ_scan_texts veto;

    *ret = writ_voting_default;
    scan_mode(scan, object, ret);
    ret->weight_function = writ_scan_text(scan, object, "weight_function", WRIT_SCAN_OPTIONAL);
    if (ret->weight_function.ptr == NULL) {
        ret->weight_function = writ_voting_default.weight_function;
    }
    scan_threshold(scan, object, ret);
    scan_weights(scan, object, ret);
    scan_quorum(scan, object, ret);
    veto = writ_scan_texts(scan, object, "veto", NULL);
    scan->exhausted |= !writ_is_ok(writ_names_make(&ret->veto, veto.list, veto.n, scan->arena));
    ret->score = writ_scan_text(scan, object, "score", WRIT_SCAN_OPTIONAL);
    if (ret->score.ptr != NULL && !writ_json_is_pointer(ret->score)) {
        writ_scan_fault_at(scan, "score", WRIT_SCAN_VALUE);
    }
    ret->abstain = writ_scan_bool(scan, object, "abstain", false);
    ret->tie = scan_tie(scan, object);
    scan_share(scan, object, "alpha", &ret->alpha);
    scan_share(scan, object, "beta", &ret->beta);
    scan_share(scan, object, "lambda", &ret->lambda);
    refuse_unknown(scan, object);
}

/* ---- by itself */

static void
voting_freep(struct writ_crew_voting **voting)
{
    writ_crew_voting_free(*voting);
}

void
writ_crew_voting_free(struct writ_crew_voting *voting)
{
    if (voting != NULL) {
        writ_arena_free(voting->own);
        writ_free(voting);
    }
}

WRIT_RESULT
writ_crew_voting_read(struct writ_view json, struct writ_crew_findings *faults,
    struct writ_crew_voting **ret, struct writ_crew_err *err)
{
    return writ_crew_voting_read_with(json, NULL, faults, ret, err);
}

WRIT_RESULT
writ_crew_voting_read_with(struct writ_view json, const struct writ_crew_engines *engines,
    struct writ_crew_findings *faults, struct writ_crew_voting **ret, struct writ_crew_err *err)
{
    WRIT_AUTO(struct writ_crew_voting *, voting_freep) voting = writ_alloc(sizeof *voting);
    struct writ_arena *arena = writ_value_arena(WRIT_CREW_VOTING_MAX);
    const struct writ_json *value = NULL;
    struct writ_scan scan;

    if (voting == NULL || arena == NULL) {
        writ_arena_free(arena);
        return writ_failure_memory(err);
    }
    voting->own = arena;
    WRIT_TRY(writ_value_parse(json, WRIT_CREW_VOTING_MAX, arena, &value, err));
    scan = writ_scan_begin(faults, arena);
    scan.engines = engines;
    if (writ_json_type(value) == WRIT_JSON_OBJECT) {
        writ_voting_scan(&scan, value, voting);
        voting->own = arena;
    } else if (mode_of(&scan, writ_json_string(value)) != WRIT_VOTING_NONE) {
        *voting = writ_voting_default;
        voting->own = arena;
        set_mode(&scan, voting, mode_of(&scan, writ_json_string(value)),
            writ_scan_copy(&scan, writ_json_string(value)));
    } else {
        writ_scan_fault(&scan, WRIT_SCAN_VALUE);
    }
    WRIT_TRY(writ_scan_end(&scan, err));
    *ret = WRIT_TAKE(voting);
    return WRIT_DONE;
}
