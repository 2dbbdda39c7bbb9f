/* status.tbl.h - the statements of status.c. Texts of the server come as bytes. */
#ifndef WRIT_STORE_STATUS_TBL_H
#define WRIT_STORE_STATUS_TBL_H

#define WRIT_STATUS_GATEWAYS_MAX 1000

/* clang-format off */
/* Of any ledger. */
#define WRIT_STATUS_STATEMENTS(X)                                                                  \
    X(LAST, "SELECT leaf, time_us FROM record ORDER BY leaf DESC LIMIT 1")                         \
    X(TIME, WRIT_DISK_TIME)                                           \
    X(COPYING, "SELECT count(*) FROM meta WHERE name = 'copying'")

/* Of one on a server. A gateway's last epoch, and every one that did not end. */
#define WRIT_STATUS_SHARED(X)                                                                      \
    X(NOW, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)")               \
    X(BYTES, "SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) "             \
      "FROM pg_class AS c WHERE c.oid = to_regclass('head') OR c.oid IN (SELECT inhrelid FROM "     \
      "pg_inherits WHERE inhparent IN (to_regclass('record'), to_regclass('body')))")                                                                      \
    X(GATEWAYS, "SELECT epoch, state, started_us, lease_us, turn, name, version, policy "          \
      "FROM gateway WHERE slot <> 0 AND (state = 1 OR epoch IN "                                   \
      "(SELECT max(epoch) FROM gateway GROUP BY name)) ORDER BY name, epoch LIMIT 1000")           \
    X(SERVER, "SELECT CASE WHEN pg_is_in_recovery() THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) "\
      "END, convert_to(current_setting('server_version'), 'UTF8'), "                               \
      "convert_to(current_setting('fsync'), 'UTF8'), "                                             \
      "convert_to(current_setting('synchronous_commit'), 'UTF8'), "                                \
      "convert_to(current_setting('synchronous_standby_names'), 'UTF8')")                          \
    X(STANDBYS, "SELECT CAST(CASE WHEN pg_is_in_recovery() THEN NULL ELSE "                        \
      "pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) END AS BIGINT), "                         \
      "CAST(extract(epoch FROM replay_lag) * 1000000 AS BIGINT), "                                 \
      "convert_to(application_name, 'UTF8'), convert_to(state, 'UTF8'), "                          \
      "convert_to(sync_state, 'UTF8') FROM pg_stat_replication ORDER BY application_name, pid "    \
      "LIMIT 1000")
/* clang-format on */

#endif
