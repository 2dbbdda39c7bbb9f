/* figures.c - rings of slots, each an open-addressed table of cells. A name lives as long as a cell
 * has it, so that names that no longer occur take no memory. */
#include "gateway/state/figures.h"

#include "base/alloc.h"
#include "base/id.h"

#define US_PER_S     INT64_C(1000000)
#define NAME_CHAINS  4096
#define FIRST_CELLS  16
#define HARD_CELLS   (2 * WRIT_FIGURES_CELLS) /* with those that have only a tenant */
#define NAMES_N      5
#define SLOTS_MAX    96
#define BUCKET_STEPS 4

struct name {
    struct name *next;
    size_t cells; /* that have it */
    uint64_t hash;
    size_t len;
    char text[];
};

struct cell {
    struct name *names[NAMES_N]; /* in the order of writ_figures_point; NULL: none */
    uint16_t kind, value;
    uint64_t count; /* 0: a free place */
};

struct slot {
    int64_t number; /* time divided by the length of a slot */
    struct cell *cells;
    size_t n, cap; /* cap: 0 or a power of two, at least 2 * n */
};

struct writ_figures {
    struct slot slots[WRIT_FIGURES_SPANS_N][SLOTS_MAX];
    struct name *names[NAME_CHAINS];
    uint64_t salt, lost;
};

static const struct {
    struct writ_view name;
    size_t slots;
    int64_t slot_us;
} spans[] = {
#define SPAN(NAME, text, slots, seconds) {WRIT_LIT(text), slots, (seconds)*US_PER_S},
    WRIT_FIGURES_SPANS(SPAN)
#undef SPAN
};

/* ---- spans and durations ---- */

bool
writ_figures_span_find(struct writ_view name, enum writ_figures_span *ret)
{
    for (size_t i = 0; i < WRIT_FIGURES_SPANS_N; i++) {
        if (writ_view_equal(spans[i].name, name)) {
            *ret = (enum writ_figures_span)i;
            return true;
        }
    }
    return false;
}

struct writ_view
writ_figures_span_name(enum writ_figures_span span)
{
    return spans[span].name;
}

size_t
writ_figures_slots(enum writ_figures_span span)
{
    return spans[span].slots;
}

int64_t
writ_figures_slot_us(enum writ_figures_span span)
{
    return spans[span].slot_us;
}

static int64_t
first_number(enum writ_figures_span span, int64_t now_us)
{
    return now_us / spans[span].slot_us - (int64_t)spans[span].slots + 1;
}

int64_t
writ_figures_since_us(enum writ_figures_span span, int64_t now_us)
{
    return first_number(span, now_us) * spans[span].slot_us;
}

unsigned
writ_figures_bucket(int64_t us)
{
    uint64_t value = us > BUCKET_STEPS ? (uint64_t)us : BUCKET_STEPS;
    unsigned power = 63 - (unsigned)__builtin_clzll(value);
    unsigned bucket = (power - 2) * BUCKET_STEPS + (unsigned)(value >> (power - 2)) % BUCKET_STEPS;

    return bucket < WRIT_FIGURES_BUCKETS ? bucket : WRIT_FIGURES_BUCKETS - 1;
}

int64_t
writ_figures_bucket_us(unsigned bucket)
{
    return ((INT64_C(1) + BUCKET_STEPS + bucket % BUCKET_STEPS) << (bucket / BUCKET_STEPS)) - 1;
}

/* ---- names ---- */

static uint64_t
mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static uint64_t
hash_of(const struct writ_figures *figures, struct writ_view text)
{
    uint64_t hash = figures->salt;

    for (size_t i = 0; i < text.len; i++) {
        hash = mixed(hash, (unsigned char)text.ptr[i]);
    }
    return hash;
}

