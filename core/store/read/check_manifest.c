/* One transaction reads the note, the bytes and the pieces of segments, so that they belong
 * together; blocks, which may be many, are read one by one. */
#include "store/read/check.h"

#include "store/disk/manifest_note.h"
#include "store/tables/segments.h"

#define BATCH     512 /* blocks, from one call of `progress` to the next */
#define BYTES_MAX ((size_t)1 << 36)
#define NOTE_MAX  ((size_t)16 << 20) /* of a row */

struct checking {
    struct writ_check *v;
    struct writ_buf note, bytes;
    struct writ_manifest_stated stated;
    struct writ_segment *segments;
    bool wrong; /* a problem was reported */
    bool over;  /* there is another note now */
    bool (*progress)(void *ctx, uint64_t done, uint64_t all);
    void *ctx;
};

static void
say(struct checking *c, const char *what)
{
    if (!c->wrong) {
        writ_check_problem(
            c->v, c->stated.leaf, "what is kept for the next start (table `segment`) %s", what);
    }
    c->wrong = true;
}

/* Stays at the row, until the statement is reset. */
static WRIT_RESULT
find(struct checking *c, uint64_t id, struct writ_view *ret)
{
    struct writ_sql_statement *s = c->v->statements[WRIT_CHECK_SQL_SEGMENT];
    bool row = false;

    writ_sql_reset(s);
    writ_sql_bind_int(s, 1, (int64_t)id);
    WRIT_TRY(writ_check_next(c->v, WRIT_CHECK_SQL_SEGMENT, &row, c->v->err));
    *ret = row ? writ_column_bytes(s, 0) : writ_view(NULL, 0);
    return WRIT_DONE;
}

