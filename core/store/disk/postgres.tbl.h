/* postgres.tbl.h - the tables of a ledger on PostgreSQL, and the statements that differ there.
 *
 * X(text) in the order of creation; X(NAME, text) for statements. The tables of disk.tbl.h have the
 * same columns here, each number a bigint and each text or blob a bytea: a name may hold any
 * character, also U+0000. Beside them:
 *
 * - coordinator: one row, with size and root of the tree. Who has it locked has the turn: nobody
 *   else writes (fleet.h). `changes` counts committed turns, `waits` is the last of them that
 *   changed a wait.
 * - gateway: one row for each epoch of a gateway. state is 1 while it is live, 0 afterwards; `turn`
 *   counts its committed turns, `seen` is the size of the log that it knows; its calls are its own
 *   until lease_us, by the clock of the database.
 * - fact: facts among the records that were removed; part: the partitions of `record` and `body`.
 * - claim: one row for each claimed key that stands, of the granted call `leaf`.
 * - head.epoch: the gateway that wrote the group. segment.slot: the gateway, by its name, whose
 *   data for its next start it is. */
#ifndef WRIT_STORE_POSTGRES_TBL_H
#define WRIT_STORE_POSTGRES_TBL_H

#define WRIT_POSTGRES_VERSION 3 /* of the schema: increment it with a migration */

/* clang-format off */
/* The log, in partitions of consecutive records: record_N and body_N from record N on. Times grow with
 * the index, so these are partitions by time, and retention drops whole ones (removal.h). */
#define WRIT_POSTGRES_RECORD                                                                       \
    "CREATE TABLE record(leaf bigint PRIMARY KEY, kind bigint NOT NULL, "                          \
    "boundary bigint NOT NULL, seq bigint NOT NULL, time_us bigint NOT NULL, "                     \
    "verdict bigint NOT NULL, flags bigint NOT NULL, about bigint, decision_id bytea, "            \
    "agent_id bytea, tool bytea, claim bytea) PARTITION BY RANGE (leaf)"
#define WRIT_POSTGRES_BODY                                                                         \
    "CREATE TABLE body(leaf bigint PRIMARY KEY, bytes bytea NOT NULL) PARTITION BY RANGE (leaf)"
#define WRIT_POSTGRES_EXTERNAL "ALTER TABLE body ALTER bytes SET STORAGE EXTERNAL"
#define WRIT_POSTGRES_WHOLE    "toast_tuple_target = 8160" /* a row of a page stays in it */
#define WRIT_POSTGRES_PLAIN /* digests do not compress */                                          \
    "ALTER TABLE segment ALTER bytes SET STORAGE EXTERNAL"
#define WRIT_POSTGRES_DECISION                                                                     \
    "CREATE INDEX record_decision ON record(decision_id) WHERE decision_id IS NOT NULL"
#define WRIT_POSTGRES_SUCCESSOR                                                                    \
    "CREATE INDEX record_successor ON record(about) WHERE kind = 1 AND about IS NOT NULL"
#define WRIT_POSTGRES_FACT "CREATE INDEX record_fact ON record(leaf) WHERE kind = 5"

/* The partitions: records from `leaf` up to `until`; the next one will have `wide` records. */
#define WRIT_POSTGRES_PART                                                                         \
    "CREATE TABLE part(leaf bigint PRIMARY KEY, until bigint NOT NULL, wide bigint NOT NULL)"

/* Makes partitions ahead of need, as the owner of the tables: a gateway may not. It takes no argument,
 * and only numbers of `part` go into its statements. A partition is made apart and then attached, which
 * waits for no reader. Gives the record up to which there is room. */
