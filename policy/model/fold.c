/* Looks a code point up in the ranges of fold.tbl.h, which are in ascending order. */
#include "policy/model/fold.h"

#include "policy/model/fold.tbl.h"

static const struct {
    uint32_t first, last;
    char to;
} folds[] = {
#define ROW(first, last, to) {first, last, to},
    WRIT_FOLDS(ROW)
#undef ROW
};

bool
writ_fold_point(uint32_t point, char *ret)
{
    size_t low = 0, high = sizeof folds / sizeof folds[0];

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (point > folds[middle].last) {
            low = middle + 1;
        } else if (point < folds[middle].first) {
            high = middle;
        } else {
            *ret = (char)(folds[middle].to + (int)(point - folds[middle].first));
            return true;
        }
    }
    return false;
}
