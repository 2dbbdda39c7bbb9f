/* why_label.c - see why_label.h. A decision brings the labels that each result of its tool has;
 * what its result says comes with the outcome. */
#include "policy/why/why_label.h"

#include "evidence/flow/run.h"

static const struct {
    struct writ_view word, sentence;
} ways[] = {
#define ROW(NAME, word, sentence) [WRIT_WHY_LABEL_##NAME] = {WRIT_LIT(word), WRIT_LIT(sentence)},
    WRIT_WHY_LABELS(ROW)
#undef ROW
};

static struct writ_view
text_of(const struct writ_json *object, struct writ_view name)
{
    return writ_json_string(writ_json_get(object, name));
}

static bool
lists(const struct writ_json *labels, struct writ_view label)
{
    WRIT_JSON_EACH(one, labels)
    {
        if (writ_json_is(one, label)) {
            return true;
        }
    }
    return false;
}

/* What the result of a call, or a resource, brought. */
static void
read_result(const struct writ_json *flow, struct writ_why_label *label)
{
    WRIT_JSON_EACH(found, writ_json_get(flow, WRIT_LIT("detected")))
    {
        if (writ_view_equal(text_of(found, WRIT_LIT("label")), label->label)) {
            label->by = WRIT_WHY_LABEL_DETECTED;
            label->detector = text_of(found, WRIT_LIT("detector"));
            label->at = text_of(found, WRIT_LIT("at"));
            return;
        }
    }
    label->by = lists(writ_json_get(flow, WRIT_LIT("labels")), label->label)
                    ? WRIT_WHY_LABEL_SERVER
                    : WRIT_WHY_LABEL_UNRECORDED;
}

void
writ_why_label_read(const struct writ_json *record, bool is_outcome, struct writ_why_label *label)
{
    const struct writ_json *ours = writ_json_pointer(record, WRIT_LIT("/extensions/writ"));
    const struct writ_json *flow = writ_json_get(ours, WRIT_LIT("flow"));
    struct writ_view reason = text_of(ours, WRIT_LIT("reason"));

    label->decision_id = text_of(record, WRIT_LIT("decision_id"));
    if (is_outcome) {
        read_result(flow, label);
    } else if (writ_run_is_repeat(reason)) {
        label->by = WRIT_WHY_LABEL_KEPT;
    } else if (writ_run_is_read(reason)) {
        label->resource = text_of(flow, WRIT_LIT("resource"));
        read_result(flow, label);
        label->by = label->by == WRIT_WHY_LABEL_SERVER ? WRIT_WHY_LABEL_POLICY : label->by;
    } else {
        label->by = lists(writ_json_get(flow, WRIT_LIT("labels")), label->label)
                        ? WRIT_WHY_LABEL_POLICY
                        : WRIT_WHY_LABEL_UNRECORDED;
    }
}

enum writ_why_label_by
writ_why_label_find(struct writ_view word)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (writ_view_equal(ways[i].word, word)) {
            return (enum writ_why_label_by)i;
        }
    }
    return WRIT_WHY_LABEL_UNKNOWN;
}

void
writ_why_label_put(const struct writ_why_label *label, struct writ_write *w)
{
    writ_write_object_begin(w);
    writ_write_text(w, "label", label->label);
    writ_write_text(w, "by", ways[label->by].word);
    writ_write_text(w, "note", ways[label->by].sentence);
    writ_write_text_or_null(w, "decision_id", label->decision_id);
    writ_write_text_or_null(w, "tool", label->tool);
    writ_write_text_or_null(w, "resource", label->resource);
    writ_write_text_or_null(w, "detector", label->detector);
    writ_write_text_or_null(w, "at", label->at);
    writ_write_object_end(w);
}

void
writ_why_label_text(const struct writ_why_label *label, struct writ_buf *ret)
{
    writ_buf_put(ret, label->label);
    writ_buf_str(ret, ": ");
    writ_buf_put(ret, ways[label->by].sentence);
    writ_buf_str(ret, label->tool.len > 0 ? ", from " : "");
    writ_buf_put(ret, label->tool);
    writ_buf_str(ret, label->resource.len > 0 ? " of " : "");
    writ_buf_put(ret, label->resource);
    writ_buf_str(ret, label->decision_id.len > 0 ? ", decision " : "");
    writ_buf_put(ret, label->decision_id);
    writ_buf_str(ret, label->detector.len > 0 ? ": " : "");
    writ_buf_put(ret, label->detector);
    writ_buf_str(ret, label->at.len > 0 ? ", at " : "");
    writ_buf_put(ret, label->at);
}
