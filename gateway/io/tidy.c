#include "gateway/io/tidy.h"

bool
writ_tidy_is_due(struct writ_tidy *tidy, int64_t open)
{
    bool falls = open < tidy->last;

    tidy->last = open;
    if (open > tidy->peak) {
        tidy->peak = open;
    }
    if (tidy->peak < WRIT_TIDY_BURST_MIN || open > tidy->peak / 2 || falls) {
        return false;
    }
    tidy->peak = open;
    return true;
}