#define WRIT_POSTGRES_ROOM                                                                         \
    "DO $do$ BEGIN EXECUTE format($f$ CREATE FUNCTION make_room() RETURNS bigint "                 \
    "LANGUAGE plpgsql SECURITY DEFINER SET search_path = %I, pg_temp AS $body$ "                   \
    "DECLARE have bigint; width bigint; need bigint; kind text; BEGIN "                            \
    "PERFORM one FROM coordinator WHERE one = 1 FOR UPDATE; "                                      \
    "SELECT until, wide INTO have, width FROM part ORDER BY until DESC LIMIT 1; "                  \
    "SELECT greatest(size, (SELECT coalesce(max(leaf) + 1, 0) FROM record)) + 65536 "              \
    "INTO need FROM coordinator; "                                                                 \
    "FOR i IN 1..64 LOOP EXIT WHEN have >= need; FOREACH kind IN ARRAY ARRAY['record', 'body'] LOOP " \
    "EXECUTE format('CREATE TABLE %%I (LIKE %%I INCLUDING ALL) WITH (" WRIT_POSTGRES_WHOLE ")', "  \
    "kind || '_' || have, kind); "                                                                 \
    "EXECUTE format('ALTER TABLE %%I ATTACH PARTITION %%I FOR VALUES FROM (%%s) TO (%%s)', "       \
    "kind, kind || '_' || have, have, have + width); END LOOP; "                                   \
    "INSERT INTO part VALUES(have, have + width, width); have := have + width; END LOOP; "         \
    "RETURN have; END $body$ $f$, current_schema()); END $do$"
#define WRIT_POSTGRES_CLOSED "REVOKE ALL ON FUNCTION make_room() FROM PUBLIC"

/* The insights that agents share. */
#define WRIT_POSTGRES_POOL                                                                         \
    "CREATE TABLE pool(leaf bigint PRIMARY KEY, tenant bytea NOT NULL, agent_id bytea NOT NULL, "  \
    "name bytea NOT NULL, expires_us bigint NOT NULL, bytes bytea NOT NULL)"
#define WRIT_POSTGRES_POOL_TENANT "CREATE INDEX pool_tenant ON pool(tenant, leaf)"
#define WRIT_POSTGRES_POOL_NAME   "CREATE INDEX pool_name ON pool(name)"
#define WRIT_POSTGRES_POOL_EXPIRY "CREATE INDEX pool_expiry ON pool(expires_us)"

