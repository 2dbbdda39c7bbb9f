/* bank.h - accounts in an SQLite database, and the used credentials.
 *
 * Every change of the database runs between bank_begin and bank_commit, so the use of a credential
 * and its effect are on disk together or not at all. A function that fails prints why to stderr.
 * For one thread. */
#ifndef BANK_H
#define BANK_H

#include <writ/verify.h>

struct bank;

/** Opens the database, and makes it with two accounts when it is new. NULL on failure; free with
 * bank_close. */
struct bank *bank_open(const char *path);
void bank_close(struct bank *bank);

enum bank_result {
    BANK_FAILED = 0, /* the database cannot be read or written: roll back */
    BANK_DONE,
    BANK_NO_ACCOUNT,
    BANK_NOT_ENOUGH,
};

struct bank_account {
    int64_t cents;
    int64_t version; /* how often it changed */
};

enum bank_result bank_account(
    struct bank *bank, struct writ_view name, struct bank_account *ret_account);

struct bank_transfer {
    struct writ_view decision_id; /* the decision that allowed it */
    struct writ_view from, to;
    int64_t cents;
};

/** Changes both accounts, or nothing unless BANK_DONE. Within a transaction. */
enum bank_result bank_transfer(struct bank *bank, const struct bank_transfer *transfer);

/** Takes the lock of the only writer. */
bool bank_begin(struct bank *bank);
bool bank_commit(struct bank *bank);
void bank_rollback(struct bank *bank);

/** struct writ_verify_call's `use`, with the bank as `ctx`. Within a transaction. */
enum writ_verify_use bank_use(void *ctx, struct writ_view jti, int64_t until_s);

#endif
