/* runs.c - see runs.h.
 *
 * (1) The lock of the table is never taken under the lock of a state.
 * (2) A state that is held is not forgotten. */
#include "gateway/state/runs.h"

#include "store/tables/boundaries.h"
#include "store/tables/map.h"

#define READ_MAX  ((size_t)64 << 20) /* bytes of records that are added at once */
#define TAKEN_MAX 4096               /* of them; more are read as a whole */

struct writ_runs_node {
    struct writ_map_node by_name;
    struct writ_runs_node *older, *newer; /* by their last use */
    struct writ_run_state state;
    size_t holders;
    size_t bytes;                  /* as counted in the table */
    struct writ_view tenant, name; /* in `text` */
    char text[];
};

struct writ_runs {
    pthread_mutex_t lock;
    struct writ_map map;
    struct writ_runs_node *oldest, *newest;
    size_t bytes;
};

WRIT_RESULT
writ_runs_new(struct writ_runs **ret, struct writ_err *err)
{
    struct writ_runs *runs = writ_alloc(sizeof *runs);
    writ_result r;

    if (runs == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the states of runs");
    }
    *runs = (struct writ_runs){.bytes = 0};
    r = writ_map_init(&runs->map, WRIT_RUNS_MAX, err);
    if (writ_is_ok(r) && pthread_mutex_init(&runs->lock, NULL) != 0) {
        r = writ_fail(err, WRIT_E_NOMEM, "no memory for the states of runs");
    }
    if (!writ_is_ok(r)) {
        writ_map_wipe(&runs->map);
        writ_free(runs);
        return r;
    }
    *ret = runs;
    return WRIT_DONE;
}

static void
unlink_node(struct writ_runs *runs, struct writ_runs_node *node)
{
    *(node->older != NULL ? &node->older->newer : &runs->oldest) = node->newer;
    *(node->newer != NULL ? &node->newer->older : &runs->newest) = node->older;
    node->older = node->newer = NULL;
}

static void
link_newest(struct writ_runs *runs, struct writ_runs_node *node)
{
    node->older = runs->newest;
    node->newer = NULL;
    *(runs->newest != NULL ? &runs->newest->newer : &runs->oldest) = node;
    runs->newest = node;
}

static void
free_node(struct writ_runs *runs, struct writ_runs_node *node)
{
    unlink_node(runs, node);
    writ_map_remove(&runs->map, &node->by_name);
    runs->bytes -= node->bytes;
    writ_run_free(node->state.run);
    (void)pthread_mutex_destroy(&node->state.lock);
    writ_free(node);
}

void
writ_runs_free(struct writ_runs *runs)
{
    if (runs == NULL) {
        return;
    }
    while (runs->oldest != NULL) {
        free_node(runs, runs->oldest);
    }
    writ_map_wipe(&runs->map);
    (void)pthread_mutex_destroy(&runs->lock);
    writ_free(runs);
}

/* Forgets states that were used longest ago until there is room for another one: keeps (2). */
static bool
make_room(struct writ_runs *runs)
{
    struct writ_runs_node *node = runs->oldest;

    while (
        node != NULL && (runs->map.count >= WRIT_RUNS_MAX || runs->bytes > WRIT_RUNS_BYTES_MAX)) {
        struct writ_runs_node *newer = node->newer;
        if (node->holders == 0) {
            free_node(runs, node);
        }
        node = newer;
    }
    return runs->map.count < WRIT_RUNS_MAX;
}

static WRIT_RESULT
add_node(struct writ_runs *runs, struct writ_tag tag, struct writ_view tenant,
    struct writ_view name, struct writ_runs_node **ret, struct writ_err *err)
{
    struct writ_runs_node *node;

    if (!make_room(runs)) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%d runs are judged at once", WRIT_RUNS_MAX);
    }
    node = writ_alloc(sizeof *node + tenant.len + name.len);
    if (node == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the state of a run");
    }
    *node = (struct writ_runs_node){.bytes = sizeof *node};
    node->tenant = writ_view_place(tenant, node->text);
    node->name = writ_view_place(name, node->text + tenant.len);
    node->state.node = node;
    if (pthread_mutex_init(&node->state.lock, NULL) != 0) {
        writ_free(node);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the state of a run");
    }
    writ_map_add(&runs->map, &node->by_name, tag);
    link_newest(runs, node);
    runs->bytes += node->bytes;
    *ret = node;
    return WRIT_DONE;
}

static struct writ_runs_node *
find(struct writ_runs *runs, struct writ_tag tag, struct writ_view tenant, struct writ_view name)
{
    struct writ_map_node *at = writ_map_find(&runs->map, tag);

    while (at != NULL) {
        struct writ_runs_node *node = WRIT_MAP_OF(at, struct writ_runs_node, by_name);
        if (writ_view_equal(node->tenant, tenant) && writ_view_equal(node->name, name)) {
            return node;
        }
        at = writ_map_hidden(at);
    }
    return NULL;
}