#define WRIT_POSTGRES_SCHEMA(X)                                                                     \
    X("CREATE TABLE meta(name bytea PRIMARY KEY, value bytea)")                                    \
    X(WRIT_POSTGRES_RECORD)                                                                        \
    X(WRIT_POSTGRES_BODY)                                                                          \
    X(WRIT_POSTGRES_EXTERNAL)                                                                      \
    X(WRIT_POSTGRES_DECISION)                                                                      \
    X("CREATE TABLE boundary(id bigint PRIMARY KEY, tenant bytea NOT NULL, name bytea NOT NULL, "  \
      "first_leaf bigint NOT NULL, seal_leaf bigint)")                                             \
    X("CREATE UNIQUE INDEX boundary_name ON boundary(name, tenant)")                               \
    X("CREATE INDEX boundary_open ON boundary(id) WHERE seal_leaf IS NULL")                        \
    X("CREATE TABLE result(leaf bigint PRIMARY KEY, expires_us bigint NOT NULL, "                  \
      "bytes bytea NOT NULL)")                                                                     \
    X("CREATE TABLE session(hash bytea PRIMARY KEY, value bytea NOT NULL, "                        \
      "expires_us bigint NOT NULL, tenant bytea NOT NULL, boundary bytea NOT NULL)")               \
    X("CREATE TABLE wait(leaf bigint PRIMARY KEY, name bytea NOT NULL, kind bigint NOT NULL, "     \
      "until_us bigint NOT NULL)")                                                                 \
    X("CREATE TABLE review(id bytea PRIMARY KEY, leaf bigint NOT NULL, name bytea NOT NULL, "      \
      "arguments bytea)")                                                                          \
    X("CREATE TABLE head(leaf bigint PRIMARY KEY, size bigint NOT NULL, nodes bytea NOT NULL, "    \
      "note bytea NOT NULL, epoch bigint NOT NULL)")                                               \
    X("ALTER TABLE head ALTER nodes SET STORAGE EXTERNAL, ALTER note SET STORAGE EXTERNAL")        \
    X("CREATE TABLE segment(slot bigint NOT NULL, id bigint NOT NULL, bytes bytea NOT NULL, "      \
      "PRIMARY KEY(slot, id))")                                                                    \
    X(WRIT_POSTGRES_PLAIN)                                                                         \
    X(WRIT_POSTGRES_SUCCESSOR)                                                                     \
    X(WRIT_POSTGRES_FACT)                                                                          \
    X("CREATE TABLE content_key(leaf bigint PRIMARY KEY, wrapped bytea NOT NULL)")                 \
    X("CREATE TABLE content(leaf bigint PRIMARY KEY, expires_us bigint NOT NULL, "                 \
      "redacted bigint NOT NULL, kid bytea NOT NULL, bytes bytea NOT NULL)")                       \
    X("CREATE INDEX content_expiry ON content(expires_us)")                                        \
    X("CREATE TABLE fact(leaf bigint PRIMARY KEY, bytes bytea NOT NULL)")                          \
    X("CREATE TABLE coordinator(one bigint PRIMARY KEY CHECK (one = 1), size bigint NOT NULL, "    \
      "root bytea NOT NULL, changes bigint NOT NULL, waits bigint NOT NULL)")                                           \
    X("INSERT INTO coordinator(one, size, root, changes, waits) VALUES(1, 0, '', 0, 0)")                     \
    X("CREATE TABLE gateway(epoch bigint PRIMARY KEY, slot bigint NOT NULL, name bytea NOT NULL, " \
      "version bytea NOT NULL, policy bytea NOT NULL, started_us bigint NOT NULL, "                \
      "lease_us bigint NOT NULL, turn bigint NOT NULL, seen bigint NOT NULL DEFAULT 0, state bigint NOT NULL)")                    \
    X("CREATE INDEX gateway_live ON gateway(epoch) WHERE state = 1")                               \
    X("CREATE TABLE claim(key bytea PRIMARY KEY, leaf bigint NOT NULL, boundary bigint NOT NULL, " \
      "until_us bigint NOT NULL)")                                                                 \
    X("CREATE UNIQUE INDEX claim_leaf ON claim(leaf)")                                             \
    X("CREATE INDEX claim_until ON claim(until_us)")                                               \
    X("CREATE FUNCTION line_at(bytea, bigint) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT AS "     \
      "$$ SELECT CASE WHEN $2 < 0 THEN NULL ELSE convert_to(split_part("                           \
      "convert_from($1, 'UTF8'), chr(10), $2::int + 1), 'UTF8') END $$")                           \
    X("CREATE FUNCTION line_count(bytea) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS "         \
      "$$ SELECT (1 + length(convert_from($1, 'UTF8')) "                                           \
      "- length(replace(convert_from($1, 'UTF8'), chr(10), '')))::bigint $$") \
    X(WRIT_POSTGRES_PART)                                                                          \
    X("INSERT INTO part VALUES(-1, 0, 4194304)")                                                   \
    X(WRIT_POSTGRES_ROOM)                                                                          \
    X(WRIT_POSTGRES_CLOSED)                                                                        \
    X("SELECT make_room()")                                                                        \
    X(WRIT_POSTGRES_POOL)                                                                          \
    X(WRIT_POSTGRES_POOL_TENANT)                                                                   \
    X(WRIT_POSTGRES_POOL_NAME)                                                                     \
    X(WRIT_POSTGRES_POOL_EXPIRY)

/* The statements that bring the tables to the next version, one X(text) for each version from 2 on
 * (migrate.h). A step may use `meta`, `coordinator` and `gateway` as version 1 has them. */
