/* copy.tbl.h - what a copy of a ledger reads and writes (copying_tables.c).
 *
 * X(table, key, columns, parameters, conflict, letters, page): a table beside the records. One
 * letter for each column, the first for the key: i integer, t text, b blob or NULL. With a clause
 * for conflicts every row is written again by each run, and none is ever deleted. `page` rows are
 * read at a time: few, where a row may be long. */
#ifndef WRIT_STORE_COPY_TBL_H
#define WRIT_STORE_COPY_TBL_H

/* clang-format off */
#define WRIT_COPY_TABLES(X)                                                                        \
    X("result", "leaf", "leaf, expires_us, bytes", "?,?,?", "", "iib", 8)                          \
    X("session", "hash", "hash, value, expires_us, tenant, boundary", "?,?,?,?,?", "", "bbitt",    \
      128)                                                                                         \
    X("wait", "leaf", "leaf, name, kind, until_us", "?,?,?,?", "", "ibii", 256)                    \
    X("review", "id", "id, leaf, name, arguments", "?,?,?,?", "", "tibb", 8)                       \
    X("fact", "leaf", "leaf, bytes", "?,?", "", "ib", 8)                                           \
    X("pool", "leaf", "leaf, tenant, agent_id, name, expires_us, bytes", "?,?,?,?,?,?", "",        \
      "ittbib", 8)                                                                                 \
    X("content", "leaf", "leaf, expires_us, redacted, kid, bytes", "?,?,?,?,?", "", "iiitb", 8)    \
    X("content_key", "leaf", "leaf, wrapped", "?,?",                                               \
      " ON CONFLICT(leaf) DO UPDATE SET wrapped = excluded.wrapped", "ib", 256)

/* On either side: counts, and what tells one state of a ledger from another. */
#define WRIT_COPY_STATEMENTS(X)                                                                    \
    X(META, "SELECT name, value FROM meta WHERE name NOT IN ('version', 'probe', 'copying') "      \
      "ORDER BY name")                                                                             \
    X(META_GET, "SELECT value FROM meta WHERE name = ?")                                           \
    X(META_CLEAR, "DELETE FROM meta WHERE name NOT IN ('version', 'copying')")                     \
    X(META_PUT, "INSERT INTO meta(name, value) VALUES(?, ?) "                                      \
      "ON CONFLICT(name) DO UPDATE SET value = excluded.value")                                    \
    X(COPYING_DROP, "DELETE FROM meta WHERE name = 'copying'")                                     \
    X(HEADS, "SELECT leaf, size, nodes, note FROM head WHERE leaf >= ? ORDER BY leaf LIMIT ?")     \
    X(HEAD_LAST, "SELECT leaf, size, nodes, note FROM head ORDER BY leaf DESC LIMIT 1")            \
    X(BODIES, "SELECT leaf, bytes FROM body WHERE leaf >= ? AND leaf < ? ORDER BY leaf")           \
    X(RECORDS, "SELECT r.leaf, r.kind, r.boundary, r.seq, r.time_us, r.verdict, r.flags, r.about, "\
      "r.decision_id, r.agent_id, r.tool, r.claim, b.seal_leaf, b.first_leaf, b.tenant, b.name "   \
      "FROM record AS r LEFT JOIN boundary AS b ON b.id = r.boundary "                             \
      "WHERE r.leaf >= ? AND r.leaf < ? ORDER BY r.leaf")                                          \
    X(FIRST, "SELECT coalesce((SELECT min(leaf) FROM record), 0)")                                 \
    X(BOUNDARIES, WRIT_SQL_MANY "SELECT id, tenant, name, first_leaf, seal_leaf FROM boundary "    \
      "WHERE first_leaf < ? ORDER BY id")                                                          \
    X(RECORD_LAST, "SELECT leaf, time_us FROM record ORDER BY leaf DESC LIMIT 1")                  \
    X(COUNTS, "SELECT (SELECT count(*) FROM boundary), (SELECT count(*) FROM boundary "            \
      "WHERE seal_leaf IS NOT NULL), (SELECT count(*) FROM session), (SELECT count(*) FROM wait), "\
      "(SELECT count(*) FROM review), (SELECT count(*) FROM result), "                             \
      "(SELECT count(*) FROM content), (SELECT count(*) FROM content_key), "                       \
      "(SELECT count(*) FROM fact), (SELECT count(*) FROM pool)")

/* On a server alone. */
#define WRIT_COPY_SHARED(X)                                                                        \
    X(CHANGES, "SELECT changes FROM coordinator WHERE one = 1")                                    \
    X(LIVE, "SELECT name FROM gateway WHERE state = 1 AND lease_us >= "                            \
      "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) ORDER BY epoch LIMIT 1")    \
    X(GATEWAYS, "SELECT count(*) FROM gateway WHERE epoch <> 1 OR slot <> 0")                      \
    X(EPOCH, "INSERT INTO gateway(epoch, slot, name, version, policy, started_us, lease_us, turn, "\
      "seen, state) SELECT 1, 0, 'copy', ?, '', t.us, t.us, 0, 0, 0 FROM (SELECT "                 \
      "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS us) AS t")
/* clang-format on */

#endif
