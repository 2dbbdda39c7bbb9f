/* reader.tbl.h - the statements of readers: X(NAME, text). A parameter that is NULL does not
 * filter: PostgreSQL takes its type from the comparison, which must come before IS NULL. */
#ifndef WRIT_STORE_READER_TBL_H
#define WRIT_STORE_READER_TBL_H

/* clang-format off */
/* A decision in a list, with its outcome and its successor. */
#define WRIT_READER_ITEMS                                                                          \
    "SELECT r.leaf, r.decision_id, b.tenant, b.name, r.agent_id, r.tool, r.verdict, "              \
    "r.flags, r.seq, r.time_us, o.leaf, o.verdict, b.seal_leaf, n.leaf, o.time_us "                \
    "FROM record AS r JOIN boundary AS b ON b.id = r.boundary "                                    \
    "LEFT JOIN record AS o ON o.decision_id = r.decision_id AND o.kind = 2 "             \
    "AND o.leaf > r.leaf AND o.leaf <= coalesce(b.seal_leaf, 9223372036854775807) "                \
    "LEFT JOIN record AS n ON n.about = r.leaf AND n.kind = 1 AND n.leaf > r.leaf "                \
    "AND n.leaf <= coalesce(b.seal_leaf, 9223372036854775807) "
/* The record r. Not a join: over many partitions PostgreSQL may read all bodies for one. */
#define WRIT_READER_TEXT                                                                           \
    "(SELECT line_at(bytes, r.leaf - leaf) FROM body WHERE leaf <= r.leaf "                        \
    "ORDER BY leaf DESC LIMIT 1) "
#define WRIT_READER_STATEMENTS(X)                                                                  \
    X(LIST, WRIT_SQL_MANY WRIT_READER_ITEMS                                                                      \
      "WHERE r.kind = 1 AND (b.tenant = ?1 OR ?1 IS NULL) "                                        \
      "AND (b.name = ?2 OR ?2 IS NULL) AND (r.agent_id = ?3 OR ?3 IS NULL) "                       \
      "AND (r.tool = ?4 OR ?4 IS NULL) AND (r.verdict = ?5 OR ?5 IS NULL) "                        \
      "AND (r.time_us < ?6 OR ?6 IS NULL) AND r.leaf >= ?8 AND r.leaf < ?7 "                       \
      "ORDER BY r.leaf DESC")                                                                      \
    X(CHANGED, WRIT_SQL_MANY WRIT_READER_ITEMS                                                                   \
      "WHERE r.kind = 1 AND r.decision_id IN (SELECT decision_id FROM record "                     \
      "WHERE leaf >= ?1 AND leaf < ?2) ORDER BY r.leaf")                                           \
    X(CALL, "SELECT r.leaf, r.kind, r.boundary, " WRIT_READER_TEXT "FROM record AS r "              \
      "WHERE r.decision_id = ?1 AND r.leaf >= ?2 ORDER BY r.leaf")                                 \
    X(BOUNDARY, "SELECT tenant, name, seal_leaf, first_leaf FROM boundary WHERE id = ?")           \
    X(BOUNDARY_NAMED, "SELECT id, tenant, seal_leaf, first_leaf FROM boundary "                    \
      "WHERE name = ?1 AND (tenant = ?2 OR ?2 IS NULL)")                                           \
    X(SUCCESSOR, "SELECT decision_id FROM record WHERE about = ?1 AND kind = 1 AND leaf > ?1")                    \
    X(NEAR, "SELECT r.decision_id, " WRIT_READER_TEXT "FROM record AS r "                           \
      "WHERE r.leaf >= ?1 AND r.leaf <= ?2 AND r.kind = 1 ORDER BY r.leaf")                        \
    X(BODY, "SELECT line_at(bytes, ?1 - leaf) FROM body WHERE leaf <= ?1 "                         \
      "ORDER BY leaf DESC LIMIT 1")                                                                \
    X(FACTS, WRIT_SQL_MANY WRIT_DISK_FACTS("leaf >= 0"))                                          \
    X(FIRST, "SELECT coalesce((SELECT min(leaf) FROM record), 0)")                                 \
    X(EDGE, "SELECT leaf, time_us FROM record ORDER BY leaf DESC LIMIT 1")                         \
    X(TIME, WRIT_DISK_TIME)                                           \
    X(RECORDS, WRIT_SQL_MANY "SELECT r.leaf, r.kind, b.tenant, r.verdict, r.time_us, "             \
      "d.leaf, d.time_us, coalesce(d.flags, r.flags) FROM record AS r "                            \
      "JOIN boundary AS b ON b.id = r.boundary LEFT JOIN record AS d ON d.leaf = r.about AND r.kind = 2 "                                  \
      "WHERE r.leaf >= ?1 AND r.leaf < ?2 AND (r.kind = 1 OR (r.kind = 2 AND d.leaf IS NOT NULL)) "       \
      "ORDER BY r.leaf")                   \
    X(BODIES, WRIT_SQL_MANY "SELECT leaf, bytes FROM body WHERE leaf >= (SELECT leaf FROM body "   \
      "WHERE leaf <= ?1 ORDER BY leaf DESC LIMIT 1) AND leaf < ?2 ORDER BY leaf")                  \
    X(REVIEWS_WAITING, "SELECT count(*) FROM review AS v JOIN record AS d ON d.leaf = v.leaf "     \
      "JOIN boundary AS b ON b.id = d.boundary WHERE v.arguments IS NOT NULL "                     \
      "AND (b.tenant = ?1 OR ?1 IS NULL) AND (d.agent_id = ?2 OR ?2 IS NULL)")                     \
    X(REVIEWS, WRIT_SQL_MANY "SELECT id FROM review ORDER BY leaf")                                              \
    X(REVIEW, "SELECT arguments FROM review WHERE id = ?")                                         \
    X(SESSION, "SELECT value, expires_us FROM session WHERE hash = ?")                             \
    X(RANGE, WRIT_SQL_MANY "SELECT r.leaf, r.kind, " WRIT_READER_TEXT "FROM record AS r "           \
      "WHERE r.leaf >= ?1 AND r.leaf <= ?2 AND r.boundary = ?3 ORDER BY r.leaf")
/* clang-format on */

#endif
