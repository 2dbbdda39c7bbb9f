/* Each kind of value has a ladder of its own; a rung is there only when it holds for everything
 * that was seen. Hosts, domains and folders end their ladders: a value elsewhere is never let
 * through by a guess. */
#include "policy/learn/ladder.h"

#include "base/hidden.h"
#include "policy/propose/words.h"

#define TEXTS_MAX   64 /* values of one list */
#define NUMBERS_MAX 16
#define PREFIX_MIN  4 /* bytes of a common beginning that says something */
#define DEPTHS      5 /* lists of folders that are tried */
#define PATTERN_MAX 4000
#define NAME_WORDS  64

const char *
writ_ladder_step_name(enum writ_learn_step step)
{
    static const char *const names[] = {
        "none",
#define STEP(NAME, name, sentence) name,
#include "policy/learn/step.tbl.h"
#undef STEP
    };

    return step < WRIT_LEARN_COUNT ? names[step] : names[0];
}

const char *
writ_ladder_step_sentence(enum writ_learn_step step)
{
    static const char *const sentences[] = {
        "",
#define STEP(NAME, name, sentence) sentence,
#include "policy/learn/step.tbl.h"
#undef STEP
    };

    return step < WRIT_LEARN_COUNT ? sentences[step] : sentences[0];
}

/* ---- rungs */

static void
rung(struct writ_ladder *ladder, enum writ_learn_step step, uint64_t cost, size_t depth)
{
    if (ladder->n < WRIT_LADDER_MAX) {
        ladder->rungs[ladder->n++] = (struct writ_rung){step, cost, depth};
    }
}

/* Letters and digits of a name, in lower case. */
static void
put_letters(struct writ_view name, struct writ_buf *ret)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (c >= 'A' && c <= 'Z') {
            writ_buf_byte(ret, (char)(c - 'A' + 'a'));
        } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            writ_buf_byte(ret, c);
        }
    }
}

/* By its name, or that of something around it. A secret is never written into a configuration. */
static bool
is_secret(const struct writ_spot *spot)
{
    static const char *const ends[] = {"token", "apikey", "accesskey", "privatekey", "passphrase",
        "passwd", "authorization", "cookie", "otp", "pin"};

    for (; spot != NULL; spot = spot->up) {
        writ_auto_buf letters = writ_buf_make(SIZE_MAX);

        put_letters(spot->name, &letters);
        if ((writ_words_of(spot->name, NAME_WORDS).all & WRIT_WORD_SECRET) != 0 ||
            !writ_is_ok(writ_buf_check(&letters, NULL))) {
            return true;
        }
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
            if (writ_view_has_suffix(writ_buf_view(&letters), writ_view_str(ends[i]))) {
                return true;
            }
        }
    }
    return false;
}

static bool
is_listable(const struct writ_spot *spot, size_t most)
{
    if (!writ_seen_is_listed(&spot->values, most) || is_secret(spot)) {
        return false;
    }
    for (size_t i = 0; i < spot->values.n; i++) {
        if (writ_view_has_prefix(spot->values.items[i].text, WRIT_LIT("REPLACE_"))) {
            return false; /* it would be a placeholder */
        }
    }
    return true;
}

static void
rung_list(struct writ_ladder *ladder, const struct writ_ladder_terms *terms, size_t most)
{
    const struct writ_spot *spot = ladder->spot;

    if (is_listable(spot, most)) {
        rung(ladder, spot->values.n == 1 ? WRIT_LEARN_VALUE : WRIT_LEARN_ENUMERATION,
            writ_seen_cost(&spot->values, terms->by_run), 0);
    }
}

static void
rungs_of_folders(struct writ_ladder *ladder, const struct writ_ladder_terms *terms)
{
    const struct writ_places *places = &ladder->spot->places;
    uint64_t cost;

    for (size_t i = DEPTHS; i > 0; i--) {
        if (writ_places_cover(places, places->common_depth + i, terms->by_run, terms->arena, &cost)
                .n > 0) {
            rung(ladder, WRIT_LEARN_FOLDER, cost, places->common_depth + i);
        }
    }
    if (writ_places_cover(places, places->common_depth, terms->by_run, terms->arena, &cost).n > 0) {
        rung(ladder, WRIT_LEARN_COMMON_FOLDER, cost, places->common_depth);
    }
}