/* NULL for an empty text; false: no memory. A new name has no cell yet. */
static bool
take_name(struct writ_figures *figures, struct writ_view text, struct name **ret)
{
    struct writ_view kept = writ_view_sub(text, 0, WRIT_FIGURES_NAME_MAX);
    uint64_t hash = hash_of(figures, kept);
    struct name **chain = &figures->names[hash % NAME_CHAINS], *name = *chain;

    *ret = NULL;
    if (kept.len == 0) {
        return true;
    }
    while (name != NULL && !writ_view_equal(writ_view(name->text, name->len), kept)) {
        name = name->next;
    }
    if (name == NULL) {
        name = writ_alloc(sizeof *name + kept.len);
        if (name == NULL) {
            return false;
        }
        name->hash = hash;
        name->len = kept.len;
        (void)writ_view_place(kept, name->text);
        name->next = *chain;
        *chain = name;
    }
    *ret = name;
    return true;
}

static void
drop_name(struct writ_figures *figures, struct name *name)
{
    struct name **at = &figures->names[name->hash % NAME_CHAINS];

    while (*at != name) {
        at = &(*at)->next;
    }
    *at = name->next;
    writ_free(name);
}

/* Frees those that no cell has; one name can be there twice. */
static void
drop_unused(struct writ_figures *figures, struct name *names[NAMES_N])
{
    for (size_t i = 0; i < NAMES_N; i++) {
        struct name *name = names[i];

        if (name != NULL && name->cells == 0) {
            for (size_t n = i; n < NAMES_N; n++) {
                names[n] = names[n] == name ? NULL : names[n];
            }
            drop_name(figures, name);
        }
    }
}

/* ---- cells ---- */

static bool
is_same(const struct cell *a, const struct cell *b)
{
    bool same = a->kind == b->kind && a->value == b->value;

    for (size_t i = 0; same && i < NAMES_N; i++) {
        same = a->names[i] == b->names[i];
    }
    return same;
}

/* The cell, or the free place for it. */
static struct cell *
place_of(const struct slot *slot, const struct cell *cell)
{
    uint64_t hash = mixed(cell->kind, cell->value);

    for (size_t i = 0; i < NAMES_N; i++) {
        hash = mixed(hash, cell->names[i] != NULL ? cell->names[i]->hash : 0);
    }
    for (size_t i = (size_t)hash;; i++) {
        struct cell *at = &slot->cells[i & (slot->cap - 1)];

        if (at->count == 0 || is_same(at, cell)) {
            return at;
        }
    }
}

static bool
grow(struct slot *slot)
{
    struct slot wider = {
        .number = slot->number, .n = slot->n, .cap = slot->cap == 0 ? FIRST_CELLS : 2 * slot->cap};

    if (2 * (slot->n + 1) <= slot->cap) {
        return true;
    }
    wider.cells = writ_alloc(wider.cap * sizeof *wider.cells);
    if (wider.cells == NULL) {
        return false;
    }
    for (size_t i = 0; i < slot->cap; i++) {
        if (slot->cells[i].count > 0) {
            *place_of(&wider, &slot->cells[i]) = slot->cells[i];
        }
    }
    writ_free(slot->cells);
    *slot = wider;
    return true;
}

static bool
count_in(struct slot *slot, struct cell cell)
{
    struct cell *place;

    if (!grow(slot)) {
        return false;
    }
    place = place_of(slot, &cell);
    if (place->count == 0 && slot->n >= WRIT_FIGURES_CELLS) {
        for (size_t i = 1; i < NAMES_N; i++) { /* the tenant stays */
            cell.names[i] = NULL;
        }
        place = place_of(slot, &cell);
    }
    if (place->count == 0 && slot->n >= HARD_CELLS) {
        return false;
    }
    if (place->count == 0) {
        *place = cell;
        slot->n++;
        for (size_t i = 0; i < NAMES_N; i++) {
            if (cell.names[i] != NULL) {
                cell.names[i]->cells++;
            }
        }
    }
    place->count++;
    return true;
}

