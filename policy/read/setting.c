/* The rows of option.tbl.h as an array, with offsets into the structs of raw.h, and the words of
 * each option that has them. */
#include "policy/read/setting.h"

#include "evidence/record/profile.h"
#include "evidence/record/review.h"
#include "policy/decide/output.h"
#include "policy/detect/detector.h"
#include "policy/model/op.h"
#include "policy/model/rule.h"

/* Each has a value of its own: a reload compares them. */
#define PROFILE_VALUE(NAME, word, normalization, constant) PROFILE_##NAME,
enum { NO_PROFILE, WRIT_PROFILES(PROFILE_VALUE) };
#define PROFILE_WORD(NAME, word, normalization, constant) {word, PROFILE_##NAME},
static const struct writ_word profile_words[] = {WRIT_PROFILES(PROFILE_WORD){NULL, 0}};
static const struct writ_word sharing_words[] = {
    {"session", WRIT_SHARING_SESSION}, {"all", WRIT_SHARING_ALL}, {NULL, 0}};

#define DUPLICATES_WORD(NAME, word) {word, WRIT_DUPLICATES_##NAME},
static const struct writ_word schema_words[] = {{"accepted", 1}, {NULL, 0}};
static const struct writ_word checksum_words[] = {
    {"luhn", WRIT_CHECKSUM_LUHN}, {"mod97", WRIT_CHECKSUM_MOD97}, {NULL, 0}};
static const struct writ_word integrity_words[] = {{"untrusted", 0}, {"trusted", 1}, {NULL, 0}};
static const struct writ_word duplicates_words[] = {
    WRIT_DUPLICATES(DUPLICATES_WORD){"auto", WRIT_RAW_DUPLICATES_AUTO}, {NULL, 0}};
static const struct writ_word refusal_words[] = {
    {"error", WRIT_REFUSAL_ERROR}, {"result", WRIT_REFUSAL_RESULT}, {NULL, 0}};
static const struct writ_word on_error_words[] = {
    {"deny", WRIT_PROBE_MISSING_DENY}, {"absent", WRIT_PROBE_MISSING_ABSENT}, {NULL, 0}};
#define VOTE_WORD(NAME, name) {#name, WRIT_REVIEW_##NAME},
static const struct writ_word vote_words[] = {WRIT_REVIEW_VOTES(VOTE_WORD){NULL, 0}};
static const struct writ_word is_error_words[] = {{"pass", WRIT_OUTPUT_ERROR_PASS},
    {"error", WRIT_OUTPUT_ERROR_RECORD}, {"refuse", WRIT_OUTPUT_ERROR_REFUSE}, {NULL, 0}};
/* the numbers of enum writ_export_format, which this layer does not see */
static const struct writ_word export_format_words[] = {
    {"json", 0}, {"ocsf", 1}, {"cef", 2}, {NULL, 0}};
/* the members of struct writ_ledger_config.alone */
static const struct writ_word replication_words[] = {
    {"synchronous", 0}, {"none_needed", 1}, {NULL, 0}};
static const struct writ_word odd_words[] = {
    {"tell", WRIT_ODD_TELL}, {"hide", WRIT_ODD_HIDE}, {"refuse", WRIT_ODD_REFUSE}, {NULL, 0}};
static const struct writ_word deny_words[] = {{"deny", 0}, {NULL, 0}};
static const struct writ_word alg_words[] = {
#define WRIT_ALG_ROW(name, jose, kty, bytes) {(jose), WRIT_JWK_ALG_##name},
#include "evidence/jose/alg.tbl.h"
#undef WRIT_ALG_ROW
    {NULL, 0},
};
#define LEVEL_WORD(NAME, word) {word, WRIT_LOG_##NAME},
static const struct writ_word incoming_words[] = {{"link", WRIT_INCOMING_LINK},
    {"parent", WRIT_INCOMING_PARENT}, {"sampled", WRIT_INCOMING_SAMPLED}, {NULL, 0}};
static const struct writ_word level_words[] = {WRIT_LOG_LEVELS(LEVEL_WORD){NULL, 0}};
static const struct writ_word op_words[] = {
#define OP(name, word, kind, sentence) {word, WRIT_OP_##name},
#include "policy/model/op.tbl.h"
#undef OP
    {NULL, 0},
};

/* Only for measuring: a member for each section, so that offsetof finds its fields. */
union sections {
#define SECTION(id, title, type, sentence) type id;
#include "policy/read/option.tbl.h"
};

