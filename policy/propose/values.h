/* values.h - the values of `enum`, `const` or several `const`, as values of `in`. null is left out:
 * it is an option of a constraint. */
#ifndef WRIT_POLICY_VALUES_H
#define WRIT_POLICY_VALUES_H

#include "policy/propose/proposal.h"

enum writ_values_form {
    WRIT_VALUES_ENUM,  /* a list of values */
    WRIT_VALUES_CONST, /* one value */
    WRIT_VALUES_FORMS, /* a list of schemas with `const` */
};

struct writ_values {
    struct writ_proposal_value *first;
    struct writ_view pattern; /* for texts that would be placeholders: what `matches` takes */
    bool nomem;
};

/** Reads them. False when a configuration cannot have them: too many, too long, too deep. */
bool writ_values_read(const struct writ_json *value, enum writ_values_form form,
    struct writ_arena *arena, struct writ_values *ret);

/** Leaves out those of other types; true and false are one type. */
void writ_values_keep_type(struct writ_values *values, enum writ_json_type type);

#endif