WRIT_RESULT
writ_runs_hold(struct writ_runs *runs, struct writ_view tenant, struct writ_view name,
    struct writ_run_state **ret, struct writ_err *err)
{
    struct writ_tag tag;
    struct writ_runs_node *node;
    writ_result r = WRIT_DONE;

    WRIT_TRY(writ_boundaries_tag(tenant, name, &tag, err));
    (void)pthread_mutex_lock(&runs->lock);
    node = find(runs, tag, tenant, name);
    if (node == NULL) {
        r = add_node(runs, tag, tenant, name, &node, err);
    } else {
        unlink_node(runs, node);
        link_newest(runs, node);
    }
    if (writ_is_ok(r)) {
        node->holders++;
        *ret = &node->state;
    }
    (void)pthread_mutex_unlock(&runs->lock);
    return r;
}

void
writ_runs_drop(struct writ_runs *runs, struct writ_run_state *state)
{
    struct writ_runs_node *node = state->node;
    size_t bytes;

    (void)pthread_mutex_lock(&state->lock); /* keeps (1) */
    bytes = sizeof *node + (state->run != NULL ? writ_run_size(state->run) : 0);
    (void)pthread_mutex_unlock(&state->lock);
    (void)pthread_mutex_lock(&runs->lock);
    runs->bytes = runs->bytes - node->bytes + bytes;
    node->bytes = bytes;
    node->holders--;
    (void)pthread_mutex_unlock(&runs->lock);
}

void
writ_runs_forget(struct writ_runs *runs, struct writ_view tenant, struct writ_view name)
{
    struct writ_runs_node *node = NULL;
    struct writ_tag tag;

    (void)pthread_mutex_lock(&runs->lock);
    if (runs->map.count > 0 && writ_is_ok(writ_boundaries_tag(tenant, name, &tag, NULL))) {
        node = find(runs, tag, tenant, name);
    }
    if (node != NULL) {
        node->holders++;
    }
    (void)pthread_mutex_unlock(&runs->lock);
    if (node == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&node->state.lock);
    writ_run_free(WRIT_TAKE(node->state.run));
    node->state.records++;
    (void)pthread_mutex_unlock(&node->state.lock);
    writ_runs_drop(runs, &node->state);
}

/* ---- from the ledger ---- */

struct reading {
    struct writ_run *run;
    const struct writ_mark_key *key;
    writ_result result;
};

static WRIT_RESULT
add_record(struct writ_run *run, const struct writ_mark_key *key,
    enum writ_detached_record_kind kind, struct writ_view record)
{
    switch (kind) {
    case WRIT_DETACHED_RECORD_DECISION:
        return writ_run_add_decision(run, writ_mark_key_id(key), record, NULL);
    case WRIT_DETACHED_RECORD_OUTCOME:
        return writ_run_add_outcome(run, writ_mark_key_id(key), record, NULL);
    case WRIT_DETACHED_RECORD_NONE:
    case WRIT_DETACHED_RECORD_SEAL:
    case WRIT_DETACHED_RECORD_REVIEW:
        break;
    }
    return WRIT_DONE;
}

static bool
read_one(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    struct reading *reading = ctx;

    (void)leaf;
    reading->result = add_record(reading->run, reading->key, kind, record);
    return writ_is_ok(reading->result);
}

/* Makes the state of a run from all of its records. */
static WRIT_RESULT
read_whole(struct writ_reader *reader, struct writ_view tenant, struct writ_view name,
    const struct writ_mark_key *key, struct writ_run **ret, uint64_t *ret_until,
    struct writ_err *err)
{
    struct reading reading = {.key = key, .result = WRIT_DONE};
    writ_result r;

    WRIT_TRY(writ_run_new(&reading.run, err));
    r = writ_reader_since(reader, tenant, name, 0, read_one, &reading, ret_until, err);
    r = writ_is_ok(r) ? reading.result : r;
    if (!writ_is_ok(r)) {
        writ_run_free(reading.run);
        return r;
    }
    *ret = reading.run;
    return WRIT_DONE;
}

WRIT_RESULT
writ_runs_read(struct writ_reader *reader, struct writ_view tenant, struct writ_view name,
    const struct writ_mark_key *key, struct writ_run **ret, struct writ_err *err)
{
    uint64_t until = 0;

    return read_whole(reader, tenant, name, key, ret, &until, err);
}

/* ---- a ledger that several gateways write */

