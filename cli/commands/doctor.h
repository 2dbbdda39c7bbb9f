/* doctor.h - one run of writ doctor, for its files alone. The areas of doctor.tbl.h are looked at
 * one after the other; each adds what it finds. Nothing is changed, and no secret gets into a
 * finding. */
#ifndef WRIT_CLI_DOCTOR_H
#define WRIT_CLI_DOCTOR_H

#include "cli/base/cli.h"
#include "cli/commands/doctor.tbl.h"
#include "evidence/jose/keyring.h"
#include "policy/model/config.h"
#include "policy/read/yaml.h"

#define WRIT_DOCTOR_US_PER_DAY INT64_C(86400000000)
#define WRIT_DOCTOR_ANSWER_MAX ((size_t)4 << 20) /* bytes of one answer of a gateway */

enum writ_doctor_check {
#define WRIT_DOCTOR_ENUM(NAME, name, area, severity, meaning, fix) WRIT_DOCTOR_##NAME,
    WRIT_DOCTOR_CHECKS(WRIT_DOCTOR_ENUM)
#undef WRIT_DOCTOR_ENUM
        WRIT_DOCTOR_COUNT
};

/** A place: a path alone; or a line, and perhaps a pointer, in a file of the configuration. */
struct writ_doctor_place {
    struct writ_view path;
    size_t line;              /* 0: the file as a whole */
    struct writ_view pointer; /* empty: none */
};

/** One finding. Texts are in the arena. */
struct writ_doctor_finding {
    struct writ_doctor_finding *next;
    enum writ_doctor_check check;
    struct writ_doctor_place place;
    struct writ_view message;
};

/** What is known of the ledger and of its disk. */
struct writ_doctor_facts {
    bool ledger;              /* it was read */
    uint64_t records, recent; /* in all, and of the last day */
    uint64_t bytes;           /* of its files */
    uint64_t day_bytes;       /* at the rate of the last day */
    bool disk;
    uint64_t free_bytes;
    bool grows; /* days_left is known */
    uint64_t days_left;
};

struct writ_doctor {
    const struct writ_cli *cli;
    const char *file; /* the configuration's name, as given */
    struct writ_arena *arena;
    struct writ_config *config;   /* NULL: it is not valid */
    const struct writ_yaml *root; /* of the file; NULL: not readable */
    struct writ_keyring *ring;    /* NULL: not readable */
    int64_t now_us, days;
    bool running;               /* a gateway of this configuration serves */
    struct writ_view admin_url; /* of its admin listener; empty: not known */
    struct writ_doctor_facts facts;
    struct writ_doctor_finding *first, **end;
    size_t errors, warnings;
    bool nomem; /* a finding was lost */
};

/** Adds a finding. The message has no full stop; control characters become '?'. */
void writ_doctor_add(struct writ_doctor *d, enum writ_doctor_check check,
    struct writ_doctor_place place, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** The place of a file or folder. `path` is borrowed until the end of the run. */
struct writ_doctor_place writ_doctor_path(struct writ_view path);

/** The place of an option of the configuration file by its pointer, such as "/admin_tls/cert";
 * static or in the arena. An option that is not written has no line. */
struct writ_doctor_place writ_doctor_option(const struct writ_doctor *d, const char *pointer);

/** The place of a node of the configuration. */
struct writ_doctor_place writ_doctor_node(struct writ_doctor *d, const struct writ_yaml *node);

/** The row of a check. Static storage. */
struct writ_doctor_row {
    const char *name, *area, *meaning, *fix;
    enum writ_severity severity; /* ERROR or WARNING */
};
const struct writ_doctor_row *writ_doctor_row(enum writ_doctor_check check);

/* ---- the areas, in the order in which they are looked at. Each blocks. WRIT_E_NOMEM; whatever
 * else fails is a finding. */

WRIT_RESULT writ_doctor_configuration(struct writ_doctor *d, struct writ_err *err);
/** From here on there is a configuration. */
WRIT_RESULT writ_doctor_files(struct writ_doctor *d, struct writ_err *err);
WRIT_RESULT writ_doctor_certificates(struct writ_doctor *d, struct writ_err *err);
WRIT_RESULT writ_doctor_keys(struct writ_doctor *d, struct writ_err *err);
/** The ledger, the clock by its last record, and the disk. */
WRIT_RESULT writ_doctor_ledger(struct writ_doctor *d, struct writ_err *err);
/** The listeners; finds out whether the gateway runs. */
WRIT_RESULT writ_doctor_ports(struct writ_doctor *d, struct writ_err *err);
/** The running gateway: readiness and limits. */
WRIT_RESULT writ_doctor_gateway(struct writ_doctor *d, struct writ_err *err);
WRIT_RESULT writ_doctor_upstreams(struct writ_doctor *d, struct writ_err *err);
WRIT_RESULT writ_doctor_issuers(struct writ_doctor *d, struct writ_err *err);
WRIT_RESULT writ_doctor_budgets(struct writ_doctor *d, struct writ_err *err);

/** Appends the answer: findings, then one line; or with --json one object. */
void writ_doctor_text(const struct writ_doctor *d, struct writ_buf *ret);
void writ_doctor_json(const struct writ_doctor *d, struct writ_buf *ret);

#endif
