/* source_labels.c - the state of the run is made again, record by record, by the code of the
 * gateway (evidence/flow/run.h): a label came with the record after which the state has it. */
#include "gateway/admin/source_labels.h"

#include "evidence/flow/run.h"
#include "store/tables/body.h"

#define EXPORT_ARENA ((size_t)16 << 20) /* ids of its decisions */

struct finding {
    const struct writ_source_labels *of;
    struct writ_run *run;
    struct writ_why_label *labels;
    size_t n, records, left;
    struct writ_arena *arena;
};

static bool
has(const struct writ_run *run, const struct writ_why_label *label)
{
    return writ_run_is_blind(run) || writ_run_has(run, label->label);
}

/* Its views last as long as the arena. */
static void
note(struct finding *f, bool is_outcome, struct writ_view record)
{
    const struct writ_json *value = NULL;
    struct writ_view copy = {NULL, 0};

    for (size_t i = 0; i < f->n; i++) {
        struct writ_why_label *label = &f->labels[i];

        if (label->by != WRIT_WHY_LABEL_UNKNOWN || !has(f->run, label)) {
            continue;
        }
        if (copy.ptr == NULL) {
            copy = writ_view_copy(record, f->arena);
            WRIT_IGNORE(writ_body_json(copy, f->arena, &value, NULL));
        }
        writ_why_label_read(value, is_outcome, label);
        f->left--;
    }
}

static bool
take(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    struct finding *f = ctx;
    bool is_outcome = kind == WRIT_DETACHED_RECORD_OUTCOME;
    writ_result result = WRIT_DONE;

    if (leaf >= f->of->leaf || f->records++ == WRIT_SOURCE_LABELS_RECORDS) {
        return false;
    }
    if (is_outcome) { /* under no key: its marks are not needed */
        result = writ_run_add_outcome(f->run, writ_view("", 0), record, NULL);
    } else if (kind == WRIT_DETACHED_RECORD_DECISION) {
        result = writ_run_add_decision(f->run, writ_view("", 0), record, NULL);
    }
    if (writ_is_ok(result)) {
        note(f, is_outcome, record);
    }
    return writ_is_ok(result) && f->left > 0;
}

void
writ_source_labels_find(const struct writ_source_labels *of, struct writ_why_label *labels,
    size_t n, struct writ_arena *arena)
{
    writ_auto_arena room = writ_arena_new(EXPORT_ARENA);
    struct finding f = {.of = of, .labels = labels, .n = n, .left = n, .arena = arena};
    struct writ_completeness whole;

    if (room == NULL || !writ_is_ok(writ_run_new(&f.run, NULL))) {
        return;
    }
    WRIT_IGNORE(
        writ_reader_export(of->reader, of->tenant, of->boundary_id, take, &f, room, &whole, NULL));
    writ_run_free(f.run);
}
