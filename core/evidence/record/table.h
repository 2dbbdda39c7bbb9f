/* table.h - reading, writing and checking a record by its table of members.
 *
 * For the files that define a record (decision.c, outcome.c, seal.c, extension.c): they give the
 * struct and the rows; the code that all records share is here. */
#ifndef WRIT_EVIDENCE_TABLE_H
#define WRIT_EVIDENCE_TABLE_H

#include "evidence/record/faults.h"
#include "evidence/record/member.h"

/** The kinds of a member's value; the columns of member.tbl.h. */
enum writ_table_kind {
    WRIT_TABLE_TEXT,
    WRIT_TABLE_DIGEST,
    WRIT_TABLE_LABEL,
    WRIT_TABLE_TIME,
    WRIT_TABLE_CHOICE,
    WRIT_TABLE_LIST,
    WRIT_TABLE_COUNT,
    WRIT_TABLE_NUMBER,
    WRIT_TABLE_FLAG,
    WRIT_TABLE_OBJECT,
};

enum writ_table_nulls { WRIT_TABLE_NEVER, WRIT_TABLE_OR_NULL, WRIT_TABLE_ANSWERS };

/** One member. */
struct writ_table_row {
    struct writ_view name;
    struct writ_view key; /* as it is written: "\"tool\":" */
    const char *pointer;  /* "/tool" */
    size_t offset;        /* of its field in the record's struct */
    enum writ_table_kind kind;
    enum writ_table_nulls nulls;
    unsigned needed; /* set of choices; bit i is choice i */
};

/** One kind of record. */
struct writ_table {
    const char *what; /* "decision": for messages */
    const struct writ_table_row *rows;
    size_t rows_count;
    size_t others;                   /* offset of its struct writ_member_others */
    const struct writ_view *choices; /* the words of its CHOICE member, by enum value */
    size_t choices_count;            /* 0: it has none */
    const char *choice_fault;        /* "is not one of ..." */
};

/** The initializer of a row of `struct type`, from its row in member.tbl.h. */
#define WRIT_TABLE_ROW(type, member_, KIND, NULLS, needed_)                                        \
    {                                                                                              \
        .name = {#member_, sizeof #member_ - 1},                                                   \
        .key = {"\"" #member_ "\":", sizeof #member_ + 2}, .pointer = "/" #member_,                \
        .offset = offsetof(struct type, member_), .kind = WRIT_TABLE_##KIND,                       \
        .nulls = WRIT_TABLE_##NULLS, .needed = (needed_),                                          \
    }

/** Reads an object into a zeroed record struct: writ_decision_read for any table. On failure the
 * struct holds a part. */
WRIT_RESULT writ_table_read(const struct writ_table *table, const struct writ_json *value,
    struct writ_arena *arena, void *record, struct writ_err *err);

/** Appends the canonical form: writ_decision_put for any table. */
WRIT_RESULT writ_table_put(
    const struct writ_table *table, const void *record, struct writ_buf *ret, struct writ_err *err);

/** Checks every row: writ_decision_validate, without the rules between several members. */
void writ_table_check(const struct writ_table *table, const void *record, struct writ_faults *ret);

/** Which choice a text is, or choices_count. */
size_t writ_table_choice(const struct writ_table *table, const struct writ_member_text *text);

#endif
