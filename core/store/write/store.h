/* store.h - the types and functions that the files of the ledger share. Only the rooms of
 * core/store from here up include this.
 *
 * The life of a group: the writer takes the entries that arrived (writer.c). Every entry is
 * prepared in memory only: decisions by grant.c, reviews by reviewing.c, calls that wait by
 * waiting.c, outcomes by ending.c, sessions by session_rows.c. That makes rows, and ops that have
 * the changes. group.c writes the rows in one transaction. When it is committed, each op is
 * finished; when it fails, each is undone, backwards. sealing.c ends boundaries in groups of their
 * own. load.c rebuilds the memory from the disk when the ledger opens. */
#ifndef WRIT_STORE_STORE_H
#define WRIT_STORE_STORE_H

#include "evidence/record/profile.h"
#include "store/disk/disk.h"
#include "store/disk/file.h"
#include "store/disk/heads.h"
#include "store/disk/manifest_note.h"
#include "store/tables/boundaries.h"
#include "store/tables/budgets.h"
#include "store/tables/entry.h"
#include "store/tables/delegations.h"
#include "store/tables/flights.h"
#include "store/tables/reviews.h"
#include "store/tables/segments.h"
#include "store/tables/waits.h"
#include "store/write/inbox.h"

#include <pthread.h>
#include <stdatomic.h>

#define WRIT_STORE_BODIES_SOFT                                                                     \
    (4 << 20) /* a group that has so many bytes takes no more entries                              \
               */
#define WRIT_STORE_BODIES_MAX    (WRIT_STORE_BODIES_SOFT + 4 * WRIT_LEDGER_RECORD_MAX)
#define WRIT_STORE_CONTENTS_SOFT ((size_t)16 << 20) /* as BODIES_SOFT, of contents */
#define WRIT_STORE_KEPT_CONTENTS ((size_t)64 << 20) /* bytes of contents of kept outcomes */
#define WRIT_STORE_SEALS         64                 /* boundaries sealed in one group */
#define WRIT_STORE_SWEEP         1024               /* boundaries checked in one tick */
#define WRIT_STORE_SEGMENTS      16                 /* slices of segments written by one tick */
#define WRIT_STORE_TICK_US       1000000  /* between checks for expired boundaries and waits */
#define WRIT_STORE_PRUNE_US      60000000 /* between checks for expired rows */

/** An outcome that could not be written yet: the record as it will stand in the log. */
struct writ_kept {
    struct writ_kept *next;
    struct writ_flight *flight;
    enum writ_reason
        given_up;        /* the call waited until its time had passed; NONE: another outcome */
    struct writ_row row; /* without leaf */
    struct writ_sealed *content; /* its result, to be kept; NULL: none, or no memory for it */
    char body[];
};

/** A record of the present group. */
struct writ_group_row {
    struct writ_row row;
    size_t body_at; /* offset in `bodies`, whose memory moves; SIZE_MAX: row.body is set */
    size_t body_len;
    uint8_t claim[WRIT_DISK_CLAIM_BYTES];
};

struct writ_ledger;
struct writ_op;

/** The steps that group.c runs for an op; the owner of the op defines them. NULL: nothing to do. */
struct writ_op_steps {
    /** In the transaction of the group: writes the rows beside the records. */
    WRIT_RESULT(*write)
    (struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err);
    /** The group is on disk. */
    void (*finish)(struct writ_ledger *ledger, const struct writ_op *op);
    /** It is not. Ops are undone backwards. */
    void (*undo)(struct writ_ledger *ledger, const struct writ_op *op);
    bool undo_in_order; /* but these in their own order, after all others */
};

/** A part in every group, beside its ops. A step may be NULL. */
struct writ_participant {
    /** Before the writer commits its entries: adds a part that suits a group of so many records.
     * True when there is something to write. */
    bool (*prepare)(struct writ_ledger *ledger, size_t records);
    /** In the transaction, after the ops. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
    WRIT_RESULT (*write)(struct writ_ledger *ledger, struct writ_err *err);
    /** The group is on disk, and its ops are finished. */
    void (*finish)(struct writ_ledger *ledger);
    /** It is not, and its ops are undone. */
    void (*undo)(struct writ_ledger *ledger);
};

/** The changes of one entry in memory: finished when the group is on disk, else undone. */
struct writ_op {
    const struct writ_op_steps *steps;
    struct writ_entry *entry; /* a kept outcome, a seal: none */
    struct writ_kept *kept;
    struct writ_boundary *boundary;
    struct writ_flight *flight; /* granted by this decision; ended by this outcome; waits */
    struct writ_flight *before; /* the flight that this decision continues, or NULL */
    int64_t until_us;           /* of a wait that is bound, before */
    struct writ_reviewed *review;
    struct writ_reviews_before was; /* of the review */
    size_t row;                     /* its first row */
};

