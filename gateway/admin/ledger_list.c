/* ledger_list.c - the row of a call is in the narrow table of the ledger; upstream and reason are
 * in its record, which is read for the calls that the other filters admit.
 *
 * Invariant: an answer contains only calls that the viewer may see. */
#include "gateway/admin/ledger_list.h"

#include "base/clock.h"
#include "base/text.h"
#include "evidence/record/extension.h"
#include "evidence/record/reason.h"
#include "gateway/http/query.h"
#include "policy/decide/policy.h"
#include "store/tables/body.h"

#define NUMBER_MAX 40                 /* bytes of a number, a time or a word */
#define ARENA_MAX  ((size_t)16 << 20) /* memory to read one record */
#define CALL_MAX   65536              /* bytes of one call as JSON */

/* ---- what is asked ---- */

static bool
read_words(struct writ_view query, struct writ_arena *arena, struct writ_ledger_list *ret)
{
    const struct {
        struct writ_view name;
        struct writ_view *to;
    } rows[] = {
        {WRIT_LIT("q"), &ret->words},
        {WRIT_LIT("tool"), &ret->filter.tool},
        {WRIT_LIT("agent"), &ret->filter.agent_id},
        {WRIT_LIT("run"), &ret->filter.boundary_id},
        {WRIT_LIT("upstream"), &ret->upstream},
        {WRIT_LIT("reason"), &ret->reason},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_view found = {NULL, 0};

        if (!writ_is_ok(
                writ_query_get(query, rows[i].name, WRIT_LEDGER_LIST_WORDS_MAX, arena, &found))) {
            return false;
        }
        if (found.len > 0) {
            *rows[i].to = found;
        }
    }
    return true;
}

/* Empty, as a form sends it: none. */
static bool
get(struct writ_view query, const char *name, struct writ_arena *arena, struct writ_view *ret)
{
    return writ_is_ok(writ_query_get(query, writ_view_str(name), NUMBER_MAX, arena, ret));
}

static bool
read_kinds(struct writ_view query, struct writ_arena *arena, struct writ_ledger_list *ret)
{
    struct writ_view decision = {NULL, 0}, outcome = {NULL, 0};

    if (!get(query, "decision", arena, &decision) || !get(query, "outcome", arena, &outcome)) {
        return false;
    }
    ret->filter.has_route = writ_decision_route_find(decision, &ret->filter.route);
    ret->verdict = decision;
    ret->unfinished = writ_view_is(outcome, "none");
    ret->has_outcome = writ_outcome_kind_find(outcome, &ret->outcome);
    return (ret->filter.has_route || decision.len == 0 || writ_reason_is_of_run(decision)) &&
           (ret->has_outcome || ret->unfinished || outcome.len == 0);
}

static bool
read_places(struct writ_view query, struct writ_arena *arena, struct writ_ledger_list *ret)
{
    struct writ_view since = {NULL, 0}, until = {NULL, 0}, before = {NULL, 0};

    return get(query, "since", arena, &since) && get(query, "until", arena, &until) &&
           get(query, "before", arena, &before) &&
           (since.len == 0 || writ_is_ok(writ_time_read(since, &ret->since_us))) &&
           (until.len == 0 || writ_is_ok(writ_time_read(until, &ret->filter.until_us))) &&
           (before.len == 0 ||
               writ_is_ok(writ_text_u64(before, 1, INT64_MAX, &ret->filter.before_leaf)));
}

bool
writ_ledger_list_read(
    struct writ_view query, struct writ_arena *arena, struct writ_ledger_list *ret)
{
    struct writ_ledger_list list = {0};

    if (!read_words(query, arena, &list) || !read_kinds(query, arena, &list) ||
        !read_places(query, arena, &list)) {
        return false;
    }
    *ret = list;
    return true;
}

/* ---- one call ---- */

/** One walk over calls. */
struct walk {
    const struct writ_ledger_list *list;
    const struct writ_ledger_sight *sight;
    struct writ_reader *reader;
    struct writ_arena *arena; /* of one record */
    struct writ_write *w;     /* a page */
    size_t scanned, read, found;
    uint64_t next;                                         /* 0: there is nothing older */
    bool ended;                                            /* at the begin of the asked time */
    WRIT_RESULT (*each)(void *ctx, struct writ_view call); /* changes */
    void *ctx;
    writ_result result;
};

