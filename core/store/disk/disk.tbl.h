/* disk.tbl.h - the schema of the ledger and every statement that is run on it.
 *
 * X(text) in the order of creation; X(NAME, text) for statements.
 *
 * record and body are the log. They only grow at their right edge: leaf is contiguous, and a
 * decision_id contains the time. `record` is narrow: a start rebuilds the memory of the writer, and
 * readers make lists, without reading the bodies. A row of `body` has the records from its leaf up
 * to the next row, one per line (lines.h): a row for each would cost as much as everything else of
 * a record. The other tables are small.
 *
 * `head` has one row for each group: nodes of the tree, and in `note` the checkpoint over all records
 * so far, or a MAC of 32 bytes (heads.h).
 *
 * Retention removes records from the left, in whole groups, when an archive has them
 * (write/removing.h): then the log begins at the first row of `record`. The facts among them stay
 * in `fact`, since every start reads all facts, and so does every row of `head`: all proofs need
 * the tree.
 *
 * `segment` saves a start from reading all records: it has blocks of claims (once.h), and the
 * signed manifest that names them (manifest.h). All of it may be deleted while no gateway runs.
 *
 * `content` has kept arguments and results, encrypted (content.h): leaf of the decision has its
 * arguments, leaf of the outcome its result, leaf of a vote the log of the crew that gave it. The
 * key of each is in `content_key`, which only grows at its right edge, as the log does: to destroy
 * a key is to overwrite it in its place with as many zeros. SQLite copies rows between pages when
 * it deletes some of a table, and such a copy would stay behind in the unused part of a page; no
 * row of `content_key` is ever deleted, and so none is ever copied (write/content_rows.h).
 *
 * `pool` has the insights that agents of one tenant share, in clear, each beside the fact that
 * records it (write/pool_rows.h). name is the digest of its key, or empty.
 *
 *   record.kind     1 decision, 2 outcome, 3 seal, 4 event of a review, 5 fact (facts.h)
 *   record.seq      a fact: its number
 *   record.verdict  enum writ_decision_route, enum writ_outcome_kind; 0 for a seal or a review
 *   record.flags    enum writ_row_flag
 *   record.about    an outcome: leaf of its decision; a decision that follows: of the one before
 *   record.claim    a granted call with a claim: 16 bytes each of key, call, intent */
#ifndef WRIT_STORE_DISK_TBL_H
#define WRIT_STORE_DISK_TBL_H

#include "store/disk/runs.h"

/* clang-format off */
#define WRIT_DISK_SCHEMA(X)                                                                         \
    X("CREATE TABLE meta(name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID")                 \
    X("CREATE TABLE record(leaf INTEGER PRIMARY KEY, kind INTEGER NOT NULL, "                      \
      "boundary INTEGER NOT NULL, seq INTEGER NOT NULL, time_us INTEGER NOT NULL, "                \
      "verdict INTEGER NOT NULL, flags INTEGER NOT NULL, about INTEGER, decision_id TEXT, "        \
      "agent_id TEXT, tool TEXT, claim BLOB) STRICT")                                              \
    X("CREATE TABLE body(leaf INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT")                   \
    X("CREATE INDEX record_decision ON record(decision_id) WHERE decision_id IS NOT NULL")         \
    X("CREATE TABLE boundary(id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL, "   \
      "first_leaf INTEGER NOT NULL, seal_leaf INTEGER) STRICT")                                    \
    X("CREATE UNIQUE INDEX boundary_name ON boundary(name, tenant)")                               \
    X("CREATE INDEX boundary_open ON boundary(id) WHERE seal_leaf IS NULL")                        \
    X("CREATE TABLE result(leaf INTEGER PRIMARY KEY, expires_us INTEGER NOT NULL, "                \
      "bytes BLOB NOT NULL) STRICT")                                                               \
    X("CREATE TABLE session(hash BLOB PRIMARY KEY, value BLOB NOT NULL, "                          \
      "expires_us INTEGER NOT NULL, tenant TEXT NOT NULL, boundary TEXT NOT NULL) "                \
      "STRICT, WITHOUT ROWID")                                                                     \
    X("CREATE TABLE wait(leaf INTEGER PRIMARY KEY, name BLOB NOT NULL, kind INTEGER NOT NULL, "    \
      "until_us INTEGER NOT NULL) STRICT")                                                         \
    X("CREATE TABLE review(id TEXT PRIMARY KEY, leaf INTEGER NOT NULL, name BLOB NOT NULL, "       \
      "arguments BLOB) STRICT, WITHOUT ROWID")                                                     \
    X("CREATE TABLE head(leaf INTEGER PRIMARY KEY, size INTEGER NOT NULL, nodes BLOB NOT NULL, "    \
      "note BLOB NOT NULL) STRICT")                                                                \
    X("CREATE TABLE segment(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT")                  \
    X("CREATE INDEX record_successor ON record(about) WHERE kind = 1 AND about IS NOT NULL") \
    X("CREATE INDEX record_fact ON record(leaf) WHERE kind = 5")                                   \
    X("CREATE TABLE content_key(leaf INTEGER PRIMARY KEY, wrapped BLOB NOT NULL) STRICT")          \
    X("CREATE TABLE content(leaf INTEGER PRIMARY KEY, expires_us INTEGER NOT NULL, "               \
      "redacted INTEGER NOT NULL, kid TEXT NOT NULL, bytes BLOB NOT NULL) STRICT")                 \
    X("CREATE INDEX content_expiry ON content(expires_us)")                                        \
    X("CREATE TABLE fact(leaf INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT") WRIT_DISK_ADDED(X)