#define WRIT_POSTGRES_MIGRATIONS(X)                                                                 \
    X("CREATE TABLE fact(leaf bigint PRIMARY KEY, bytes bytea NOT NULL);"                          \
      "ALTER TABLE record RENAME TO record_0; ALTER TABLE body RENAME TO body_0;"                  \
      "ALTER INDEX record_pkey RENAME TO record_0_pkey; ALTER INDEX body_pkey RENAME TO body_0_pkey;" \
      "ALTER INDEX record_decision RENAME TO record_0_decision;"                                   \
      "ALTER INDEX record_successor RENAME TO record_0_successor;"                                 \
      "ALTER INDEX record_fact RENAME TO record_0_fact;"                                           \
      WRIT_POSTGRES_RECORD ";" WRIT_POSTGRES_BODY ";" WRIT_POSTGRES_EXTERNAL ";"                   \
      WRIT_POSTGRES_DECISION ";" WRIT_POSTGRES_SUCCESSOR ";" WRIT_POSTGRES_FACT ";"                \
      WRIT_POSTGRES_PART ";" WRIT_POSTGRES_PLAIN ";"                                               \
      "ALTER TABLE body_0 SET (" WRIT_POSTGRES_WHOLE ");"                                          \
      "DO $$ DECLARE wide bigint; BEGIN SELECT (size / 4194304 + 1) * 4194304 INTO wide "          \
      "FROM coordinator; EXECUTE format('ALTER TABLE record ATTACH PARTITION record_0 "            \
      "FOR VALUES FROM (0) TO (%s)', wide); EXECUTE format('ALTER TABLE body ATTACH PARTITION "    \
      "body_0 FOR VALUES FROM (0) TO (%s)', wide); "                                               \
      "INSERT INTO part VALUES(0, wide, 4194304); END $$;"                                         \
      WRIT_POSTGRES_ROOM ";" WRIT_POSTGRES_CLOSED ";"                                              \
      "DO $$ DECLARE who name; BEGIN FOR who IN SELECT DISTINCT grantee FROM "                     \
      "information_schema.role_table_grants WHERE table_schema = current_schema() "                \
      "AND table_name = 'record_0' AND privilege_type = 'INSERT' AND grantee NOT IN "              \
      "('PUBLIC', current_user) LOOP EXECUTE format('REVOKE ALL ON record_0, body_0 FROM %I', who);" \
      "EXECUTE format('GRANT SELECT, INSERT ON record, body TO %I', who); "                        \
      "EXECUTE format('GRANT SELECT ON fact, part TO %I', who); "                                  \
      "EXECUTE format('GRANT EXECUTE ON FUNCTION make_room() TO %I', who); END LOOP; END $$;"      \
      "SELECT make_room()")                                                                        \
    X(WRIT_POSTGRES_POOL ";" WRIT_POSTGRES_POOL_TENANT ";" WRIT_POSTGRES_POOL_NAME ";"             \
      WRIT_POSTGRES_POOL_EXPIRY ";"                                                                \
      "DO $$ DECLARE who name; BEGIN FOR who IN SELECT DISTINCT grantee FROM "                     \
      "information_schema.role_table_grants WHERE table_schema = current_schema() "                \
      "AND table_name = 'session' AND privilege_type = 'INSERT' AND grantee NOT IN "               \
      "('PUBLIC', current_user) LOOP EXECUTE format("                                              \
      "'GRANT SELECT, INSERT, UPDATE, DELETE ON pool TO %I', who); END LOOP; END $$")

/* What a gateway may do: it adds records and never changes or removes one. */
#define WRIT_POSTGRES_RIGHTS(X)                                                                     \
    X("SELECT, INSERT", "record, body")                                                            \
    X("SELECT", "fact, part")                                                                      \
    X("EXECUTE", "FUNCTION make_room()")                                                           \
    X("SELECT, INSERT, UPDATE (note)", "head")                                                     \
    X("SELECT, INSERT, UPDATE (seal_leaf)", "boundary")                                            \
    X("SELECT, INSERT, UPDATE", "meta, coordinator, gateway")                                      \
    X("SELECT, INSERT, UPDATE, DELETE", "meta, claim, result, session, wait, review, segment, "    \
      "content, content_key, pool")

/* Statements of disk.tbl.h with another text here. */
#define WRIT_POSTGRES_INSERT                                                                       \
    "INSERT INTO record(leaf, kind, boundary, seq, time_us, verdict, flags, about, "               \
    "decision_id, agent_id, tool, claim) "
#define WRIT_POSTGRES_SLOT                                                                         \
    "CAST(coalesce(nullif(current_setting('writ.slot', true), ''), '-1') AS BIGINT)"
#define WRIT_POSTGRES_SEGMENT                                                                      \
    "SELECT bytes FROM segment WHERE slot = " WRIT_POSTGRES_SLOT " AND id = ?"