static void
rungs_of_hosts(struct writ_ladder *ladder, const struct writ_ladder_terms *terms)
{
    const struct writ_places *places = &ladder->spot->places;
    uint64_t cost;

    for (int suffixes = 0; suffixes < 2; suffixes++) {
        if (writ_places_hosts(places, suffixes != 0, terms->by_run, terms->arena, &cost).n > 0) {
            rung(ladder, suffixes != 0 ? WRIT_LEARN_HOST_SUFFIX : WRIT_LEARN_HOST, cost, 0);
        }
    }
}

static bool
rungs_of_places(struct writ_ladder *ladder, const struct writ_ladder_terms *terms)
{
    const struct writ_places *places = &ladder->spot->places;
    size_t before = ladder->n;

    if (writ_places_are_absolute(places)) {
        rungs_of_folders(ladder, terms);
    } else if (writ_places_are_urls(places)) {
        rungs_of_hosts(ladder, terms);
    } else if (writ_places_are_addresses(places) &&
               writ_seen_is_listed(&places->domains, WRIT_PLACES_LIST_MAX)) {
        rung(ladder, WRIT_LEARN_DOMAIN, writ_seen_cost(&places->domains, terms->by_run), 0);
    } else if (writ_places_are_relative(places)) {
        rung(ladder, WRIT_LEARN_RELATIVE, 0, 0);
    }
    return ladder->n > before;
}

static void
rungs_of_texts(struct writ_ladder *ladder, const struct writ_ladder_terms *terms)
{
    const struct writ_texts *texts = &ladder->spot->texts;
    uint64_t exact = writ_extreme_cost(&texts->longest, false, terms->by_run);
    uint64_t wide = writ_extreme_cost(&texts->longest, true, terms->by_run);

    if (writ_texts_format(texts, terms->forms) < terms->forms->n) {
        rung(ladder, WRIT_LEARN_FORMAT, 0, 0);
    }
    if (!texts->shapeless && texts->shapes_n > 0 && !is_secret(ladder->spot)) {
        rung(ladder, WRIT_LEARN_SHAPE, writ_texts_shapes_cost(texts, terms->by_run), 0);
    }
    if (!texts->not_line && texts->common.len >= PREFIX_MIN && !is_secret(ladder->spot) &&
        !writ_view_has_prefix(texts->common, WRIT_LIT("REPLACE_"))) {
        rung(ladder, WRIT_LEARN_PREFIX, wide, 0);
    }
    if (!texts->not_line) {
        rung(ladder, WRIT_LEARN_LINE, exact, 0);
        rung(ladder, WRIT_LEARN_WIDE_LINE, wide, 0);
    } else if (!texts->not_lines) {
        rung(ladder, WRIT_LEARN_TEXT, exact, 0);
        rung(ladder, WRIT_LEARN_WIDE_TEXT, wide, 0);
    } else {
        rung(ladder, WRIT_LEARN_ANY_TEXT, wide, 0);
    }
}

static void
rungs_of_values(struct writ_ladder *ladder, const struct writ_ladder_terms *terms)
{
    const struct writ_spot *spot = ladder->spot;
    unsigned types = spot->types & ~(unsigned)WRIT_SPOT_NULL;

    switch (types) {
    case 0:
        rung(ladder, WRIT_LEARN_VALUE, 0, 0); /* null alone */
        return;
    case WRIT_SPOT_BOOLEAN:
        rung_list(ladder, terms, 1);
        rung(ladder, WRIT_LEARN_SWITCH, 0, 0);
        return;
    case WRIT_SPOT_NUMBER:
        rung_list(ladder, terms, NUMBERS_MAX);
        rung(ladder, WRIT_LEARN_RANGE,
            writ_extreme_cost(&spot->least, false, terms->by_run) +
                writ_extreme_cost(&spot->greatest, false, terms->by_run),
            0);
        rung(ladder, WRIT_LEARN_WIDE_RANGE,
            writ_extreme_cost(&spot->least, true, terms->by_run) +
                writ_extreme_cost(&spot->greatest, true, terms->by_run),
            0);
        return;
    case WRIT_SPOT_STRING:
        rung_list(ladder, terms, TEXTS_MAX);
        if (!rungs_of_places(ladder, terms)) {
            rungs_of_texts(ladder, terms);
        }
        return;
    default:
        break;
    }
    if ((types & (WRIT_SPOT_ARRAY | WRIT_SPOT_OBJECT)) == 0) {
        rung_list(ladder, terms, NUMBERS_MAX);
        rung(ladder, WRIT_LEARN_TYPE, 0, 0);
    } else {
        rung(ladder, types == WRIT_SPOT_OBJECT ? WRIT_LEARN_OBJECT : WRIT_LEARN_ANYTHING, 0, 0);
    }
}

