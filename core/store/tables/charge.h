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

/** True when all charges of a record are readable and are of that time, or there are none. */
bool writ_charge_all_good(const struct writ_extension *extension, int64_t issued_us);

#endif