#define WRIT_POSTGRES_OTHERS(X)                                                                     \
    X(APPEND_RECORD, WRIT_POSTGRES_INSERT "VALUES" WRIT_DISK_ROW)                                  \
    X(APPEND_RECORDS, WRIT_POSTGRES_INSERT "SELECT * FROM unnest(CAST(? AS BIGINT[]), "            \
      "CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), "       \
      "CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BYTEA[]), "        \
      "CAST(? AS BYTEA[]), CAST(? AS BYTEA[]), CAST(? AS BYTEA[]))")                               \
    X(PROBE, WRIT_DISK_META("probe", "?"))                                                         \
    X(APPEND_HEAD, "INSERT INTO head(leaf, size, nodes, note, epoch) VALUES(?,?,?,?, "             \
      "CAST(current_setting('writ.epoch') AS BIGINT))")                                            \
    X(SEGMENT_PUT, "INSERT INTO segment(slot, id, bytes) VALUES(" WRIT_POSTGRES_SLOT ",?,?) "      \
      "ON CONFLICT(slot, id) DO UPDATE SET bytes = excluded.bytes")                                \
    X(SEGMENT_BLOCK, WRIT_POSTGRES_SEGMENT)                                                        \
    X(SEGMENT_DROP, "DELETE FROM segment WHERE slot = " WRIT_POSTGRES_SLOT " AND id IN "           \
      "(SELECT id FROM segment WHERE slot = " WRIT_POSTGRES_SLOT " AND id >= ? AND id < ? "        \
      "ORDER BY id LIMIT ?)")                                                                      \
    X(MANIFEST_DROP, "DELETE FROM segment WHERE slot = " WRIT_POSTGRES_SLOT                        \
      " AND (id < 0 OR id >= 4611686018427387904)")                                                \
    X(SEGMENT_ENDS, "SELECT min(id), max(id) FILTER (WHERE id < 4611686018427387904), max(id) "    \
      "FROM segment WHERE slot = " WRIT_POSTGRES_SLOT)

/* The end of the next ?2 groups from record ?1 on. */
#define WRIT_POSTGRES_NEXT                                                                         \
    "(SELECT max(size) FROM (SELECT size FROM head WHERE leaf >= ?1 ORDER BY leaf LIMIT ?2) AS h)"