/* The members that only the record has; empty when it has none, or cannot be read. */
struct details {
    struct writ_view upstream, reason;
};

static unsigned char
lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Without regard to case, where the letters are of ASCII. */
static bool
has_words(struct writ_view text, struct writ_view words)
{
    for (size_t at = 0; words.len <= text.len && at <= text.len - words.len; at++) {
        size_t n = 0;

        while (n < words.len && lower(text.ptr[at + n]) == lower(words.ptr[n])) {
            n++;
        }
        if (n == words.len) {
            return true;
        }
    }
    return false;
}

static bool
is_named(struct writ_view wanted, struct writ_view name)
{
    return wanted.len == 0 || writ_view_equal(wanted, name);
}

/* By its row alone. */
static bool
is_wanted(const struct walk *walk, const struct writ_reader_item *item)
{
    const struct writ_ledger_list *list = walk->list;
    const struct writ_reader_filter *filter = &list->filter;
    const struct writ_view places[] = {
        item->tool, item->agent_id, item->boundary_id, item->decision_id, item->tenant};
    bool found = list->words.len == 0;

    for (size_t i = 0; !found && i < sizeof places / sizeof places[0]; i++) {
        found = has_words(places[i], list->words);
    }
    return found && writ_ledger_viewer_sees(walk->sight, item->tenant, item->agent_id) &&
           is_named(filter->tool, item->tool) && is_named(filter->agent_id, item->agent_id) &&
           is_named(filter->boundary_id, item->boundary_id) &&
           (!filter->has_route || filter->route == item->route) &&
           (list->since_us == 0 || item->issued_at_us >= list->since_us) &&
           (filter->until_us == 0 || item->issued_at_us < filter->until_us) &&
           (!list->unfinished || !item->has_outcome) &&
           (!list->has_outcome || (item->has_outcome && item->outcome == list->outcome));
}

static struct details
details_of(struct walk *walk, const struct writ_reader_item *item)
{
    struct details details = {{NULL, 0}, {NULL, 0}};
    struct writ_view record = {NULL, 0};
    struct writ_decision d = {0};
    struct writ_extension ours = {0};

    writ_arena_reset(walk->arena);
    if (writ_is_ok(writ_reader_record(walk->reader, item->leaf, walk->arena, &record, NULL)) &&
        writ_is_ok(writ_body_decision(record, walk->arena, &d, NULL)) &&
        writ_is_ok(writ_extension_read(&d.extensions, walk->arena, &ours, NULL))) {
        details.upstream = writ_member_view(&ours.upstream);
        details.reason = writ_member_view(&ours.reason);
    }
    return details;
}

static bool
has_details(
    const struct walk *walk, const struct writ_reader_item *item, const struct details *details)
{
    return is_named(walk->list->verdict,
               writ_reason_verdict(writ_decision_route_name(item->route), details->reason)) &&
           is_named(walk->list->upstream, details->upstream) &&
           is_named(walk->list->reason, details->reason);
}

static void
put_call(struct writ_write *w, const struct writ_reader_item *item, const struct details *details)
{
    writ_write_object_begin(w);
    writ_write_count(w, "leaf", item->leaf);
    writ_write_text(w, "decision_id", item->decision_id);
    writ_write_text(
        w, "decision", writ_reason_verdict(writ_decision_route_name(item->route), details->reason));
    writ_write_text_if(w, "reason", details->reason);
    if (item->has_outcome) {
        writ_write_text(w, "outcome", writ_outcome_kind_name(item->outcome));
        writ_write_time(w, "completed_at", item->completed_at_us);
    }
    writ_write_flag(w, "superseded", item->superseded);
    writ_write_time(w, "issued_at", item->issued_at_us);
    writ_write_text(w, "tenant", item->tenant);
    writ_write_text(w, "agent_id", item->agent_id);
    writ_write_text_if(w, "upstream", details->upstream);
    writ_write_text(w, "tool", item->tool);
    writ_write_text(w, "boundary_id", item->boundary_id);
    writ_write_count(w, "seq", item->seq);
    writ_write_flag(w, "sealed", item->sealed);
    writ_write_object_end(w);
}

/* ---- a page ---- */

