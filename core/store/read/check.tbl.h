/* check.tbl.h - the statements of a verification: X(NAME, text). `+leaf`: SQLite must use the index
 * that is being checked, and not the leaf; PostgreSQL without statistics would walk all leaves for
 * the first one. Each max() and min() has a SELECT of its own: two in one
 * SELECT scan the table. */
#ifndef WRIT_STORE_CHECK_TBL_H
#define WRIT_STORE_CHECK_TBL_H

#include "store/disk/runs.h"

/* clang-format off */
#define WRIT_VERIFY_STATEMENTS(X)                                                                  \
    X(HEAD, "SELECT coalesce((SELECT max(leaf) FROM record), -1), "                                \
      "coalesce((SELECT leaf + line_count(bytes) - 1 FROM body ORDER BY leaf DESC LIMIT 1), -1), "  \
      "coalesce((SELECT min(leaf) FROM body), 0), coalesce((SELECT min(leaf) FROM record), 0), "   \
      "coalesce((SELECT size FROM head ORDER BY leaf DESC LIMIT 1), 0)")                           \
    X(RECORDS, WRIT_SQL_MANY "SELECT leaf, kind, boundary, seq, time_us, verdict, flags, about, "   \
      "decision_id, agent_id, tool, claim FROM record WHERE leaf >= ?1 AND leaf <= ?2 "            \
      "ORDER BY leaf LIMIT ?3")                                                                    \
    X(BODIES, WRIT_SQL_MANY "SELECT leaf, bytes FROM body WHERE leaf >= "                          \
      "(SELECT coalesce(max(leaf), 0) FROM body WHERE leaf <= ?1) AND leaf <= ?2 ORDER BY leaf "   \
      "LIMIT ?3")                                                                                  \
    X(BOUNDARY, "SELECT tenant, name, first_leaf, seal_leaf FROM boundary WHERE id = ?")           \
    X(BODY, "SELECT line_at(bytes, ?1 - leaf) FROM body WHERE leaf <= ?1 "                         \
      "ORDER BY leaf DESC LIMIT 1")                                                                \
    X(BEGINS, "SELECT coalesce((SELECT min(leaf) FROM record), 0)")                                \
    X(MOVED, "SELECT leaf, bytes FROM fact WHERE leaf >= ?1 AND leaf < ?2 ORDER BY leaf")          \
    X(MOVED_REST, "SELECT count(*) FROM fact WHERE leaf >= ?1")                                    \
    X(RUNS_BETWEEN, WRIT_SQL_MANY WRIT_RUNS_BETWEEN)                                               \
    X(NAMED, "SELECT id FROM boundary WHERE name = ?1 AND tenant = ?2")                            \
    X(ENDED, "SELECT id FROM boundary WHERE name = ?1 AND seal_leaf = ?2")                         \
    X(FIRST, "SELECT leaf, seq, kind FROM record WHERE decision_id = ? ORDER BY +leaf LIMIT 1")            \
    X(INDEXED, "SELECT count(*) FROM record WHERE decision_id = ?1 AND +leaf = ?2")                 \
    X(SUCCESSOR, "SELECT count(*) FROM record WHERE kind = 1 AND about = ?1 AND +leaf = ?2")        \
    X(SUCCESSORS, "SELECT count(*) FROM record WHERE kind = 1 AND about IS NOT NULL AND +leaf <= ?1") \
    X(SEGMENT, "SELECT bytes FROM segment WHERE id = ?")                                           \
    X(FACTS, "SELECT count(*) FROM record WHERE kind = 5 AND leaf <= ?1")                          \
    X(CONTENTS, "SELECT k.leaf, k.wrapped, c.leaf, r.kind, (SELECT min(leaf) FROM record) "                                        \
      "FROM content_key AS k LEFT JOIN content AS c ON c.leaf = k.leaf "                           \
      "LEFT JOIN record AS r ON r.leaf = k.leaf WHERE k.leaf >= ?1 ORDER BY k.leaf LIMIT ?2")      \
    X(CONTENTS_LOST, "SELECT c.leaf FROM content AS c WHERE c.leaf >= ?1 AND c.leaf <= ?2 "        \
      "AND NOT EXISTS (SELECT 1 FROM content_key WHERE leaf = c.leaf) ORDER BY c.leaf LIMIT 1")          \
    X(POOL, WRIT_SQL_MANY "SELECT p.leaf, p.tenant, p.agent_id, p.name, p.expires_us, p.bytes, "    \
      "coalesce((SELECT f.bytes FROM fact AS f WHERE f.leaf = p.leaf), "                           \
      "(SELECT line_at(y.bytes, p.leaf - y.leaf) FROM body AS y WHERE y.leaf <= p.leaf "           \
      "ORDER BY y.leaf DESC LIMIT 1)) FROM pool AS p ORDER BY p.leaf")                             \
    X(LATER, "SELECT line_at(y.bytes, r.leaf - y.leaf) FROM record AS r "                          \
      "JOIN body AS y ON y.leaf = (SELECT max(leaf) FROM body WHERE leaf <= r.leaf) "              \
      "WHERE r.kind = 5 AND r.leaf > ?1 ORDER BY r.leaf")                                          \
    X(REVIEWS, WRIT_SQL_MANY "SELECT v.leaf, v.arguments, r.decision_id, v.id FROM review AS v "    \
      "LEFT JOIN record AS r ON r.leaf = v.leaf AND r.kind = 1 ORDER BY v.id")                     \
    X(REVIEW_OPENING, "SELECT b.leaf, line_at(b.bytes, r.leaf - b.leaf) FROM "                     \
      "(SELECT leaf FROM record WHERE decision_id = ?1 AND kind = 4 ORDER BY leaf LIMIT 1) AS r "  \
      "JOIN body AS b ON b.leaf = (SELECT max(leaf) FROM body WHERE leaf <= r.leaf)")              \
    X(REVIEW_SINCE, "SELECT count(*) FROM record WHERE decision_id = ?1 AND kind = 4 AND leaf > ?2")
/* clang-format on */

#endif