/* What version 8 added to version 7 (writ_disk_migrate). */
#define WRIT_DISK_ADDED(X)                                                                         \
    X("CREATE TABLE pool(leaf INTEGER PRIMARY KEY, tenant TEXT NOT NULL, agent_id TEXT NOT NULL, "  \
      "name BLOB NOT NULL, expires_us INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT")              \
    X("CREATE INDEX pool_tenant ON pool(tenant, leaf)")                                            \
    X("CREATE INDEX pool_name ON pool(name)")                                                      \
    X("CREATE INDEX pool_expiry ON pool(expires_us)")

/* The columns of a record, in the order of their parameters, and several records at once: executing
 * a statement costs about as much as inserting one row. OR ROLLBACK saves SQLite the journal that
 * would undo the rows of a single statement. */
#define WRIT_DISK_ROW "(?,?,?,?,?,?,?,?,?,?,?,?)"
#define WRIT_DISK_INSERT                                                                           \
    "INSERT OR ROLLBACK INTO record(leaf, kind, boundary, seq, time_us, verdict, flags, about, "   \
    "decision_id, agent_id, tool, claim) VALUES"

/* All facts that `WHERE` selects, in the order of the log: leaf, body. */
#define WRIT_DISK_FACTS(WHERE)                                                                     \
    "SELECT leaf, bytes FROM fact WHERE " WHERE " UNION ALL SELECT * FROM "                        \
    "(SELECT r.leaf, line_at(y.bytes, r.leaf - y.leaf) AS bytes FROM record AS r "                 \
    "JOIN body AS y ON y.leaf = (SELECT max(leaf) FROM body WHERE leaf <= r.leaf) "                \
    "WHERE r.kind = 5 AND r." WHERE " ORDER BY r.leaf) AS s ORDER BY leaf"

/* The time of record ?1, for a search; of one that was removed: that it was before all others. A
 * row in any case: NULL when the record is missing. */
#define WRIT_DISK_TIME                                                                             \
    "SELECT coalesce((SELECT time_us FROM record WHERE leaf = ?1), "                               \
    "CASE WHEN ?1 < (SELECT min(leaf) FROM record) THEN -9223372036854775807 END)"

/* The leaf of the decision of record r: of its outcome, and of a vote in its review. */
#define WRIT_DISK_DECIDED                                                                          \
    "CASE r.kind WHEN 2 THEN r.about WHEN 4 THEN (SELECT min(leaf) FROM record "                   \
    "WHERE decision_id = r.decision_id AND kind = 1) ELSE r.leaf END"

