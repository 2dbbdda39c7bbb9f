/* The rows of detector.tbl.h as an array. The index of a row is its id. */
#include "policy/detect/detector.h"

#include "policy/model/glob.h"

#define VIEW(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct writ_detector rows[WRIT_DETECTOR_COUNT] = {
#define DETECTOR(family, ID, name_, version_, sentence_)                                           \
    [WRIT_DETECTOR_##ID] = {.name = VIEW(name_),                                                   \
        .called = VIEW(name_ "@" #version_),                                                       \
        .version = (version_),                                                                     \
        .sentence = (sentence_)},
#include "policy/detect/detector.tbl.h"
#undef DETECTOR
};

const struct writ_detector *
writ_detector_builtin(size_t id)
{
    WRIT_INVARIANT(id < WRIT_DETECTOR_COUNT);
    return &rows[id];
}

const struct writ_detector *
writ_detector_of(const struct writ_detectors *own, size_t number)
{
    if (number < WRIT_DETECTOR_COUNT) {
        return writ_detector_builtin(number);
    }
    number -= WRIT_DETECTOR_COUNT;
    return own != NULL && number < own->n ? &own->items[number] : NULL;
}

static struct writ_view
namespace_of(struct writ_view name)
{
    return writ_view_sub(name, 0, writ_view_find(name, '.'));
}

bool
writ_detector_is_reserved(struct writ_view name)
{
    for (size_t i = 0; i < WRIT_DETECTOR_COUNT; i++) {
        if (writ_view_equal(namespace_of(rows[i].name), namespace_of(name))) {
            return true;
        }
    }
    return false;
}

bool
writ_detector_is_named(const struct writ_detector *detector, struct writ_view wanted)
{
    return writ_glob_match(wanted, detector->name) == WRIT_GLOB_YES;
}

/* ---- checksums */

/* The value of a letter or digit, as an IBAN counts them; -1: neither. */
static int
value_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : -1;
}

/* From the last digit on, each second one counts double. */
static bool
luhn_holds(struct writ_view text)
{
    unsigned sum = 0, n = 0;

    for (size_t i = text.len; i-- > 0;) {
        char c = text.ptr[i];
        if (c >= '0' && c <= '9') {
            unsigned digit = (unsigned)(c - '0') * (n % 2 == 1 ? 2 : 1);
            sum += digit > 9 ? digit - 9 : digit;
            n++;
        }
    }
    return n > 1 && sum % 10 == 0;
}

/* The first four characters count last (ISO 13616). */
static bool
mod97_holds(struct writ_view text)
{
    unsigned rest = 0, first = 0, n = 0, values[4] = {0};

    for (size_t i = 0; i < text.len; i++) {
        int value = value_of(text.ptr[i]);
        if (value >= 0 && n++ < 4) {
            values[first++] = (unsigned)value;
        } else if (value >= 0) {
            rest = (rest * (value > 9 ? 100 : 10) + (unsigned)value) % 97;
        }
    }
    for (size_t i = 0; i < first; i++) {
        rest = (rest * (values[i] > 9 ? 100 : 10) + values[i]) % 97;
    }
    return n > 4 && rest == 1;
}

bool
writ_detector_checksum_holds(enum writ_checksum checksum, struct writ_view text)
{
    switch (checksum) {
    case WRIT_CHECKSUM_NONE:
        return true;
    case WRIT_CHECKSUM_LUHN:
        return luhn_holds(text);
    case WRIT_CHECKSUM_MOD97:
        return mod97_holds(text);
    }
    return false;
}
