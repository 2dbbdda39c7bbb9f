/* writ store status: the gateways of a ledger, and the database under it. Every finding is one that
 * an operator should act on. */
#include "cli/base/print.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "policy/read/load.h"
#include "store/read/status.h"
#include "store/sql/sql_uri.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#define ANSWER_MAX   ((size_t)4 << 20)
#define MAGIC        "SQLite format 3" /* a file of SQLite begins with it */
#define US_PER_S     1000000.0
#define BYTES_MIB    (1024.0 * 1024.0)
#define POLICY_SHOWN 15 /* bytes of a digest in a line for people */

/* What the operand names. */
struct source {
    struct writ_config *config; /* NULL: a path or a URI */
    const char *store;
};

struct finding {
    const char *code, *text;
};

static const struct finding findings[] = {
    {"policies_differ", "live gateways have different policies: reload or restart those with the "
                        "older one"},
    {"versions_differ", "live gateways have different versions: a rolling restart is not complete"},
    {"lease_passed", "a gateway did not extend its lease in time: it is down, paused or cut off"},
    {"standby", "the server is a standby: no gateway can write here"},
    {"not_flushed", "the server does not flush what it commits: set fsync = on"},
    {"not_durable", "the server may lose what it has committed: set synchronous_commit = on"},
    {"not_replicated", "the configuration demands a synchronous standby, and the server waits for "
                       "none: set synchronous_standby_names"},
    {"copy_incomplete", "the ledger is a copy that is not complete: run `writ ledger copy` again"},
};

#define FINDINGS (sizeof findings / sizeof findings[0])

/* ---- findings ---- */

static bool
differ(const struct writ_status *status, bool versions)
{
    const struct writ_status_gateway *first = NULL;

    for (size_t i = 0; i < status->gateways_n; i++) {
        const struct writ_status_gateway *gateway = &status->gateways[i];

        if (gateway->life != WRIT_STATUS_LIVE) {
            continue;
        }
        first = first == NULL ? gateway : first;
        if (versions ? !writ_view_equal(gateway->version, first->version)
                     : !writ_view_equal(gateway->policy, first->policy)) {
            return true;
        }
    }
    return false;
}

static bool
has_late(const struct writ_status *status)
{
    for (size_t i = 0; i < status->gateways_n; i++) {
        if (status->gateways[i].life == WRIT_STATUS_LATE) {
            return true;
        }
    }
    return false;
}

/* Whether each of `findings` holds, in their order. */
static bool
find(const struct writ_status *status, const struct source *source, bool ret[FINDINGS])
{
    const bool holds[FINDINGS] = {
        differ(status, false),
        differ(status, true),
        has_late(status),
        status->recovery,
        status->shared && !writ_view_is(status->fsync, "on"),
        status->shared && !writ_view_is(status->synchronous_commit, "on") &&
            !writ_view_is(status->synchronous_commit, "remote_apply"),
        status->shared && source->config != NULL && !source->config->ledger.alone &&
            status->standby_names.len == 0,
        status->copying,
    };
    bool any = false;

    for (size_t i = 0; i < FINDINGS; i++) {
        ret[i] = holds[i];
        any = any || holds[i];
    }
    return any;
}

/* ---- JSON ---- */

static const char *
life_word(const struct writ_status_gateway *gateway)
{
    switch (gateway->life) {
    case WRIT_STATUS_LIVE:
        return "live";
    case WRIT_STATUS_LATE:
        return "late";
    case WRIT_STATUS_ENDED:
        break;
    }
    return "ended";
}

static void
write_integer_or_null(struct writ_write *w, const char *name, bool has, int64_t value)
{
    if (has) {
        writ_write_integer(w, name, value);
    } else {
        writ_write_text_or_null(w, name, writ_view(NULL, 0));
    }
}

static void
write_checkpoint(struct writ_write *w, const struct writ_status *status)
{
    char root[WRIT_DIGEST_TEXT];

    if (!status->has_checkpoint) {
        writ_write_text_or_null(w, "checkpoint", writ_view(NULL, 0));
        return;
    }
    writ_digest_text(&status->root, root);
    writ_write_name(w, WRIT_LIT("checkpoint"));
    writ_write_object_begin(w);
    writ_write_text(w, "origin", status->origin);
    writ_write_count(w, "size", status->checkpoint_size);
    writ_write_text(w, "root", writ_view_str(root));
    writ_write_object_end(w);
}