struct writ_ladder
writ_ladder_of(const struct writ_spot *spot, bool items, const struct writ_ladder_terms *terms)
{
    struct writ_ladder ladder = {
        .spot = spot, .items = items, .few = spot->seen.calls < terms->least};

    if (spot->open != NULL) {
        rung(&ladder, WRIT_LEARN_ANYTHING, 0, 0);
    } else if (items) {
        rung(&ladder, WRIT_LEARN_ITEMS, writ_extreme_cost(&spot->longest, false, terms->by_run), 0);
        rung(&ladder, WRIT_LEARN_WIDE_ITEMS, writ_extreme_cost(&spot->longest, true, terms->by_run),
            0);
    } else {
        rungs_of_values(&ladder, terms);
    }
    return ladder;
}

/* ---- constraints */

struct writ_proposal_constraint *
writ_ladder_add(struct writ_ladder_list *list, const struct writ_proposal_constraint *like,
    enum writ_op op, struct writ_view text)
{
    struct writ_proposal_constraint *one = writ_arena_get(list->arena, sizeof *one);

    if (one == NULL) {
        static struct writ_proposal_constraint nowhere;
        list->nomem = true;
        return &nowhere;
    }
    *one = *like;
    one->op = op;
    one->text = text;
    one->next = NULL;
    *(list->last != NULL ? &list->last->next : &list->first) = one;
    list->last = one;
    list->n++;
    return one;
}

static void
put_buf(struct writ_ladder_list *ret, const struct writ_proposal_constraint *like, enum writ_op op,
    struct writ_buf *text)
{
    ret->nomem = ret->nomem || !writ_is_ok(writ_buf_check(text, NULL));
    (void)writ_ladder_add(ret, like, op, writ_buf_view(text));
}

static void
put_number(struct writ_ladder_list *ret, const struct writ_proposal_constraint *like,
    enum writ_op op, const struct writ_decimal *number)
{
    struct writ_buf text = writ_buf_in(ret->arena, WRIT_DECIMAL_PUT_MAX);

    writ_decimal_put(&text, number);
    put_buf(ret, like, op, &text);
}

/* A value as a node, for lists. */
static const struct writ_json *
node_of(const struct writ_seen_value *value, struct writ_arena *arena)
{
    struct writ_json *node = writ_arena_get(arena, sizeof *node);

    if (node != NULL) {
        *node = (struct writ_json){.type = (uint8_t)value->type,
            .escaped = true, /* its bytes are those that were meant, not as they were spelled */
            .span = 1,
            .ptr = value->text.ptr,
            .len = (uint32_t)value->text.len};
    }
    return node;
}

/* Before another one of a list: numbers by their value, texts by their bytes. The order in which
 * calls came must not change a configuration. */
static bool
is_before(const struct writ_json *a, const struct writ_json *b)
{
    struct writ_decimal x, y;

    if (writ_json_type(a) != writ_json_type(b)) {
        return writ_json_type(a) < writ_json_type(b);
    }
    if (writ_json_type(a) == WRIT_JSON_NUMBER &&
        writ_is_ok(writ_decimal_read(writ_json_text(a), &x)) &&
        writ_is_ok(writ_decimal_read(writ_json_text(b), &y))) {
        return writ_decimal_compare(&x, &y) < 0;
    }
    for (size_t i = 0; i < a->len && i < b->len; i++) {
        if (a->ptr[i] != b->ptr[i]) {
            return (unsigned char)a->ptr[i] < (unsigned char)b->ptr[i];
        }
    }
    return a->len < b->len;
}

/* Adds a value at its place in the list of a constraint. */
static void
add_value(struct writ_ladder_list *ret, struct writ_proposal_constraint *one,
    const struct writ_seen_value *value)
{
    struct writ_proposal_value *added = writ_arena_get(ret->arena, sizeof *added);
    const struct writ_json *node = node_of(value, ret->arena);
    struct writ_proposal_value **to = (struct writ_proposal_value **)&one->values;

    if (added == NULL || node == NULL) {
        ret->nomem = true;
        return;
    }
    while (*to != NULL && is_before((*to)->json, node)) {
        to = &(*to)->next;
    }
    *added = (struct writ_proposal_value){.json = node, .next = *to};
    *to = added;
}

static void
put_values(const struct writ_ladder *ladder, const struct writ_proposal_constraint *like,
    struct writ_ladder_list *ret)
{
    struct writ_proposal_constraint *one =
        writ_ladder_add(ret, like, WRIT_OP_IN, writ_view(NULL, 0));
    const struct writ_seen *values = &ladder->spot->values;