static bool
take_item(void *ctx, const struct writ_reader_item *item)
{
    struct walk *walk = ctx;
    struct details details;

    if (walk->list->since_us != 0 && item->issued_at_us < walk->list->since_us) {
        walk->ended = true; /* times grow with the index */
        return false;
    }
    if (walk->scanned == WRIT_LEDGER_LIST_SCAN || walk->read == WRIT_LEDGER_LIST_SCAN_BODY ||
        walk->found == WRIT_LEDGER_LIST_PAGE) {
        walk->next = item->leaf + 1; /* the next page begins here */
        return false;
    }
    walk->scanned++;
    if (!is_wanted(walk, item)) {
        return true;
    }
    walk->read++;
    details = details_of(walk, item);
    if (has_details(walk, item, &details)) {
        walk->found++;
        put_call(walk->w, item, &details);
    }
    return true;
}

static bool
take_newest(void *ctx, const struct writ_reader_item *item)
{
    uint64_t *before = ctx;

    *before = item->leaf + 1;
    return false;
}

/* Limits the records that one answer reads, however long the ledger is. */
static WRIT_RESULT
bound(struct writ_reader *reader, struct writ_reader_filter *filter)
{
    static const struct writ_reader_filter any = {0};

    if (filter->before_leaf == 0) {
        WRIT_TRY(writ_reader_list(reader, &any, take_newest, &filter->before_leaf, NULL));
    }
    if (filter->before_leaf > WRIT_LEDGER_LIST_SPAN) {
        filter->from_leaf = filter->before_leaf - WRIT_LEDGER_LIST_SPAN;
    }
    return WRIT_DONE;
}

/* The rows that the ledger itself can leave out. */
static struct writ_reader_filter
filter_of(const struct writ_ledger_list *list, const struct writ_ledger_sight *sight)
{
    struct writ_reader_filter filter = list->filter;

    if (sight->scope != WRIT_LEDGER_ALL) {
        filter.tenant = sight->tenant;
    }
    if (sight->scope == WRIT_LEDGER_OWN && filter.agent_id.len == 0) {
        filter.agent_id = sight->agent_id;
    }
    return filter;
}

WRIT_RESULT
writ_ledger_list_put_page(const struct writ_ledger_list *list,
    const struct writ_ledger_sight *sight, struct writ_reader *reader, struct writ_write *w)
{
    struct writ_reader_filter filter = filter_of(list, sight);
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct walk walk = {.list = list, .sight = sight, .reader = reader, .arena = arena, .w = w};

    if (arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    writ_write_name(w, WRIT_LIT("calls"));
    writ_write_array_begin(w);
    WRIT_TRY(bound(reader, &filter));
    WRIT_TRY(writ_reader_list(reader, &filter, take_item, &walk, NULL));
    writ_write_array_end(w);
    if (walk.next == 0 && !walk.ended) {
        walk.next = filter.from_leaf;
    }
    if (walk.next != 0) {
        writ_write_count(w, "next", walk.next);
    }
    return WRIT_DONE;
}

/* ---- changes ---- */

static bool
take_change(void *ctx, const struct writ_reader_item *item)
{
    struct walk *walk = ctx;
    struct details details;

    if (!is_wanted(walk, item)) {
        return true;
    }
    details = details_of(walk, item);
    if (has_details(walk, item, &details)) {
        writ_auto_buf json = writ_buf_make(CALL_MAX);
        struct writ_write w = writ_write_to(&json);

        put_call(&w, item, &details);
        walk->result = writ_write_end(&w, NULL);
        if (writ_is_ok(walk->result)) {
            walk->result = walk->each(walk->ctx, writ_buf_view(&json));
        }
    }
    return writ_is_ok(walk->result);
}

WRIT_RESULT
writ_ledger_list_changes(const struct writ_ledger_list *list, const struct writ_ledger_sight *sight,
    struct writ_reader *reader, uint64_t from, uint64_t before,
    WRIT_RESULT (*each)(void *ctx, struct writ_view call), void *ctx)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct walk walk = {.list = list,
        .sight = sight,
        .reader = reader,
        .arena = arena,
        .each = each,
        .ctx = ctx,
        .result = WRIT_DONE};

    if (arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_reader_changed(reader, from, before, take_change, &walk, NULL));
    return walk.result;
}