static const struct writ_section_row sections[WRIT_SECTION_COUNT] = {
#define SECTION(id, title, type, sentence) [WRIT_SECTION_##id] = {#id, title, sentence},
#include "policy/read/option.tbl.h"
};

#define INNER_ROW(of, what, word, field, back, text)                                               \
    .section = WRIT_SECTION_##of, .kind = WRIT_SETTING_##what, .name = (word),                     \
    .offset = offsetof(union sections, of.field), .fallback = (back), .sentence = (text)
#define ROW(of, what, word, field, how, back, text)                                                \
    INNER_ROW(of, what, word, field, back, text), .reload = WRIT_RELOAD_##how

static const struct writ_setting settings[] = {
#define TEXT(of, name, field, how, low, high, back, text)                                          \
    {ROW(of, TEXT, name, field, how, back, text), .least = (low), .most = (high)},
#define PATH(of, name, field, how, low, high, back, text)                                          \
    {ROW(of, PATH, name, field, how, back, text), .least = (low), .most = (high)},
#define WORD(of, name, field, how, list, back, text)                                               \
    {ROW(of, WORD, name, field, how, back, text), .words = (list)},
#define SWITCH(of, name, field, how, back, text) {ROW(of, SWITCH, name, field, how, back, text)},
#define COUNT(of, name, field, how, low, high, back, text)                                         \
    {ROW(of, COUNT, name, field, how, back, text), .least = (low), .most = (high)},
#define SIZE(of, name, field, how, low, high, back, text)                                          \
    {ROW(of, SIZE, name, field, how, back, text), .least = (low), .most = (high)},
#define DURATION(of, name, field, how, low, high, back, text)                                      \
    {ROW(of, DURATION, name, field, how, back, text), .least = (low), .most = (high)},
#define TEXTS(of, name, field, how, high, text)                                                    \
    {ROW(of, TEXTS, name, field, how, NULL, text), .most = (high)},
#define PAIRS(of, name, field, how, high, text)                                                    \
    {ROW(of, PAIRS, name, field, how, NULL, text), .most = (high)},
#define ADDRESS(of, name, field, how, back, text) {ROW(of, ADDRESS, name, field, how, back, text)},
#define DIGEST(of, name, field, how, text)        {ROW(of, DIGEST, name, field, how, NULL, text)},
#define INNER(of, name, field, in, text)                                                           \
    {INNER_ROW(of, INNER, name, field, NULL, text), .inner = WRIT_SECTION_##in},
#define NODE(of, name, field, how, form, back, text)                                               \
    {ROW(of, NODE, name, field, how, back, text), .shape = WRIT_##form},
#include "policy/read/option.tbl.h"
};

#define NAMES(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const struct writ_setting_group groups[] = {
#define GROUP(of, what, other, text, ...)                                                          \
    {WRIT_SECTION_##of, WRIT_GROUP_##what, (other), (text), NAMES(__VA_ARGS__)},
#define ONE_OF(of, ...)            GROUP(of, ONE_OF, NULL, NULL, __VA_ARGS__)
#define ONE_AT_MOST(of, ...)       GROUP(of, ONE_AT_MOST, NULL, NULL, __VA_ARGS__)
#define ONE_WITH(of, other, ...)   GROUP(of, ONE_WITH, other, NULL, __VA_ARGS__)
#define WITH(of, other, text, ...) GROUP(of, WITH, other, text, __VA_ARGS__)
#include "policy/read/option.tbl.h"
};

const struct writ_section_row *
writ_setting_section(enum writ_section section)
{
    WRIT_INVARIANT(section < WRIT_SECTION_COUNT);
    return &sections[section];
}

const struct writ_setting *
writ_setting_all(size_t *ret_n)
{
    *ret_n = sizeof settings / sizeof settings[0];
    return settings;
}

const struct writ_setting_group *
writ_setting_groups(size_t *ret_n)
{
    *ret_n = sizeof groups / sizeof groups[0];
    return groups;
}

const char *
writ_setting_reload_word(enum writ_reload reload)
{
    switch (reload) {
    case WRIT_RELOAD_REFUSED:
        return "refused";
    case WRIT_RELOAD_RESTART:
        return "restart";
    case WRIT_RELOAD_LIVE:
        return "live";
    }
    return "";
}

bool
writ_setting_is_required(const struct writ_setting *setting)
{
    return setting->fallback != NULL && writ_view_is(writ_view_str(setting->fallback), "!");
}
