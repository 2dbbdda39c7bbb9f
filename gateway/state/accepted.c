/* accepted.c - accepted definitions of tools, from the ledger and from the file.
 *
 * A definition of the file counts when it differs from the ledger's and was accepted later. The
 * command sets the times, never earlier than that of the previous definition. */
#include "gateway/state/accepted.h"

#include "base/clock.h"
#include "evidence/json/write.h"
#include "store/read/reader.h"

#define FACT_MAX 65536

static void
definitions_freep(struct writ_definitions **definitions)
{
    writ_definitions_free(*definitions);
}

static WRIT_RESULT
hear(void *ctx, const struct writ_fact *fact, struct writ_err *err)
{
    struct writ_definition accepted = {
        .name = writ_json_string(writ_json_get(fact->data, WRIT_LIT("tool"))),
        .at = writ_json_string(writ_json_get(fact->data, WRIT_LIT("accepted"))),
        .text = WRIT_LIT(""),
    };

    if (fact->event != WRIT_FACT_TOOL_ACCEPTED) {
        return WRIT_DONE;
    }
    if (accepted.name.ptr == NULL || accepted.at.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "fact %llu is not readable: see `writ ledger verify`",
            (unsigned long long)fact->n);
    }
    WRIT_TRY(writ_digest_read(
        writ_json_string(writ_json_get(fact->data, WRIT_LIT("digest"))), &accepted.digest, err));
    return writ_definitions_put(ctx, &accepted, err);
}

static WRIT_RESULT
record(struct writ_ledger *ledger, const struct writ_definition *accepted, struct writ_err *err)
{
    writ_auto_buf data = writ_buf_make(FACT_MAX);
    struct writ_write w = writ_write_to(&data);
    char digest[WRIT_DIGEST_TEXT];

    writ_digest_text(&accepted->digest, digest);
    writ_write_object_begin(&w);
    writ_write_text(&w, "accepted", accepted->at);
    writ_write_text(&w, "digest", writ_view(digest, WRIT_DIGEST_TEXT - 1));
    writ_write_text(&w, "tool", accepted->name);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    return writ_ledger_record(ledger, WRIT_FACT_TOOL_ACCEPTED, writ_buf_view(&data), err);
}

/* How much later `a` was accepted than `b`. */
static WRIT_RESULT
later_by(const struct writ_definition *a, const struct writ_definition *b, int64_t *ret,
    struct writ_err *err)
{
    int64_t a_us, b_us;

    if (!writ_is_ok(writ_time_read(a->at, &a_us)) || !writ_is_ok(writ_time_read(b->at, &b_us))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the time of an accepted definition is not a time");
    }
    *ret = a_us - b_us;
    return WRIT_DONE;
}

static WRIT_RESULT
take_one(const struct writ_definition *from, struct writ_ledger *ledger,
    struct writ_definitions *accepted, struct writ_err *err)
{
    const struct writ_definition *known = writ_definitions_find(accepted, from->name);
    struct writ_definition taken = *from;
    int64_t later_us = 1;
    bool same;

    WRIT_TRY(later_by(from, known != NULL ? known : from, &later_us, err));
    same = known != NULL && writ_digest_equal(&known->digest, &from->digest);
    if (known != NULL && !same && later_us <= 0) {
        return WRIT_DONE; /* an older file */
    }
    if (same && later_us < 0) {
        taken.at = known->at;
    }
    if (!same && ledger != NULL) {
        WRIT_TRY(record(ledger, from, err));
    }
    return writ_definitions_put(accepted, &taken, err);
}

static WRIT_RESULT
take_file(const char *files, const struct writ_keyring *keys, struct writ_ledger *ledger,
    struct writ_definitions *accepted, struct writ_err *err)
{
    WRIT_AUTO(struct writ_definitions *, definitions_freep) file = NULL;
    writ_result r = writ_definitions_load(files, WRIT_DEFINITIONS_ACCEPTED, keys, &file, err);

    if (r.code == WRIT_E_ABSENT) {
        return WRIT_DONE;
    }
    for (size_t i = 0; writ_is_ok(r) && i < file->n; i++) {
        r = take_one(&file->items[i], ledger, accepted, err);
    }
    return r;
}

WRIT_RESULT
writ_accepted_load(const struct writ_config *config, const struct writ_keyring *keys,
    struct writ_ledger *ledger, struct writ_definitions **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_definitions *, definitions_freep) made = NULL;
    writ_auto_reader reader = NULL;

    WRIT_TRY(writ_definitions_new(&made, err));
    WRIT_TRY(writ_reader_open(config->store.ptr, &reader, err));
    WRIT_TRY(writ_reader_facts(reader, hear, made, err));
    WRIT_TRY(take_file(config->files.ptr, keys, ledger, made, err));
    *ret = WRIT_TAKE(made);
    return WRIT_DONE;
}