/** The number of rows beside the records that are not in memory. */
struct writ_ledger_counts {
    size_t results, sessions;
    int64_t results_bytes;
};

/** The rows and changes of one transaction. */
struct writ_group {
    const struct writ_participant *const *participants; /* in their order, up to NULL */

    struct writ_group_row *rows;
    struct writ_op *ops;
    size_t rows_n, ops_n, rows_max;
    size_t contents;               /* bytes of contents that are kept with its records */
    struct writ_buf bodies;        /* a line feed between two that follow each other */
    struct writ_tree_edge edge;    /* of the tree with its records */
    struct writ_buf nodes, note;   /* its row of `head`: the note is a checkpoint or a MAC */
    struct writ_boundary *touched; /* boundaries that got a record, by next_touched */
    struct writ_ledger_counts before;

    uint64_t committed; /* groups so far */
    int64_t took_us;    /* the last commit */
};

/** Outcomes that could not be written yet, in the order of their times. ending.c owns them. */
struct writ_kept_list {
    struct writ_kept *first, **end;
    size_t n;
    size_t content_bytes; /* of all their contents */
};

/** The position and known facts of the records. group.c moves it forward. */
struct writ_ledger_log {
    struct writ_tree_edge edge; /* of the records that are on disk */
    uint64_t next_leaf;
    int64_t last_us;  /* time of the last record that was prepared; never goes back */
    int64_t edge_us;  /* time of the last record that is on disk */
    uint64_t facts_n; /* the number of the next one: facts.c */
    uint64_t opened;  /* records that were there when it was opened */
    uint64_t had;     /* records that the ledger is known to have had: opening.c */
    uint64_t vouched; /* this process read or wrote all records from here on: vouch.h */
    uint64_t
        unproven; /* records that it was resumed with, which neither signature nor MAC covers */
    bool loaded;  /* the memory of the writer is made */
};

/** Groups whose checkpoint is still to be signed. signing.c's. */
struct writ_ledger_signing {
    uint8_t key[WRIT_LEDGER_TAIL_KEY];
    bool together;      /* there is a key, and no other gateway writes */
    bool is_signed;     /* the group that is being written has a checkpoint */
    int64_t signed_us;  /* monotonic: the last checkpoint; 0: none yet */
    int64_t covered_us; /* time of the last record under it */
    int64_t since_us;   /* monotonic: the first group after it; 0: there is none */
    int64_t tried_us;   /* monotonic: signing them failed then; 0: it did not */
    uint64_t leaf;      /* the row of the last of them */
};

/** For how long keys are claimed. keeping.c's. */
struct writ_ledger_keeping {
    int64_t noted_us; /* the longest claim time that the ledger has recorded */
    int64_t most_us;  /* the longest claim that can still stand */
};

/** A loss after which the ledger was resumed. resuming.c owns it. */
struct writ_ledger_resumed {
    int64_t at_us;            /* 0: there was none */
    uint64_t leaf;            /* of its record: what is older must not go on */
    struct writ_buf released; /* tools whose keys of the lost time count as unused, each between two
                                 line feeds */
};

struct writ_erasing_job;

/** Contents that are destroyed. erasing.c's. */
struct writ_ledger_erasing {
    struct writ_entry *asked, **asked_end; /* erases that have not begun, by next */
    struct writ_erasing_job *job;          /* the one that has begun, or NULL */
    struct writ_entry *recorded;           /* erases that wait for the write-ahead log, by next */
    int64_t recorded_us;                   /* monotonic: the last of them was recorded */
    bool uncut;                            /* the log may have keys that were destroyed */
    int64_t cut_us;                        /* monotonic: it was last cut; 0: not yet */
    int64_t looked_us;                     /* monotonic: the oldest content was looked at */
    bool expired;                          /* there are contents whose time is over */
    size_t slice, deleted;                 /* of them: to be deleted with a group, and deleted */
};

/** Records that are removed because an archive has them. removing.c's. */
struct writ_ledger_removing {
    struct writ_entry *asked, *recorded; /* that have not begun; whose records go; by next */
    uint64_t until;                      /* records before it were given up: the last fact */
    int64_t until_us;                    /* the time of the last of them */
    int64_t next_us;                     /* the same of the fact that is being recorded */
    uint64_t first, next;                /* the first record on disk, now and with this group */
    uint64_t slice;                      /* records to be removed with this group */
};

/** Insights that agents share. pool_rows.c's. */
struct writ_ledger_pool {
    uint64_t at;                 /* the next number after the last put, as far as it is known */
    struct writ_entry *watching; /* by next */
};

/** Why the ledger does not write. writ_group_trouble sets it; a successful write clears
 * `refusing`. */
struct writ_ledger_trouble {
    bool refusing; /* the last write failed */
    bool stays;    /* `why` says what poisoned the ledger: later failures do not replace it */
    struct writ_err why;
};

