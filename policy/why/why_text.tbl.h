/* why_text.tbl.h - whether the text around a value is known: NAME, the word in JSON, and the
 * sentence for people when there is no text. */
#ifndef WRIT_POLICY_WHY_TEXT_TBL_H
#define WRIT_POLICY_WHY_TEXT_TBL_H

/* clang-format off */
#define WRIT_WHY_TEXTS(X)                                                                          \
    X(UNASKED, "unasked", "kept texts were not opened")                                            \
    X(SHOWN, "shown", "")                                                                          \
    X(NOWHERE, "nowhere", "no earlier text of the run had it")                                     \
    X(OF_TASK, "of_task", "the text of a task is not kept")                                        \
    X(NOT_READER, "not_reader", "only a subject in content_readers reads kept texts")              \
    X(NOT_KEPT, "not_kept", "the text was not kept: set `contents` with `keep` and `results` for that tool") \
    X(ERASED, "erased", "the kept text was erased, or its time is over")                           \
    X(LOCKED, "locked", "the key of the kept text is not in the key directory")                    \
    X(CHANGED, "changed", "the kept text is not the one of its signed record")                     \
    X(OTHER_KEY, "other_key", "mark.key is not the one of the record: the value cannot be found in the text") \
    X(MOVED, "moved", "the kept text does not have the value there, as after `redact`")             \
    X(NO_RECORD, "no_record", "that call is not in this run of the ledger")                        \
    X(TOO_MANY, "too_many", "the texts of the first values alone are looked up")                   \
    X(TOO_LARGE, "too_large", "the kept text is too large to be searched")                         \
    X(FAILED, "failed", "the text could not be read: try again, and see `writ ledger verify`")
/* clang-format on */

#endif