/* Statements that only a shared ledger has. */
#define WRIT_POSTGRES_STATEMENTS(X)                                                                 \
    X(TURN_LOCK, "SELECT set_config('idle_in_transaction_session_timeout', "                       \
      "CAST(CAST(? AS BIGINT) AS TEXT), true) FROM coordinator WHERE one = 1 FOR UPDATE")          \
    X(TURN_SEE, "SELECT c.size, c.changes, c.waits, g.state, g.turn, c.root, "                             \
      "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) "                           \
      "FROM coordinator AS c LEFT JOIN gateway AS g ON g.epoch = ? WHERE c.one = 1")               \
    X(TURN_SET, "UPDATE coordinator SET size = ?, root = ?, changes = changes + 1, "                         \
      "waits = CASE WHEN CAST(? AS BIGINT) = 0 THEN waits ELSE changes + 1 END WHERE one = 1")     \
    X(TURN_MINE, "UPDATE gateway SET turn = ?, lease_us = ?, seen = ? WHERE epoch = ? AND state = 1") \
    X(TURN_SEEN, "UPDATE gateway SET seen = ? WHERE epoch = ? AND state = 1")        \
    X(GATEWAY_LAST, "SELECT coalesce(max(epoch), 0), coalesce(max(slot), 0), "                     \
      "coalesce(max(slot) FILTER (WHERE name = ? AND lease_us >= ?), 0) FROM gateway")                               \
    X(SEGMENTS_STALE, "DELETE FROM segment WHERE (slot, id) IN (SELECT s.slot, s.id FROM "         \
      "(SELECT slot FROM gateway GROUP BY slot HAVING max(lease_us) < ?) AS g "                    \
      "JOIN segment AS s ON s.slot = g.slot LIMIT ?)")                                             \
    X(GATEWAY_NAMED, "SELECT epoch, started_us FROM gateway WHERE name = ? ORDER BY epoch DESC "    \
      "LIMIT 1")                                                                                   \
    X(GATEWAY_REPLACE, "UPDATE gateway SET state = 0 WHERE name = ? AND state = 1")                \
    X(GATEWAY_ADD, "INSERT INTO gateway(epoch, slot, name, version, policy, started_us, "          \
      "lease_us, turn, seen, state) VALUES(?,?,?,?,?,?,?,0,?,1)")                                          \
    X(GATEWAY_END, "UPDATE gateway SET state = 0 WHERE epoch = ?")                                 \
    X(GATEWAY_POLICY, "UPDATE gateway SET policy = ? WHERE epoch = ?")                             \
    X(GATEWAYS_DEAD, "UPDATE gateway SET state = 0 WHERE state = 1 AND lease_us < ? "              \
      "AND epoch <> ?")                                                                            \
    X(GATEWAYS_LIVE, "SELECT epoch FROM gateway WHERE state = 1 ORDER BY epoch")                   \
    X(HEAD_EPOCH, "SELECT epoch FROM head WHERE leaf <= ? ORDER BY leaf DESC LIMIT 1")             \
    X(HEADS_NEXT, "SELECT leaf, size, epoch, note FROM head WHERE leaf >= ? ORDER BY leaf "        \
      "LIMIT ?")                                                                                   \
    X(RECORDS_NEXT, "SELECT leaf, kind, boundary, seq, time_us, verdict, flags, about, "           \
      "decision_id, agent_id, tool, claim FROM record WHERE leaf >= ?1 AND leaf < "                \
      WRIT_POSTGRES_NEXT " ORDER BY leaf")                                                         \
    X(BODIES_NEXT, "SELECT leaf, bytes FROM body WHERE leaf >= ?1 AND leaf < "                     \
      WRIT_POSTGRES_NEXT " ORDER BY leaf")                                                         \
    X(BOUNDARIES_NEXT, "SELECT id, tenant, name, first_leaf FROM boundary WHERE id > ?3 "          \
      "AND first_leaf < " WRIT_POSTGRES_NEXT " ORDER BY id")                                       \
    X(VERSION_GET, "SELECT value FROM meta WHERE name = 'version'")                                \
    X(REVIEW_ROW, "SELECT leaf, name FROM review WHERE id = ?")                                    \
    X(SESSION_HOLDS, "SELECT coalesce(max(expires_us), 0) FROM session WHERE tenant = ? "          \
      "AND boundary = ?")                                                                          \
    X(CLAIMS_PUT, "INSERT INTO claim AS c(key, leaf, boundary, until_us) SELECT * FROM "           \
      "unnest(CAST(?1 AS BYTEA[]), CAST(?2 AS BIGINT[]), CAST(?3 AS BIGINT[]), CAST(?4 AS BIGINT[])) " \
      "ON CONFLICT(key) DO UPDATE SET boundary = excluded.boundary, until_us = excluded.until_us, "\
      "leaf = CASE WHEN c.until_us <= ?5 AND NOT EXISTS (SELECT 1 FROM boundary AS b "             \
      "WHERE b.id = c.boundary AND b.seal_leaf IS NULL) THEN excluded.leaf END")                   \
    X(CLAIM_MOVE, "UPDATE claim SET leaf = ? WHERE leaf = ?")                                      \
    X(MAKE_ROOM, "SELECT make_room()")                                                             \
    X(PART_AT, "SELECT leaf, until FROM part WHERE leaf <= ?1 AND until > ?1")                     \
    X(PART_DROP, "DELETE FROM part WHERE leaf = ?")                                                \
    X(CLAIM_OLDEST, "SELECT leaf FROM claim AS c WHERE until_us > ? OR EXISTS (SELECT 1 FROM "     \
      "boundary AS b WHERE b.id = c.boundary AND b.seal_leaf IS NULL) ORDER BY leaf LIMIT 1")      \
    X(CLAIMS_BEFORE, "DELETE FROM claim WHERE leaf < ?")                                           \
    X(GATEWAY_SEEN, "SELECT seen, name FROM gateway WHERE state = 1 ORDER BY seen LIMIT 1")        \
    X(CLAIM_DROP, "DELETE FROM claim WHERE leaf = ?")                                              \
    X(CLAIMS_LAPSED, "DELETE FROM claim WHERE key IN (SELECT key FROM claim AS c "                 \
      "WHERE until_us <= ? AND NOT EXISTS (SELECT 1 FROM boundary AS b WHERE b.id = c.boundary "   \
      "AND b.seal_leaf IS NULL) LIMIT ?)")
/* clang-format on */

#endif