struct writ_wal_checkpoint;
struct writ_scrub;
struct writ_sharing;

/** The threads beside the writer. */
struct writ_ledger_beside {
    struct writ_wal_checkpoint *checkpoint;
    struct writ_scrub *scrub;
    uint64_t scrubs;     /* passes that found nothing */
    int64_t scrubbed_us; /* wall time: when the last of them was noticed, or the opening */
};

/** Counted since the start, for writ_fleet_figures. */
struct writ_fleet_counts {
    _Atomic uint64_t live, taken, turns, unknown;
    _Atomic int64_t turns_us;
};

/** This gateway among those that write the same ledger. fleet.h's. */
struct writ_ledger_fleet {
    _Atomic uint64_t epoch;         /* its number while it is live; 0: it has none */
    _Atomic int64_t lease_until_us; /* on CLOCK_BOOTTIME: until then its calls are its own */
    uint64_t joined, tried;         /* the last epoch that it had, and that it asked for */
    int64_t joined_us, tried_us;    /* when they began */
    uint64_t slot;                  /* of its rows of `segment` */
    int64_t asked_us;               /* on CLOCK_BOOTTIME: when the present turn was asked for */
    int64_t now_us;                 /* the time of the database at that moment */
    int64_t polled_us, renewed_us;  /* on CLOCK_BOOTTIME: the last look, the last lease */
    int64_t tended_us;              /* on CLOCK_BOOTTIME: when the dead were last looked for */
    int64_t patient_us;             /* on CLOCK_BOOTTIME: no gateway is declared dead before */
    int64_t again_us;               /* on CLOCK_BOOTTIME: no new connection is tried before */
    uint64_t turn;                  /* turns that this epoch has committed */
    uint64_t changes;               /* of the coordinator, as the memory knows it */
    uint64_t waits;                 /* the last of them that changed a wait */
    uint64_t room, room_next;       /* there are partitions up to this record; after this turn */
    uint64_t boundary;              /* the highest number of a run that is on disk */
    bool followed;                  /* others are live, or have written since that was read */
    bool asked;                     /* the next part was sent for: catch_up.h */
    bool torn;                      /* a record of another gateway was taken in part */
    bool heard;                     /* a fact was taken, and the row of this gateway does not say so
                                       yet */
    bool erased;                    /* an erase was taken: the calls under way are to be marked */
    struct writ_buf texts;          /* `gateway` and `policy` of the options */
    struct writ_buf opened;         /* leaves (uint64_t) of reviews that are to be loaded */
    _Atomic int64_t ahead_us;       /* the clock of the database, ahead of our monotonic one */
    struct writ_fleet_counts figures;
    struct writ_clock clock;      /* of the database; in place of that of the options */
    const struct writ_clock *own; /* that of the options */
};

/** The turns of the writer's thread. writer.c's. */
struct writ_ledger_turn {
    int64_t ticked_us, pruned_us; /* monotonic: the times of the last checks */
    int64_t recovered_us;         /* monotonic: when the end of a trouble was last looked for */
    bool inside;                  /* a transaction is open: turn.h */
    bool stopping;
};

/** The ledger. Everything but `inbox` and `handed` belongs to the writer's thread. */
struct writ_ledger {
    struct writ_ledger_options options;

    /* on the disk */
    struct writ_file file;
    struct writ_disk disk;
    struct writ_heads_trust trust;
    const struct writ_sharing *sharing; /* turn.h; NULL: this process alone writes */
    struct writ_ledger_fleet fleet;     /* with sharing */
    struct writ_ledger_keys *keys;      /* taken ones: `trust` uses the first */
    struct writ_ledger_log log;
    struct writ_ledger_signing signing;
    struct writ_manifest manifest;

    /* in memory, from the log */
    struct writ_boundaries boundaries;
    struct writ_map flights; /* struct writ_flight by leaf */
    struct writ_waits waits;
    struct writ_reviews reviews;
    struct writ_delegations delegations;
    struct writ_budgets budgets;
    struct writ_claims claims;
    struct writ_segments segments;
    struct writ_ledger_keeping keeping;
    struct writ_ledger_resumed resumed;
    struct writ_ledger_erasing erasing;
    struct writ_ledger_removing removing;
    struct writ_ledger_counts counts;
    struct writ_ledger_pool pool;

    /* the group that is being written */
    struct writ_group group;
    struct writ_kept_list kept;
    struct writ_entry *over; /* entries that waited and whose `done` is due, by `next` */
    struct writ_ledger_trouble trouble;

    /* threads */
    struct writ_ledger_turn turn;
    struct writ_ledger_beside beside;
    pthread_t thread; /* the writer's */
    struct writ_inbox inbox;
    const struct writ_keyring *handed; /* the last one handed over; belongs to the thread that hands
                                          them over */
};

#endif