static void
clear(struct writ_figures *figures, struct slot *slot)
{
    for (size_t i = 0; i < slot->cap; i++) {
        for (size_t n = 0; slot->cells[i].count > 0 && n < NAMES_N; n++) {
            struct name *name = slot->cells[i].names[n];

            if (name != NULL && --name->cells == 0) {
                drop_name(figures, name);
            }
        }
    }
    writ_free(slot->cells);
    *slot = (struct slot){.number = 0};
}

/* ---- the whole ---- */

WRIT_RESULT
writ_figures_new(struct writ_figures **ret, struct writ_err *err)
{
    struct writ_figures *figures = writ_alloc(sizeof *figures);
    writ_result result;

    if (figures == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the figures of the page");
    }
    result = writ_random(&figures->salt, sizeof figures->salt, err);
    if (!writ_is_ok(result)) {
        writ_free(figures);
        return result;
    }
    *ret = figures;
    return WRIT_DONE;
}

void
writ_figures_free(struct writ_figures *figures)
{
    if (figures == NULL) {
        return;
    }
    for (size_t span = 0; span < WRIT_FIGURES_SPANS_N; span++) {
        for (size_t i = 0; i < SLOTS_MAX; i++) {
            clear(figures, &figures->slots[span][i]);
        }
    }
    writ_free(figures);
}

static bool
add_to(struct writ_figures *figures, enum writ_figures_span span, const struct cell *cell,
    int64_t at_us, int64_t now_us)
{
    int64_t number = at_us / spans[span].slot_us, first = first_number(span, now_us);
    struct slot *slot = &figures->slots[span][(size_t)number % spans[span].slots];

    if (number < first || number >= first + (int64_t)spans[span].slots) {
        return true;
    }
    if (slot->number != number) {
        clear(figures, slot);
        slot->number = number;
    }
    return count_in(slot, *cell);
}

void
writ_figures_add(struct writ_figures *figures, const struct writ_figures_point *point,
    int64_t at_us, int64_t now_us)
{
    const struct writ_view texts[NAMES_N] = {
        point->tenant, point->agent, point->upstream, point->tool, point->reason};
    struct cell cell = {.kind = (uint16_t)point->kind, .value = (uint16_t)point->value};
    bool counted = true;

    for (size_t i = 0; i < NAMES_N; i++) {
        counted = take_name(figures, texts[i], &cell.names[i]) && counted;
    }
    for (size_t i = 0; counted && i < WRIT_FIGURES_SPANS_N; i++) {
        counted = add_to(figures, (enum writ_figures_span)i, &cell, at_us, now_us);
    }
    drop_unused(figures, cell.names);
    figures->lost += counted ? 0 : 1;
}

static struct writ_view
text_of(const struct name *name)
{
    return name == NULL ? WRIT_LIT("") : writ_view(name->text, name->len);
}

static struct writ_figures_point
point_of(const struct cell *cell)
{
    return (struct writ_figures_point){
        .kind = (enum writ_figures_kind)cell->kind,
        .value = cell->value,
        .tenant = text_of(cell->names[0]),
        .agent = text_of(cell->names[1]),
        .upstream = text_of(cell->names[2]),
        .tool = text_of(cell->names[3]),
        .reason = text_of(cell->names[4]),
    };
}

void
writ_figures_each(const struct writ_figures *figures, enum writ_figures_span span, int64_t now_us,
    void (*each)(void *ctx, const struct writ_figures_cell *cell), void *ctx)
{
    int64_t first = first_number(span, now_us);

    for (size_t i = 0; i < spans[span].slots; i++) {
        int64_t number = first + (int64_t)i;
        const struct slot *slot = &figures->slots[span][(size_t)number % spans[span].slots];

        for (size_t c = 0; slot->number == number && c < slot->cap; c++) {
            struct writ_figures_cell cell = {.slot = i, .count = slot->cells[c].count};

            if (cell.count > 0) {
                cell.point = point_of(&slot->cells[c]);
                each(ctx, &cell);
            }
        }
    }
}

uint64_t
writ_figures_lost(const struct writ_figures *figures)
{
    return figures->lost;
}
