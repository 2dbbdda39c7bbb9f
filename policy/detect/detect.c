/* detect.c - see detect.h. A text is scanned in each of its forms by the finders whose detectors
 * are wanted; their place is that in the text as it was given. */
#include "policy/detect/detect.h"

#include "evidence/json/jcs.h"
#include "policy/detect/scan.h"
#include "policy/detect/undo.h"
#include "policy/model/trail.h"

#define LAYERS 3 /* of disguises */

enum family {
    FAMILY_TOKEN,
    FAMILY_JWT,
    FAMILY_PEM,
    FAMILY_URL,
    FAMILY_ASSIGNMENT,
    FAMILY_CARD,
    FAMILY_IBAN,
    FAMILY_EMAIL,
    FAMILY_HOST,
    FAMILY_HIDDEN,
    FAMILY_PROMPT,
    FAMILY_COUNT,
};

static void (*const finders[FAMILY_COUNT])(struct writ_scan *scan) = {
    [FAMILY_TOKEN] = writ_scan_tokens,
    [FAMILY_JWT] = writ_scan_jwt,
    [FAMILY_PEM] = writ_scan_pem,
    [FAMILY_URL] = writ_scan_url,
    [FAMILY_ASSIGNMENT] = writ_scan_assignment,
    [FAMILY_CARD] = writ_scan_card,
    [FAMILY_IBAN] = writ_scan_iban,
    [FAMILY_EMAIL] = writ_scan_email,
    [FAMILY_HOST] = writ_scan_host,
    [FAMILY_HIDDEN] = writ_scan_hidden,
    [FAMILY_PROMPT] = writ_scan_prompt,
};

static const enum family family_of[WRIT_DETECTOR_COUNT] = {
#define DETECTOR(family, ID, name, version, sentence) [WRIT_DETECTOR_##ID] = FAMILY_##family,
#include "policy/detect/detector.tbl.h"
#undef DETECTOR
};

static void
report(struct writ_scan *scan, const struct writ_detector *detector, size_t offset, size_t length)
{
    struct writ_detection found = {.detector = detector, .offset = offset, .length = length};

    if (scan->stopped || length == 0) {
        return;
    }
    if (scan->at != NULL) {
        found.offset = scan->at[offset];
        found.length = scan->at[offset + length] - found.offset;
    }
    scan->stopped = !scan->each(scan->ctx, &found);
}

void
writ_scan_found(struct writ_scan *scan, size_t id, size_t offset, size_t length)
{
    if (scan->set->builtin[id]) {
        report(scan, writ_detector_builtin(id), offset, length);
    }
}

/* ---- patterns of the configuration */

struct matching {
    struct writ_scan *scan;
    const struct writ_detector *detector;
};

static bool
take_match(void *ctx, size_t offset, size_t length)
{
    struct matching *m = ctx;

    if (writ_detector_checksum_holds(
            m->detector->checksum, writ_view_sub(m->scan->text, offset, length))) {
        report(m->scan, m->detector, offset, length);
    }
    return !m->scan->stopped;
}

static void
scan_own(struct writ_scan *scan, struct writ_pattern_budget *budget)
{
    const struct writ_detectors *own = scan->set->own;

    for (size_t i = 0; own != NULL && i < own->n && !scan->stopped; i++) {
        struct matching m = {.scan = scan, .detector = &own->items[i]};
        if (scan->set->own_wanted[i] && writ_pattern_each(own->items[i].pattern, scan->text, budget,
                                            take_match, &m) == WRIT_PATTERN_LIMIT) {
            scan->failed = WRIT_E_LIMIT;
        }
    }
}

/* ---- forms of a text */

static void
scan_form(struct writ_scan *scan, struct writ_pattern_budget *budget)
{
    bool done[FAMILY_COUNT] = {false};

    for (size_t id = 0; id < WRIT_DETECTOR_COUNT && !scan->stopped; id++) {
        enum family family = family_of[id];
        if (scan->set->builtin[id] && !done[family]) {
            done[family] = true;
            finders[family](scan);
        }
    }
    if (!scan->stopped) {
        scan_own(scan, budget);
    }
}