static WRIT_RESULT
check_note(struct checking *c)
{
    const struct writ_heads_trust *trust = &c->v->trust;
    enum writ_heads_signed who = WRIT_HEADS_SIGNED;
    struct writ_note note;

    if (!writ_is_ok(writ_note_read(writ_buf_view(&c->note), &note, NULL)) ||
        !writ_manifest_note_read(note.text, writ_buf_view(&trust->origin), &c->stated)) {
        say(c, "has no readable note");
        return WRIT_DONE;
    }
    if (c->v->report->is_signed) {
        WRIT_TRY(writ_heads_who_signed(trust, &note, INT64_MAX, &who, c->v->err));
    }
    if (who == WRIT_HEADS_UNSIGNED) { /* a note that a revoked key signed is not trusted, which is
                                         not a problem */
        say(c, "is not signed by a key of this ledger");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_root(struct checking *c)
{
    struct writ_tree_source source = writ_heads_source(&c->v->heads);
    struct writ_tree_edge edge;
    struct writ_digest root;
    writ_result result = writ_tree_edge_of(&source, c->stated.leaf, &edge, c->v->err);

    if (writ_is_ok(result)) {
        result = writ_tree_root(&edge, &root, c->v->err);
    }
    if (result.code == WRIT_E_MISMATCH || result.code == WRIT_E_LIMIT ||
        (writ_is_ok(result) && !writ_digest_equal(&root, &c->stated.root))) {
        say(c, "is over other records");
        return WRIT_DONE;
    }
    return result;
}

static WRIT_RESULT
check_bytes(struct checking *c)
{
    struct writ_view piece = writ_view("", 0);
    struct writ_digest digest;

    for (uint64_t i = 0; piece.ptr != NULL && c->bytes.len < c->stated.bytes; i++) {
        WRIT_TRY(find(c, writ_manifest_note_row(c->stated.area, i), &piece));
        writ_buf_put(&c->bytes, piece);
    }
    WRIT_TRY(writ_buf_check(&c->bytes, c->v->err));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&c->bytes), &digest, c->v->err));
    if (c->bytes.len != c->stated.bytes || !writ_digest_equal(&digest, &c->stated.digest)) {
        say(c, "has changed since it was written");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_segment(void *ctx, struct writ_segment *segment)
{
    struct checking *c = ctx;
    struct writ_digest_stream memory;
    struct writ_digest digest;
    bool whole = true;

    segment->next = c->segments;
    c->segments = segment;
    WRIT_TRY(writ_digest_stream_init(&memory, c->v->err));
    for (size_t i = 0; whole && i < writ_segment_pieces(segment); i++) {
        struct writ_view piece;

        WRIT_TRY(find(c, writ_segments_piece_row(segment, i), &piece));
        whole = piece.ptr != NULL && writ_segment_take_piece(segment, i, piece);
        WRIT_TRY(writ_digest_stream_add(&memory, piece, c->v->err));
    }
    WRIT_TRY(writ_digest_stream_end(&memory, &digest, c->v->err));
    if (!whole || !writ_digest_equal(&digest, &segment->memory)) {
        say(c, "does not have the segments that were written");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_memory(struct checking *c)
{
    struct writ_packed bytes = {0};
    struct writ_view note;
    writ_result result;

    WRIT_TRY(find(c, WRIT_MANIFEST_NOTE, &note));
    c->over = note.ptr == NULL;
    if (c->over) {
        return WRIT_DONE;
    }
    writ_buf_put(&c->note, note);
    WRIT_TRY(writ_buf_check(&c->note, c->v->err));
    WRIT_TRY(check_note(c));
    if (!c->wrong) {
        WRIT_TRY(check_root(c));
    }
    if (!c->wrong) {
        WRIT_TRY(check_bytes(c));
    }
    if (c->wrong) {
        return WRIT_DONE;
    }
    bytes.left = writ_buf_view(&c->bytes);
    (void)writ_packed_bytes(&bytes, WRIT_MANIFEST_NUMBERS * sizeof(uint64_t));
    result = writ_segments_read(&bytes, take_segment, c, c->v->err);
    if (result.code == WRIT_E_MISMATCH) {
        say(c, "is not readable");
        return WRIT_DONE;
    }
    return result;
}

/* There may be another note by now, which does not name the missing rows. */
static WRIT_RESULT
doubt(struct checking *c)
{
    struct writ_view note;

    WRIT_TRY(find(c, WRIT_MANIFEST_NOTE, &note));
    c->over = note.ptr == NULL || !writ_view_equal(note, writ_buf_view(&c->note));
    if (!c->over) {
        say(c, "does not have the blocks that were written");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_block(struct checking *c, const struct writ_segment *segment, size_t block)
{
    struct writ_view bytes;
    writ_result result;

    WRIT_TRY(find(c, writ_segments_block_row(segment, block), &bytes));
    result =
        writ_segment_check(segment, block, bytes.ptr == NULL ? writ_view("", 0) : bytes, c->v->err);
    return result.code == WRIT_E_MISMATCH ? doubt(c) : result;
}

static WRIT_RESULT
check_blocks(struct checking *c, const struct writ_segment *segment)
{
    for (size_t block = 0; block < segment->blocks_n && !c->wrong && !c->over; block++) {
        WRIT_TRY(check_block(c, segment, block));
        if (block % BATCH == 0 && c->progress != NULL) {
            writ_sql_reset(c->v->statements[WRIT_CHECK_SQL_SEGMENT]);
            if (!c->progress(c->ctx, c->stated.leaf, c->stated.leaf)) {
                WRIT_FAIL(c->v->err, WRIT_E_BUSY, "the verification was stopped");
            }
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check(struct checking *c)
{
    writ_result result;

    WRIT_TRY(writ_sql_begin(c->v->sql, WRIT_SQL_READ, c->v->err));
    result = check_memory(c);
    writ_sql_reset(c->v->statements[WRIT_CHECK_SQL_SEGMENT]);
    writ_sql_rollback(c->v->sql);
    WRIT_TRY(result);
    for (const struct writ_segment *at = c->segments; at != NULL; at = at->next) {
        WRIT_TRY(check_blocks(c, at));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_manifest(
    struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx)
{
    struct checking c = {.v = v,
        .note = writ_buf_make(NOTE_MAX),
        .bytes = writ_buf_make(BYTES_MAX),
        .progress = progress,
        .ctx = ctx};
    writ_result result = check(&c);

    writ_sql_reset(v->statements[WRIT_CHECK_SQL_SEGMENT]);
    while (c.segments != NULL) {
        struct writ_segment *next = c.segments->next;

        writ_segment_free(c.segments);
        c.segments = next;
    }
    writ_buf_wipe(&c.note);
    writ_buf_wipe(&c.bytes);
    return result;
}