#define WRIT_DISK_META(NAME, VALUE)                                                                \
    "INSERT INTO meta(name, value) VALUES('" NAME "', " VALUE ") "                                 \
    "ON CONFLICT(name) DO UPDATE SET value = excluded.value"

/* Statements of the writer. */
#define WRIT_DISK_STATEMENTS(X)                                                                     \
    X(APPEND_RECORD, WRIT_DISK_INSERT WRIT_DISK_ROW)                                               \
    X(APPEND_RECORDS, WRIT_DISK_INSERT                                                             \
      WRIT_DISK_ROW "," WRIT_DISK_ROW "," WRIT_DISK_ROW "," WRIT_DISK_ROW ","                      \
      WRIT_DISK_ROW "," WRIT_DISK_ROW "," WRIT_DISK_ROW "," WRIT_DISK_ROW)                         \
    X(APPEND_BODY, "INSERT INTO body(leaf, bytes) VALUES(?,?)")                                    \
    X(APPEND_HEAD, "INSERT INTO head(leaf, size, nodes, note) VALUES(?,?,?,?)")                    \
    X(SIGN_HEAD, "UPDATE head SET note = ? WHERE leaf = ?")                                        \
    X(LAST_RECORD, "SELECT leaf, time_us FROM record ORDER BY leaf DESC LIMIT 1")                  \
    X(RECORDS_FROM, WRIT_SQL_MANY "SELECT leaf, kind, boundary, seq, time_us, verdict, flags, about, "           \
      "decision_id, agent_id, tool, claim FROM record WHERE leaf >= ? ORDER BY leaf")              \
    X(RECORD_AT, "SELECT leaf, kind, boundary, seq, time_us, verdict, flags, about, "              \
      "decision_id, agent_id, tool, claim FROM record WHERE leaf = ?")                             \
    X(BODY_AT, "SELECT line_at(bytes, ?1 - leaf) FROM body WHERE leaf <= ?1 "                      \
      "ORDER BY leaf DESC LIMIT 1")                                                                \
    X(BODIES_FROM, WRIT_SQL_MANY "SELECT leaf, bytes FROM body WHERE leaf >= "                                   \
      "(SELECT coalesce(max(leaf), 0) FROM body WHERE leaf <= ?) ORDER BY leaf")                   \
    X(DECISION_LEAF, "SELECT leaf FROM record WHERE decision_id = ? ORDER BY +leaf LIMIT 1")        \
    X(BOUNDARY_ADD, "INSERT INTO boundary(id, tenant, name, first_leaf) VALUES(?,?,?,?)")          \
    X(BOUNDARY_SEAL, "UPDATE boundary SET seal_leaf = ? WHERE id = ? AND seal_leaf IS NULL")       \
    X(BOUNDARY_FIND, "SELECT id, seal_leaf FROM boundary WHERE name = ? AND tenant = ?")           \
    X(BOUNDARY_SEALED, "SELECT b.tenant, b.name, r.leaf, r.kind, r.boundary FROM boundary AS b "    \
      "JOIN record AS r ON r.leaf = b.seal_leaf WHERE b.id = ?")                                   \
    X(BOUNDARIES_OPEN, WRIT_SQL_MANY "SELECT id, tenant, name, first_leaf FROM boundary "                        \
      "WHERE seal_leaf IS NULL ORDER BY id")                                                       \
    X(BOUNDARY_LAST, "SELECT max(id) FROM boundary")                                               \
    X(RESULT_PUT, "INSERT INTO result(leaf, expires_us, bytes) VALUES(?,?,?) "                     \
      "ON CONFLICT(leaf) DO UPDATE SET expires_us = excluded.expires_us, bytes = excluded.bytes")  \
    X(RESULT_GET, "SELECT expires_us, bytes FROM result WHERE leaf = ?")                           \
    X(RESULTS_OLDEST, "DELETE FROM result WHERE leaf = (SELECT min(leaf) FROM result)")            \
    X(RESULTS_EXPIRED, "DELETE FROM result WHERE expires_us <= ?")                                 \
    X(RESULTS_SUM, "SELECT count(*), coalesce(sum(length(bytes)), 0) FROM result")                 \
    X(RESULTS_FIRST, "SELECT length(bytes) FROM result ORDER BY leaf LIMIT 1")                     \
    X(CONTENT_KEY_PUT, "INSERT INTO content_key(leaf, wrapped) VALUES(?,?)")                       \
    X(CONTENT_PUT, "INSERT INTO content(leaf, expires_us, redacted, kid, bytes) "                  \
      "VALUES(?,?,?,?,?)")                                                                         \
    X(CONTENT_KEY_IS, "SELECT 1 FROM content_key WHERE leaf = ? AND wrapped = ?")                  \
    X(CONTENT_KEY_WIPE, "UPDATE content_key SET wrapped = ? WHERE leaf = ?")                       \
    X(CONTENT_DROP, "DELETE FROM content WHERE leaf = ?")                                          \
    X(CONTENT_OLDEST, "SELECT 1 FROM content WHERE expires_us <= ? LIMIT 1")                       \
    X(CONTENT_KEYS_EXPIRED, "UPDATE content_key SET wrapped = ? WHERE leaf IN "                    \
      "(SELECT leaf FROM content WHERE expires_us <= ? ORDER BY expires_us, leaf LIMIT ?)")        \
    X(CONTENTS_EXPIRED, "DELETE FROM content WHERE leaf IN "                                       \
      "(SELECT leaf FROM content WHERE expires_us <= ? ORDER BY expires_us, leaf LIMIT ?)")        \
    X(CONTENTS_FROM, "SELECT c.leaf, d.decision_id, d.agent_id, b.tenant, d.time_us "              \
      "FROM content AS c CROSS JOIN record AS r "                                                   \
      "JOIN record AS d ON d.leaf = " WRIT_DISK_DECIDED " " \
      "JOIN boundary AS b ON b.id = d.boundary "                                                   \
      "WHERE r.leaf = c.leaf AND c.leaf >= ? AND d.leaf < ? ORDER BY c.leaf LIMIT ?")              \
    X(CONTENTS_OF, "SELECT c.leaf, d.decision_id, d.agent_id, b.tenant, d.time_us "                \
      "FROM record AS r CROSS JOIN content AS c "                                                   \
      "JOIN record AS d ON d.leaf = " WRIT_DISK_DECIDED " " \
      "JOIN boundary AS b ON b.id = d.boundary "                                                   \
      "WHERE c.leaf = r.leaf AND r.decision_id = ? ORDER BY c.leaf")                               \
    X(RESULTS_FROM, "SELECT s.leaf, d.decision_id, d.agent_id, b.tenant, d.time_us "               \
      "FROM result AS s CROSS JOIN record AS d "                                                   \
      "JOIN boundary AS b ON b.id = d.boundary "                                                   \
      "WHERE d.leaf = s.leaf AND s.leaf >= ? ORDER BY s.leaf LIMIT ?")                             \
    X(RESULT_DROP, "DELETE FROM result WHERE leaf = ?")                                            \
    X(RESULTS_CLEAR, "DELETE FROM result")                                                         \
    X(REVIEWS_SHOWN, WRIT_SQL_MANY "SELECT d.leaf, v.id, d.agent_id, b.tenant, d.time_us "                       \
      "FROM review AS v CROSS JOIN record AS d "                                                   \
      "JOIN boundary AS b ON b.id = d.boundary WHERE d.leaf = v.leaf AND v.arguments IS NOT NULL") \
    X(ERASING_PUT, WRIT_DISK_META("erasing", "?")) \
    X(ERASING_GET, "SELECT value FROM meta WHERE name = 'erasing'")                                \
    X(ERASING_DROP, "DELETE FROM meta WHERE name = 'erasing'")                                     \
    X(UNCUT_PUT, WRIT_DISK_META("uncut", "'1'")) \
    X(UNCUT_GET, "SELECT value FROM meta WHERE name = 'uncut'")                                    \
    X(UNCUT_DROP, "DELETE FROM meta WHERE name = 'uncut'")                                         \
    X(SESSION_PUT, "INSERT INTO session(hash, value, expires_us, tenant, boundary) "               \
      "VALUES(?,?,?,?,?) ON CONFLICT(hash) DO UPDATE SET value = excluded.value, "                 \
      "expires_us = excluded.expires_us, tenant = excluded.tenant, boundary = excluded.boundary")                                                                         \
    X(SESSION_GET, "SELECT value, expires_us FROM session WHERE hash = ?")                         \
    X(SESSION_DROP, "DELETE FROM session WHERE hash = ?")                                          \
    X(SESSIONS, WRIT_SQL_MANY "SELECT hash, expires_us, tenant, boundary FROM session")                          \
    X(SESSIONS_CLEAR, "DELETE FROM session")                                                       \
    X(SESSIONS_EXPIRED, "DELETE FROM session WHERE expires_us <= ?")                               \
    X(WAIT_PUT, "INSERT INTO wait(leaf, name, kind, until_us) VALUES(?,?,?,?)")                    \
    X(WAIT_BIND, "UPDATE wait SET kind = ?, until_us = ? WHERE leaf = ?")                          \
    X(WAIT_DROP, "DELETE FROM wait WHERE leaf = ?")                                                \
    X(WAITS, WRIT_SQL_MANY "SELECT leaf, name, kind, until_us FROM wait")                                        \
    X(REVIEW_PUT, "INSERT INTO review(id, leaf, name, arguments) VALUES(?,?,?,?)")                 \
    X(REVIEW_OVER, "UPDATE review SET arguments = NULL WHERE id = ?")                              \
    X(REVIEW_DROP, "DELETE FROM review WHERE id = ?")                                              \
    X(REVIEWS, WRIT_SQL_MANY "SELECT id, leaf, name FROM review ORDER BY leaf")                                  \
    X(REVIEW_ARGUMENTS, "SELECT arguments FROM review WHERE id = ?")                               \
    X(REVIEW_RECORDS, "SELECT r.leaf, r.kind, (SELECT line_at(bytes, r.leaf - leaf) FROM body "    \
      "WHERE leaf <= r.leaf ORDER BY leaf DESC LIMIT 1) FROM record AS r " /* no join: reader.tbl.h */ \
      "WHERE r.decision_id = ? AND r.leaf >= ? ORDER BY r.leaf")                                   \
    X(FACTS, WRIT_SQL_MANY WRIT_DISK_FACTS("leaf >= 0"))                                          \
    X(FACTS_FROM, WRIT_SQL_MANY WRIT_DISK_FACTS("leaf > ?1"))                                      \
    X(CALL_AT, "SELECT d.decision_id, d.agent_id, b.tenant, d.time_us FROM record AS d "           \
      "JOIN boundary AS b ON b.id = d.boundary WHERE d.leaf = ?")                                  \
    X(FACTS_COUNT, "SELECT (SELECT count(*) FROM record WHERE kind = 5 AND leaf < ?1) "            \
      "+ (SELECT count(*) FROM fact WHERE leaf < ?1)")                                             \
    X(REVIEW_COUNT, "SELECT count(*) FROM record WHERE decision_id = ? AND kind = 4 AND leaf < ?") \
    X(HIDDEN, "SELECT (SELECT count(*) FROM record AS r WHERE +r.kind = 4 AND r.leaf >= ?1 "        \
      "AND NOT EXISTS (SELECT 1 FROM record AS i WHERE i.decision_id = r.decision_id "             \
      "AND +i.leaf = r.leaf)) "                                                                    \
      "+ abs((SELECT count(*) FROM record WHERE +kind = 5 AND leaf >= ?1) "                        \
      "- (SELECT count(*) FROM record WHERE kind = 5 AND leaf >= ?1))")                            \
    X(SESSION_COUNT, "SELECT count(*) FROM session")                                               \
    X(SEGMENT_PUT, "INSERT INTO segment(id, bytes) VALUES(?,?) "                                \
      "ON CONFLICT(id) DO UPDATE SET bytes = excluded.bytes")                                  \
    X(SEGMENT_BLOCK, "SELECT bytes FROM segment WHERE id = ?")                                     \
    X(SEGMENT_DROP, "DELETE FROM segment WHERE id IN "                                             \
      "(SELECT id FROM segment WHERE id >= ? AND id < ? ORDER BY id LIMIT ?)")                     \
    X(MANIFEST_DROP, "DELETE FROM segment WHERE id < 0 OR id >= 4611686018427387904")                    \
    X(SEGMENT_ENDS, "SELECT (SELECT min(id) FROM segment), "                                       \
      "(SELECT max(id) FROM segment WHERE id < 4611686018427387904), (SELECT max(id) FROM segment)")         \
    X(COPYING_GET, "SELECT 1 FROM meta WHERE name = 'copying'")                                    \
    X(TIME_AT, WRIT_DISK_TIME)                                                                     \
    X(FIRST, "SELECT leaf, time_us FROM record ORDER BY leaf LIMIT 1")                             \
    X(GROUP_AT, "SELECT leaf FROM head WHERE leaf <= ? ORDER BY leaf DESC LIMIT 1")                \
    X(GROUP_AFTER, "SELECT leaf FROM head WHERE leaf > ? ORDER BY leaf LIMIT 1")                   \
    X(BOUNDARY_OLDEST, "SELECT first_leaf, name FROM boundary WHERE seal_leaf IS NULL "            \
      "ORDER BY first_leaf LIMIT 1")                                                               \
    X(REVIEW_OLDEST, "SELECT leaf, id FROM review ORDER BY leaf LIMIT 1")                          \
    X(WAIT_OLDEST, "SELECT leaf FROM wait ORDER BY leaf LIMIT 1")                                  \
    X(RESULT_OLDEST, "SELECT leaf FROM result ORDER BY leaf LIMIT 1")                              \
    X(CONTENT_FIRST, "SELECT leaf FROM content ORDER BY leaf LIMIT 1")                             \
    X(CONTENT_CROSSING, "SELECT min(d.leaf) FROM content AS c CROSS JOIN record AS r "             \
      "JOIN record AS d ON d.leaf = " WRIT_DISK_DECIDED " "                                        \
      "WHERE c.leaf >= ?1 AND c.leaf <= (SELECT coalesce(max(seal_leaf), -1) FROM boundary "       \
      "WHERE first_leaf < ?1) AND r.leaf = c.leaf AND r.kind IN (2, 4) AND d.leaf < ?1")           \
    X(RUNS_BETWEEN, WRIT_SQL_MANY WRIT_RUNS_BETWEEN)                                               \
    X(REMOVE_FACTS, "INSERT INTO fact(leaf, bytes) SELECT r.leaf, line_at(y.bytes, r.leaf - y.leaf) " \
      "FROM record AS r JOIN body AS y ON y.leaf = (SELECT max(leaf) FROM body WHERE leaf <= r.leaf) " \
      "WHERE r.kind = 5 AND r.leaf < ?")                                                           \
    X(REMOVE_RECORDS, "DELETE FROM record WHERE leaf < ?")                                         \
    X(REMOVE_BODIES, "DELETE FROM body WHERE leaf < ?")                                            \
    X(POOL_ADD, "INSERT INTO pool(leaf, tenant, agent_id, name, expires_us, bytes) "               \
      "VALUES(?,?,?,?,?,?)")                                                                       \
    X(POOL_NAMED, "SELECT leaf, expires_us FROM pool WHERE name = ? AND expires_us > ? "           \
      "ORDER BY leaf DESC LIMIT 1")                                                                \
    X(POOL_AT, "SELECT agent_id, bytes FROM pool WHERE leaf = ? AND tenant = ? AND expires_us > ?") \
    X(POOL_SUM, "SELECT count(*), coalesce(sum(length(bytes)), 0) FROM pool WHERE tenant = ? "     \
      "AND expires_us > ?")                                                                        \
    X(POOL_FROM, WRIT_SQL_MANY "SELECT leaf, agent_id, expires_us, bytes FROM pool "               \
      "WHERE tenant = ? AND leaf >= ? AND expires_us > ? ORDER BY leaf")                           \
    X(POOL_DROP, "DELETE FROM pool WHERE leaf = ?")                                                \
    X(POOL_EXPIRED, "DELETE FROM pool WHERE expires_us <= ?")                                      \
    X(PROBE, "REPLACE INTO meta(name, value) VALUES('probe', ?)") /* writes the same value, too */
/* clang-format on */

#endif