static WRIT_RESULT
scan_layers(struct writ_scan *scan, struct writ_pattern_budget *budget, struct writ_undone *undone)
{
    bool changed = true;

    for (size_t layer = 0; changed; layer++) {
        scan_form(scan, budget);
        if (scan->failed != WRIT_E_UNSET) {
            return (writ_result){scan->failed};
        }
        if (scan->stopped || layer == LAYERS) {
            break;
        }
        WRIT_TRY(writ_undo(scan->text, scan->at, &undone[layer], &changed));
        if (changed) {
            scan->text = writ_buf_view(&undone[layer].text);
            scan->at = undone[layer].at;
        }
    }
    return WRIT_DONE;
}

struct writ_pattern_budget
writ_detect_budget(void)
{
    const struct writ_clock *clock = writ_clock_system();

    return (struct writ_pattern_budget){.matches = WRIT_DETECT_MATCHES_MAX,
        .clock = clock,
        .until_us = writ_clock_mono_us(clock) + WRIT_DETECT_TIME_US};
}

WRIT_RESULT
writ_detect_text(const struct writ_detector_set *set, struct writ_view text,
    struct writ_view member, struct writ_pattern_budget *budget, writ_detector_fn *each, void *ctx)
{
    struct writ_scan scan = {.set = set,
        .text = text,
        .member = member,
        .each = each,
        .ctx = ctx,
        .failed = WRIT_E_UNSET};
    struct writ_pattern_budget own;
    struct writ_undone undone[LAYERS] = {{.at = NULL}};
    writ_result r;

    if (budget == NULL) {
        own = writ_detect_budget();
        budget = &own;
    }
    r = scan_layers(&scan, budget, undone);
    for (size_t i = 0; i < LAYERS; i++) {
        writ_undo_wipe(&undone[i]);
    }
    return r;
}

/* ---- values */

struct asking {
    const struct writ_detector_set *set;
    struct writ_pattern_budget *budget;
    const struct writ_trail *here;
    struct writ_buf *at; /* or NULL */
    const struct writ_detector *found;
    bool failed;
};

static bool
take_first(void *ctx, const struct writ_detection *found)
{
    struct asking *a = ctx;

    a->found = found->detector;
    if (a->at != NULL) {
        writ_trail_put(a->here, a->at);
    }
    return false;
}

static void
ask_text(struct asking *a, struct writ_view text, struct writ_view member)
{
    writ_result r = writ_detect_text(a->set, text, member, a->budget, take_first, a);

    a->failed = a->failed || !writ_is_ok(r);
}

/* The member that has the value, also of an array in it. */
static struct writ_view
member_of(const struct writ_trail *here)
{
    while (here != NULL && here->name.ptr == NULL) {
        here = here->up;
    }
    return here != NULL ? here->name : WRIT_LIT("");
}

static void
ask(struct asking *a, const struct writ_json *value, const struct writ_trail *here)
{
    enum writ_json_type type = writ_json_type(value);
    struct writ_trail below = {.up = here};
    writ_auto_buf number = writ_buf_make(512);

    a->here = here;
    if (type == WRIT_JSON_STRING) {
        ask_text(a, writ_json_string(value), member_of(here));
    } else if (type == WRIT_JSON_NUMBER) {
        bool exact = writ_is_ok(writ_jcs_put(&number, value, NULL));
        ask_text(a, exact ? writ_buf_view(&number) : writ_json_text(value), WRIT_LIT(""));
    }
    WRIT_JSON_EACH(child, value)
    {
        if (a->found != NULL || a->failed) {
            return;
        }
        if (type == WRIT_JSON_OBJECT) {
            below.name = writ_json_string(child);
            a->here = here; /* a name with a find in it is not in the place */
            ask_text(a, below.name, WRIT_LIT(""));
        }
        if (a->found == NULL) {
            ask(a, type == WRIT_JSON_OBJECT ? writ_json_value(child) : child, &below);
        }
        below.index++;
    }
}

enum writ_detect_answer
writ_detect_any(const struct writ_detector_set *set, const struct writ_json *value,
    struct writ_pattern_budget *budget, const struct writ_detector **ret_first,
    struct writ_buf *ret_at)
{
    const struct writ_trail whole = {.up = NULL};
    struct writ_pattern_budget own = writ_detect_budget();
    struct asking a = {.set = set, .budget = budget != NULL ? budget : &own, .at = ret_at};

    ask(&a, value, &whole);
    if (a.found != NULL && ret_first != NULL) {
        *ret_first = a.found;
    }
    return a.found != NULL ? WRIT_DETECT_SOME : a.failed ? WRIT_DETECT_UNKNOWN : WRIT_DETECT_NONE;
}