    for (size_t i = 0; i < values->n; i++) {
        add_value(ret, one, &values->items[i]);
    }
}

static void
put_views(struct writ_ladder_list *ret, const struct writ_proposal_constraint *like,
    enum writ_op op, const struct writ_views *views)
{
    struct writ_proposal_constraint *one = writ_ladder_add(ret, like, op, writ_view(NULL, 0));

    for (size_t i = 0; i < views->n; i++) {
        struct writ_seen_value text = {.type = WRIT_JSON_STRING, .text = views->items[i]};
        add_value(ret, one, &text);
    }
}

static void
put_range(const struct writ_spot *spot, bool wide, const struct writ_proposal_constraint *like,
    struct writ_ladder_list *ret)
{
    struct writ_decimal least = writ_extreme_bound(&spot->least, wide);
    struct writ_decimal greatest = writ_extreme_bound(&spot->greatest, wide);

    if (!spot->fraction) {
        (void)writ_ladder_add(ret, like, WRIT_OP_TYPE, WRIT_LIT("integer"));
    }
    put_number(ret, like, WRIT_OP_GE, &least);
    put_number(ret, like, WRIT_OP_LE, &greatest);
}

static void
put_length(const struct writ_spot *spot, bool wide, const struct writ_proposal_constraint *like,
    struct writ_ladder_list *ret)
{
    struct writ_decimal most = writ_extreme_bound(&spot->texts.longest, wide);

    if (!spot->texts.empty) {
        (void)writ_ladder_add(ret, like, WRIT_OP_MIN_LENGTH, WRIT_LIT("1"));
    }
    put_number(ret, like, WRIT_OP_MAX_LENGTH, &most);
}

static void
put_domains(const struct writ_spot *spot, const struct writ_proposal_constraint *like,
    struct writ_ladder_list *ret)
{
    struct writ_buf text = writ_buf_in(ret->arena, 64 * 1024);
    const struct writ_seen *domains = &spot->places.domains;

    writ_buf_str(&text, "[A-Za-z0-9._%+-]{1,64}@(?i:");
    for (size_t i = 0; i < domains->n; i++) {
        writ_buf_str(&text, i > 0 ? "|" : "");
        writ_texts_quote(domains->items[i].text, &text);
    }
    writ_buf_byte(&text, ')');
    put_buf(ret, like, WRIT_OP_MATCHES, &text);
}

/* The folder that is common to all, as a pattern, and what is not relative to it. */
static void
put_relative(const struct writ_spot *spot, const struct writ_proposal_constraint *like,
    struct writ_ladder_list *ret)
{
    (void)writ_ladder_add(ret, like, WRIT_OP_GLOB, WRIT_LIT("**")); /* refuses `..` */
    (void)writ_ladder_add(ret, like, WRIT_OP_MATCHES, WRIT_LIT("[^/~:\\s][^:\\s]*"));
    put_length(spot, true, like, ret);
}

static void
put_types(const struct writ_spot *spot, const struct writ_proposal_constraint *like,
    struct writ_ladder_list *ret)
{
    static const struct {
        unsigned bit;
        struct writ_view word;
    } words[] = {{WRIT_SPOT_BOOLEAN, {"boolean", 7}}, {WRIT_SPOT_NUMBER, {"number", 6}},
        {WRIT_SPOT_STRING, {"string", 6}}, {WRIT_SPOT_ARRAY, {"array", 5}},
        {WRIT_SPOT_OBJECT, {"object", 6}}};
    struct writ_view items[5];
    struct writ_views views = {.items = items};

    for (size_t i = 0; i < 5; i++) {
        if ((spot->types & words[i].bit) != 0) {
            items[views.n++] = words[i].word;
        }
    }
    if (views.n == 1) {
        (void)writ_ladder_add(ret, like, WRIT_OP_TYPE, items[0]);
    } else {
        put_views(ret, like, WRIT_OP_TYPE, &views);
    }
}

static void
put_places(const struct writ_ladder *ladder, const struct writ_ladder_terms *terms,
    const struct writ_proposal_constraint *like, struct writ_ladder_list *ret)
{
    const struct writ_rung *rung = &ladder->rungs[ladder->at];
    const struct writ_places *places = &ladder->spot->places;
    bool hosts = rung->step == WRIT_LEARN_HOST || rung->step == WRIT_LEARN_HOST_SUFFIX;
    uint64_t cost;
    struct writ_views views =
        hosts ? writ_places_hosts(
                    places, rung->step == WRIT_LEARN_HOST_SUFFIX, terms->by_run, ret->arena, &cost)
              : writ_places_cover(places, rung->depth, terms->by_run, ret->arena, &cost);

    ret->nomem = ret->nomem || views.n == 0; /* the rung was there */
    put_views(ret, like, hosts ? WRIT_OP_HOST_IN : WRIT_OP_UNDER, &views);
}

