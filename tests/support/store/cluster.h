/* cluster.h - a PostgreSQL cluster of its own for one test program: in a temporary folder, on a
 * unix socket, ended with the program. A failure in here, also a missing PostgreSQL, fails the
 * test. */
#ifndef WRIT_TESTS_CLUSTER_H
#define WRIT_TESTS_CLUSTER_H

#include "store/sql/sql.h"

#include <sys/types.h>

struct writ_cluster {
    char dir[64];
    char uri[256]; /* of its database postgres */
    pid_t pid;
};

/** Makes a cluster and starts it. As root it belongs to the user postgres. */
void writ_cluster_start(struct writ_cluster *cluster);
/** Starts it again, after writ_cluster_end, with a setting ("fsync=on") or NULL. */
void writ_cluster_restart(struct writ_cluster *cluster, const char *setting);
/** Ends the server by a signal: SIGINT, SIGQUIT; waits for it. */
void writ_cluster_end(struct writ_cluster *cluster, int signal);
/** A connection to a database; close it with writ_sql_close. `wait_us` as of
 * writ_sql_postgres_options. */
struct writ_sql *writ_cluster_connect(const char *uri, int64_t wait_us);
/** Runs a statement, which must succeed. */
void writ_cluster_run(struct writ_sql *sql, const char *text);
/** Ends the server and removes the folder. */
void writ_cluster_remove(struct writ_cluster *cluster);

#endif