/* Records that were read, one after the other in `bytes`. */
struct taking {
    struct writ_buf bytes;
    struct taken {
        uint64_t leaf;
        enum writ_detached_record_kind kind;
        size_t len;
    } * records;
    size_t n;
    bool full; /* there are more, or more bytes, than are taken at once */
};

static bool
take_one(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    struct taking *taking = ctx;

    taking->full = taking->n == TAKEN_MAX || record.len > READ_MAX - taking->bytes.len;
    if (taking->full) {
        return false;
    }
    writ_buf_put(&taking->bytes, record);
    taking->records[taking->n++] = (struct taken){leaf, kind, record.len};
    return writ_is_ok(writ_buf_check(&taking->bytes, NULL));
}

/* Under the lock of the state: what it was made for is another key. */
static bool
is_for(const struct writ_run_state *state, const struct writ_mark_key *key)
{
    return state->run != NULL && writ_view_is(writ_mark_key_id(key), state->key);
}

/* Under the lock: puts a state in the place of one that is not further. */
static void
put(struct writ_run_state *state, const struct writ_mark_key *key, struct writ_run **run,
    uint64_t until)
{
    struct writ_view id = writ_mark_key_id(key);

    if (!is_for(state, key) || state->until < until) {
        writ_run_free(state->run);
        state->run = WRIT_TAKE(*run);
        state->until = until;
        (void)writ_view_place(id, state->key);
        state->key[id.len] = '\0';
    }
}

/* Under the lock: adds the records that the state has not. Another thread may have added some, and
 * one that began again may have less than was asked about. */
static WRIT_RESULT
add_taken(struct writ_run_state *state, const struct writ_mark_key *key,
    const struct taking *taking, uint64_t from, uint64_t until)
{
    size_t at = 0;

    if (!is_for(state, key) || state->until < from) {
        return (writ_result){WRIT_E_MISMATCH};
    }
    for (size_t i = 0; i < taking->n; at += taking->records[i++].len) {
        const struct taken *taken = &taking->records[i];
        writ_result r = WRIT_DONE;

        if (taken->leaf >= state->until) {
            r = add_record(state->run, key, taken->kind,
                writ_view_sub(writ_buf_view(&taking->bytes), at, taken->len));
        }
        if (!writ_is_ok(r)) {
            writ_run_free(WRIT_TAKE(state->run));
            return r;
        }
    }
    state->until = until > state->until ? until : state->until;
    return WRIT_DONE;
}

static WRIT_RESULT
follow_whole(struct writ_reader *reader, struct writ_run_state *state, struct writ_view tenant,
    struct writ_view name, const struct writ_mark_key *key, struct writ_err *err)
{
    struct writ_run *run = NULL;
    uint64_t until = 0;

    WRIT_TRY(read_whole(reader, tenant, name, key, &run, &until, err));
    (void)pthread_mutex_lock(&state->lock);
    put(state, key, &run, until);
    (void)pthread_mutex_unlock(&state->lock);
    writ_run_free(run);
    return WRIT_DONE;
}

/* *ret_whole: the run must be read as a whole. */
static WRIT_RESULT
follow_more(struct writ_reader *reader, struct writ_run_state *state, struct writ_view tenant,
    struct writ_view name, const struct writ_mark_key *key, uint64_t from, bool *ret_whole,
    struct writ_err *err)
{
    writ_auto_buf bytes = writ_buf_make(READ_MAX);
    struct taking taking = {.records = writ_alloc(TAKEN_MAX * sizeof *taking.records)};
    uint64_t until = 0;
    writ_result r = {WRIT_E_NOMEM};

    taking.bytes = bytes;
    if (taking.records != NULL) {
        r = writ_reader_since(reader, tenant, name, from, take_one, &taking, &until, err);
    }
    bytes = taking.bytes;
    *ret_whole = taking.full;
    if (writ_is_ok(r) && !taking.full) {
        r = writ_buf_check(&taking.bytes, err);
    }
    if (writ_is_ok(r) && !taking.full) {
        (void)pthread_mutex_lock(&state->lock);
        r = add_taken(state, key, &taking, from, until);
        (void)pthread_mutex_unlock(&state->lock);
    }
    writ_free(taking.records);
    return r;
}

WRIT_RESULT
writ_runs_follow(struct writ_reader *reader, struct writ_run_state *state, struct writ_view tenant,
    struct writ_view name, const struct writ_mark_key *key, struct writ_err *err)
{
    bool whole;
    uint64_t from;

    (void)pthread_mutex_lock(&state->lock);
    whole = !is_for(state, key);
    from = state->until;
    (void)pthread_mutex_unlock(&state->lock);
    if (!whole) {
        WRIT_TRY(follow_more(reader, state, tenant, name, key, from, &whole, err));
    }
    return whole ? follow_whole(reader, state, tenant, name, key, err) : WRIT_DONE;
}