static void
put_text(const struct writ_ladder *ladder, const struct writ_text_forms *forms,
    const struct writ_proposal_constraint *like, struct writ_ladder_list *ret)
{
    enum writ_learn_step step = ladder->rungs[ladder->at].step;
    const struct writ_spot *spot = ladder->spot;
    struct writ_buf text = writ_buf_in(ret->arena, WRIT_PATTERN_MAX);
    bool exact = step == WRIT_LEARN_LINE || step == WRIT_LEARN_TEXT;

    if (step == WRIT_LEARN_FORMAT) {
        size_t format = writ_texts_format(&spot->texts, forms);
        (void)writ_ladder_add(ret, like, WRIT_OP_MATCHES, forms->formats[format].pattern);
        return;
    }
    if (step == WRIT_LEARN_SHAPE) {
        writ_texts_shapes_put(&spot->texts, &text);
        put_buf(ret, like, WRIT_OP_MATCHES, &text);
        return;
    }
    if (step == WRIT_LEARN_PREFIX) {
        (void)writ_ladder_add(ret, like, WRIT_OP_PREFIX, spot->texts.common);
    }
    if (step == WRIT_LEARN_LINE || step == WRIT_LEARN_WIDE_LINE || step == WRIT_LEARN_PREFIX) {
        (void)writ_ladder_add(ret, like, WRIT_OP_MATCHES, WRIT_LIT(WRIT_TEXTS_LINE));
    } else if (step != WRIT_LEARN_ANY_TEXT) {
        (void)writ_ladder_add(ret, like, WRIT_OP_MATCHES, WRIT_LIT(WRIT_TEXTS_LINES));
    }
    put_length(spot, !exact, like, ret);
}

void
writ_ladder_put(const struct writ_ladder *ladder, const struct writ_ladder_terms *terms,
    const struct writ_proposal_constraint *like, struct writ_ladder_list *ret)
{
    const struct writ_spot *spot = ladder->spot;
    enum writ_learn_step step = ladder->rungs[ladder->at].step;
    struct writ_decimal most;

    switch (step) {
    case WRIT_LEARN_VALUE:
        if (spot->values.n == 0) {
            (void)writ_ladder_add(ret, like, WRIT_OP_EQ, WRIT_LIT("null"));
            return;
        }
        put_values(ladder, like, ret);
        return;
    case WRIT_LEARN_ENUMERATION:
        put_values(ladder, like, ret);
        return;
    case WRIT_LEARN_SWITCH:
    case WRIT_LEARN_TYPE:
    case WRIT_LEARN_OBJECT:
        put_types(spot, like, ret);
        return;
    case WRIT_LEARN_RANGE:
    case WRIT_LEARN_WIDE_RANGE:
        put_range(spot, step == WRIT_LEARN_WIDE_RANGE, like, ret);
        return;
    case WRIT_LEARN_FOLDER:
    case WRIT_LEARN_COMMON_FOLDER:
    case WRIT_LEARN_HOST:
    case WRIT_LEARN_HOST_SUFFIX:
        put_places(ladder, terms, like, ret);
        return;
    case WRIT_LEARN_RELATIVE:
        put_relative(spot, like, ret);
        return;
    case WRIT_LEARN_DOMAIN:
        put_domains(spot, like, ret);
        return;
    case WRIT_LEARN_FORMAT:
    case WRIT_LEARN_SHAPE:
    case WRIT_LEARN_PREFIX:
    case WRIT_LEARN_LINE:
    case WRIT_LEARN_WIDE_LINE:
    case WRIT_LEARN_TEXT:
    case WRIT_LEARN_WIDE_TEXT:
    case WRIT_LEARN_ANY_TEXT:
        put_text(ladder, terms->forms, like, ret);
        return;
    case WRIT_LEARN_ITEMS:
    case WRIT_LEARN_WIDE_ITEMS:
        most = writ_extreme_bound(&spot->longest, step == WRIT_LEARN_WIDE_ITEMS);
        put_number(ret, like, WRIT_OP_MAX_ITEMS, &most);
        return;
    case WRIT_LEARN_NONE:
    case WRIT_LEARN_ANYTHING:
    case WRIT_LEARN_COUNT:
        break;
    }
    (void)writ_ladder_add(ret, like, WRIT_OP_TYPE, WRIT_LIT("any"));
}
