/* charge.h - one text of extensions.writ.charges: the amount that a call took from a budget
 * (charges.h). Pure. */
#ifndef WRIT_STORE_CHARGE_H
#define WRIT_STORE_CHARGE_H

#include "base/decimal.h"
#include "evidence/record/extension.h"
#include "store/tables/tag.h"

struct writ_budget_charge {
    struct writ_tag tag; /* of the budget's key */
    int64_t window_us, window;
    struct writ_decimal amount;
    bool held;
};

/** Appends the text. A failure stays in the buffer. */
void writ_charge_put(const struct writ_budget_charge *charge, struct writ_buf *ret);
/** False: this is not the text of a charge. */
bool writ_charge_read(struct writ_view text, struct writ_budget_charge *ret);

/**
 * Calls `each` with every amount that the charges of a call move.
 *
 * @param takes  with what it took; one that is held was taken by the round before
 * @param backs  with what it gives back, negative: the call did not run
 *
 * @return the first failure of `each`; WRIT_E_PARSE: a charge is not readable
 */
WRIT_RESULT writ_charge_each(const struct writ_member_list *charges, bool takes, bool backs,
    writ_result (*each)(
        void *ctx, const struct writ_budget_charge *charge, const struct writ_decimal *amount),
    void *ctx);

/** True when all charges of a record are readable and are of that time, or there are none. */
bool writ_charge_all_good(const struct writ_extension *extension, int64_t issued_us);

#endif
