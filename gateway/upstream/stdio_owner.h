/* stdio_owner.h - the state of a stdio upstream on its owner loop. Inside of stdio.
 *
 * Everything here except the atomics belongs to the owner loop. */
#ifndef WRIT_GATEWAY_STDIO_OWNER_H
#define WRIT_GATEWAY_STDIO_OWNER_H

#include "gateway/io/child.h"
#include "gateway/io/program_files.h"
#include "gateway/state/gateway.h"
#include "gateway/upstream/flight.h"
#include "gateway/upstream/replay.h"
#include "store/tables/shares.h"

#define WRIT_STDIO_INITIALIZE_ID 0 /* our id of initialize */
#define WRIT_STDIO_DISCOVER_ID   1 /* and of server/discover; requests begin after it */
#define WRIT_STDIO_FAILURES_MAX  3 /* failed starts after which no request waits for the next */

enum writ_stdio_state {
    WRIT_STDIO_DOWN = 0, /* no child is up, and the last one was not ended by the gateway */
    WRIT_STDIO_UP,
    WRIT_STDIO_STOPPED, /* there will be no child any more */
};

/** Whether the server speaks a protocol family. */
enum writ_stdio_known {
    WRIT_STDIO_UNKNOWN = 0,
    WRIT_STDIO_NO,
    WRIT_STDIO_YES,
};

/** Whom an instance serves. */
enum writ_instance_kind {
    WRIT_INSTANCE_SCOUT = 0, /* serves no client: it finds the protocol families of the server */
    WRIT_INSTANCE_SESSION,   /* one legacy session: it got the capabilities of that client */
    WRIT_INSTANCE_COMMON,    /* legacy requests without a session, or of all clients */
    WRIT_INSTANCE_MODERN,    /* requests of the stateless revision */
};

enum writ_instance_state {
    WRIT_INSTANCE_DOWN = 0,
    WRIT_INSTANCE_DISCOVERING,  /* the child was sent server/discover */
    WRIT_INSTANCE_INITIALIZING, /* the child was sent initialize */
    WRIT_INSTANCE_UP,
};

/** A request of a session whose caller has left, and whose stream may be resumed. */
struct writ_orphan {
    uint64_t id;                             /* at the child */
    struct writ_buf client_id, client_token; /* as in a flight */
    struct writ_orphan *next;
};

/** One running server: a child, and its clients. */
struct writ_instance {
    struct writ_stdio *stdio;
    enum writ_instance_kind kind;
    enum writ_instance_state state;
    struct writ_buf key;       /* its session or agent; empty: none yet */
    struct writ_digest given;  /* of its client's environment; zero: it has the gateway's */
    struct writ_charge charge; /* against its agent, while it serves one */
    struct writ_child *child;
    struct writ_buf hello;       /* params of initialize; empty: the gateway's own */
    struct writ_buf initialized; /* the child's result of initialize */
    bool sends_initialized;      /* the gateway sends notifications/initialized */
    bool lost;                   /* it replaces one that its session had used */
    bool late;                   /* its session was opened before it was up */
    bool was_up, ending;
    bool forbidden;                   /* its last start was refused (stdio_program.h) */
    bool renews;                      /* its child is ended, because its program may be another */
    struct writ_digest started_under; /* of program_digest, at the last start */
    unsigned failures;                /* consecutive starts that did not come up */
    int64_t noted_us;                 /* when the log's current window for its messages began */
    unsigned noted;                   /* how often since */
    uint64_t unnoted;                 /* not noted, because there were too many */
    struct writ_timer handshake, idle;
    struct writ_task free;
    int64_t used_us;
    uint64_t last_id;
    size_t open;                                      /* flights of it, streams included */
    struct writ_flight *buckets[WRIT_FLIGHT_BUCKETS]; /* requests that were sent, by id */
    struct writ_flight *waiting;                      /* for the child to be up */
    struct writ_flight *listeners;                    /* GET streams */
    struct writ_flight *heirs;   /* GET streams that resume that of an orphan */
    struct writ_orphan *orphans; /* the latest first */
    size_t orphans_n;
    struct writ_replay replay; /* of a session's streams */
    bool primes;               /* its client understands events without data (2025-11-25) */
    /* a session's; each a list of lines */
    struct writ_buf
        asked; /* JSON text of the ids of its child's requests that wait for an answer */
    struct writ_buf backlog; /* messages of the child while the session had no stream */
    struct writ_buf kept;    /* params of its subscriptions, which a new child gets again */
    struct writ_buf level;   /* params of its last logging/setLevel, likewise */
    struct writ_instance *next, **link;
};

/** The functions of the modules above an instance. */
struct writ_stdio_ops {
    /** The child has just started: the handshake begins. */
    void (*started)(struct writ_instance *instance);
    /** The child wrote a line. */
    void (*line)(struct writ_instance *instance, struct writ_view line);
    /** The server does not start: ends every waiting flight. */
    void (*hopeless)(struct writ_stdio *stdio, enum writ_upcall_end end);
};

struct writ_stdio {
    struct writ_gateway *gateway;
    const struct writ_upstream_config *config;
    const struct writ_stdio_ops *ops;
    struct writ_catalog_snapshot *snapshot; /* borrowed: the learned catalog of its tools */
    struct writ_loop *loop;
    struct writ_post open, stop;
    atomic_int state;
    bool stopping;
    enum writ_stdio_known legacy, modern;
    struct writ_buf versions;        /* supportedVersions of its server/discover, or empty */
    struct writ_buf no_legacy;       /* the error with which the server refuses initialize */
    struct writ_instance *instances; /* with those that end */
    size_t serving, ending;          /* how many of them */
    struct writ_shares shares;       /* of children, by agent */
    size_t flights, listeners_n;
    struct writ_flight *waiting; /* for the protocol families of the server */
    struct writ_program_files program_files;
    struct writ_err program_why;    /* the last refusal; empty: the last start was allowed */
    int64_t program_told_us;        /* when the log had it */
    atomic_bool program_changed;    /* the last start was refused */
    atomic_bool program_unaccepted; /* because an operator must accept a file */
};

#endif