static void
write_gateways(struct writ_write *w, const struct writ_status *status)
{
    writ_write_name(w, WRIT_LIT("gateways"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < status->gateways_n; i++) {
        const struct writ_status_gateway *gateway = &status->gateways[i];

        writ_write_object_begin(w);
        writ_write_text(w, "name", gateway->name);
        writ_write_count(w, "epoch", gateway->epoch);
        writ_write_text(w, "state", writ_view_str(life_word(gateway)));
        writ_write_time(w, "started", gateway->started_us);
        writ_write_time(w, "lease_until", gateway->lease_us);
        writ_write_integer(w, "lease_us", gateway->lease_us - status->now_us);
        writ_write_text(w, "version", gateway->version);
        writ_write_text(w, "policy", gateway->policy);
        writ_write_count(w, "turns", gateway->turns);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
write_standbys(struct writ_write *w, const struct writ_status *status)
{
    writ_write_name(w, WRIT_LIT("standbys"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < status->standbys_n; i++) {
        const struct writ_status_standby *standby = &status->standbys[i];

        writ_write_object_begin(w);
        writ_write_text_or_null(w, "name", standby->name);
        writ_write_text_or_null(w, "state", standby->state);
        writ_write_text_or_null(w, "sync_state", standby->sync_state);
        write_integer_or_null(w, "lag_bytes", standby->has_bytes, standby->lag_bytes);
        write_integer_or_null(w, "lag_us", standby->has_time, standby->lag_us);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
write_server(struct writ_write *w, const struct writ_status *status, const struct source *source)
{
    const char *demanded = source->config == NULL         ? NULL
                           : source->config->ledger.alone ? "none_needed"
                                                          : "synchronous";

    writ_write_name(w, WRIT_LIT("server"));
    writ_write_object_begin(w);
    writ_write_text(w, "version", status->server);
    writ_write_flag(w, "standby", status->recovery);
    writ_write_text_or_null(
        w, "demanded", demanded == NULL ? writ_view(NULL, 0) : writ_view_str(demanded));
    writ_write_text(w, "fsync", status->fsync);
    writ_write_text(w, "synchronous_commit", status->synchronous_commit);
    writ_write_text(w, "synchronous_standby_names", status->standby_names);
    write_standbys(w, status);
    writ_write_object_end(w);
}

static void
write_findings(struct writ_write *w, const bool holds[FINDINGS])
{
    writ_write_name(w, WRIT_LIT("findings"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < FINDINGS; i++) {
        if (holds[i]) {
            writ_write_object_begin(w);
            writ_write_text(w, "code", writ_view_str(findings[i].code));
            writ_write_text(w, "text", writ_view_str(findings[i].text));
            writ_write_object_end(w);
        }
    }
    writ_write_array_end(w);
}

static void
put_json(struct writ_buf *out, const struct writ_status *status, const struct source *source,
    struct writ_view place, const bool holds[FINDINGS])
{
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_write_text(&w, "store", place);
    writ_write_count(&w, "version", (uint64_t)status->version);
    writ_write_count(&w, "records", status->records);
    writ_write_count(&w, "bytes", status->bytes);
    writ_write_count(&w, "recent", status->recent);
    if (status->records > 0) {
        writ_write_time(&w, "last", status->last_us);
    } else {
        writ_write_text_or_null(&w, "last", writ_view(NULL, 0));
    }
    write_checkpoint(&w, status);
    if (status->shared) {
        write_gateways(&w, status);
        write_server(&w, status, source);
    } else {
        writ_write_flag(&w, "open", status->is_open);
    }
    write_findings(&w, holds);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(out, '\n');
}

/* ---- text ---- */

static void
put_log(struct writ_buf *out, const struct writ_status *status)
{
    char last[WRIT_TIME_TEXT], root[WRIT_DIGEST_TEXT];

    writ_buf_fmt(out, "records      %" PRIu64 ", %.1f MiB, %.1f per second in the last minute\n",
        status->records, (double)status->bytes / BYTES_MIB,
        (double)status->recent / ((double)WRIT_STATUS_RECENT_US / US_PER_S));
    if (!status->has_checkpoint) {
        writ_buf_str(out, "checkpoint   none\n");
        return;
    }
    writ_time_format(status->last_us, last);
    writ_digest_text(&status->root, root);
    writ_buf_str(out, "checkpoint   ");
    writ_print_plain(out, status->origin);
    writ_buf_fmt(out, " %" PRIu64 " %s\nlast record  %s\n", status->checkpoint_size, root, last);
}

/* A name that the role may see, or "-". */
static void
put_seen(struct writ_buf *out, struct writ_view name)
{
    writ_buf_str(out, "  ");
    writ_print_plain(out, name.len > 0 ? name : WRIT_LIT("-"));
}

static void
put_standby(struct writ_buf *out, const struct writ_status_standby *standby)
{
    writ_buf_str(out, "standby     ");
    put_seen(out, standby->name);
    put_seen(out, standby->state);
    put_seen(out, standby->sync_state);
    if (standby->has_bytes) {
        writ_buf_fmt(out, "  %" PRId64 " bytes behind", standby->lag_bytes);
    }
    if (standby->has_time) {
        writ_buf_fmt(out, ", %.3f s", (double)standby->lag_us / US_PER_S);
    }
    writ_buf_byte(out, '\n');
}

static void
put_server(struct writ_buf *out, const struct writ_status *status, const struct source *source)
{
    writ_buf_str(out, "server       PostgreSQL ");
    writ_print_plain(out, status->server);
    writ_buf_str(out, status->recovery ? ", a standby" : ", the primary");
    writ_buf_str(out, "\nreplication  demanded ");
    writ_buf_str(out, source->config == NULL         ? "(not known without CONFIG)"
                      : source->config->ledger.alone ? "none_needed"
                                                     : "synchronous");
    writ_buf_str(out, "; fsync ");
    writ_print_plain(out, status->fsync);
    writ_buf_str(out, ", synchronous_commit ");
    writ_print_plain(out, status->synchronous_commit);
    writ_buf_str(out, ", synchronous_standby_names ");
    writ_print_plain(out, status->standby_names.len > 0 ? status->standby_names : WRIT_LIT("-"));
    writ_buf_byte(out, '\n');
    for (size_t i = 0; i < status->standbys_n; i++) {
        put_standby(out, &status->standbys[i]);
    }
}

static void
put_gateway(struct writ_buf *out, const struct writ_status *status,
    const struct writ_status_gateway *gateway)
{
    double left_s = (double)(gateway->lease_us - status->now_us) / US_PER_S;
    char started[WRIT_TIME_TEXT];

    writ_time_format(gateway->started_us, started);
    writ_print_plain(out, gateway->name);
    writ_buf_fmt(out, "  %" PRIu64 "  %s  ", gateway->epoch, life_word(gateway));
    if (left_s >= 0) {
        writ_buf_fmt(out, "%.1f s left", left_s);
    } else {
        writ_buf_fmt(out, "%.1f s ago", -left_s);
    }
    put_seen(out, gateway->version);
    put_seen(out, writ_view_sub(gateway->policy, 0, POLICY_SHOWN));
    writ_buf_fmt(out, "  %s  %" PRIu64 "\n", started, gateway->turns);
}

static void
put_text(struct writ_buf *out, const struct writ_status *status, const struct source *source,
    struct writ_view place, const bool holds[FINDINGS])
{
    writ_buf_str(out, "store        ");
    writ_print_plain(out, place);
    writ_buf_fmt(out, ", version %d%s\n", status->version,
        status->shared    ? ""
        : status->is_open ? ", a program has it open"
                          : ", no program has it open");
    put_log(out, status);
    if (status->shared) {
        put_server(out, status, source);
        writ_buf_str(out, "GATEWAY  EPOCH  STATE  LEASE  VERSION  POLICY  STARTED  TURNS\n");
    }
    for (size_t i = 0; i < status->gateways_n; i++) {
        put_gateway(out, status, &status->gateways[i]);
    }
    for (size_t i = 0; i < FINDINGS; i++) {
        if (holds[i]) {
            writ_buf_fmt(out, "%s: %s\n", findings[i].code, findings[i].text);
        }
    }
}

/* ---- the command ---- */

/* A path that cannot be read is that of a configuration: reading it says why. */
static bool
is_database(const char *path)
{
    char head[sizeof MAGIC - 1];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, head, sizeof head);

    if (fd >= 0) {
        (void)close(fd);
    }
    return got == (ssize_t)sizeof head && writ_view_is(writ_view(head, sizeof head), MAGIC);
}

static WRIT_RESULT
read_source(const struct writ_cli *cli, struct source *ret, struct writ_err *err)
{
    struct writ_view operand = writ_cli_operand(cli, 0);

    ret->store = operand.ptr;
    if (writ_sql_is_uri(operand) || is_database(operand.ptr)) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_load_file(operand.ptr, NULL, &ret->config, err));
    ret->store = ret->config->store.ptr;
    return WRIT_DONE;
}

static WRIT_RESULT
show(const struct writ_cli *cli, const struct source *source, bool *ret_found, struct writ_err *err)
{
    WRIT_AUTO(struct writ_status, writ_status_wipe) status = {0};
    writ_auto_buf out = writ_buf_make(ANSWER_MAX), place = writ_buf_make(ANSWER_MAX);
    bool holds[FINDINGS];

    if (writ_sql_is_uri(writ_view_str(source->store))) {
        WRIT_TRY(writ_sql_uri_name(source->store, &place, err));
    } else {
        writ_buf_str(&place, source->store);
    }
    WRIT_TRY(writ_buf_check(&place, err));
    WRIT_TRY(writ_status_read(source->store, cli->clock, &status, err));
    *ret_found = find(&status, source, holds);
    if (cli->json) {
        put_json(&out, &status, source, writ_buf_view(&place), holds);
    } else {
        put_text(&out, &status, source, writ_buf_view(&place), holds);
    }
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    return WRIT_DONE;
}

enum writ_exit
writ_command_store_status(const struct writ_cli *cli)
{
    struct source source = {0};
    struct writ_err err = {0};
    bool found = false;
    writ_result result = read_source(cli, &source, &err);

    if (writ_is_ok(result)) {
        result = show(cli, &source, &found, &err);
    }
    writ_config_drop(source.config);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return found ? WRIT_EXIT_NEGATIVE : WRIT_EXIT_OK;
}
