/* Reads a section by the rows of the table, one field for each row. A faulty value leaves its field
 * zero and a finding. Members without a row are refused. */
#include "policy/read/option.h"

#include "base/text.h"
#include "policy/model/host.h"
#include "policy/model/scopes.h"
#include "policy/read/changes.h"

#include <arpa/inet.h>

#define NAMES_MAX       64 /* most options of one section, and most words of one option */
#define SOCKET_SCHEME   "unix:"
#define SOCKET_PATH_MAX 107 /* bytes; the system takes no more */
#define NEAREST_MAX     40  /* longest word with a suggestion */

/* ---- the nearest word */

static size_t
least_of(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* Levenshtein distance of two words of at most NEAREST_MAX bytes. */
static size_t
distance(struct writ_view a, struct writ_view b)
{
    size_t row[NEAREST_MAX + 1];

    for (size_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t above = row[j];
            row[j] = least_of(
                row[j] + 1, row[j - 1] + 1, corner + (a.ptr[i - 1] == b.ptr[j - 1] ? 0 : 1));
            corner = above;
        }
    }
    return row[b.len];
}

const char *
writ_option_nearest(struct writ_view text, const char *const *words, size_t n)
{
    size_t best = text.len / 3 + 1; /* a third of the letters may be wrong */
    const char *nearest = NULL;

    for (size_t i = 0; i < n && text.len <= NEAREST_MAX; i++) {
        struct writ_view word = writ_view_str(words[i]);
        size_t away = word.len <= NEAREST_MAX ? distance(text, word) : NEAREST_MAX;
        if (away < best || (away == best && nearest == NULL)) {
            best = away;
            nearest = words[i];
        }
    }
    return nearest;
}

/* ---- scalars */

void *
writ_option_memory(struct writ_options *o, size_t n, size_t size)
{
    void *memory = NULL;
    size_t bytes;

    if (!__builtin_mul_overflow(n > 0 ? n : 1, size, &bytes)) {
        memory = writ_arena_get(o->arena, bytes);
    }
    o->nomem = o->nomem || memory == NULL;
    return memory;
}

bool
writ_option_text(struct writ_options *o, const struct writ_yaml *node)
{
    if (node->type == WRIT_YAML_NONE) {
        return false;
    }
    if (node->type != WRIT_YAML_SCALAR || writ_yaml_is_empty(node)) {
        WRIT_OPTION_FAULT(o, node, "must be a text, not %s", writ_yaml_type_name(node));
        return false;
    }
    for (size_t i = 0; i < node->text.len; i++) {
        if ((unsigned char)node->text.ptr[i] < 0x20 || node->text.ptr[i] == 0x7f) {
            WRIT_OPTION_FAULT(o, node, "has a control character at byte %zu", i);
            return false;
        }
    }
    return true;
}

static void
fault_wants(struct writ_options *o, const struct writ_yaml *node, const char *wanted)
{
    if (node->type != WRIT_YAML_NONE) {
        WRIT_OPTION_FAULT(o, node, "must be %s, not %s", wanted, writ_yaml_type_name(node));
    }
}

/* A non-empty scalar; else a finding. */
static bool
is_scalar(struct writ_options *o, const struct writ_yaml *node, const char *wanted)
{
    if (node->type != WRIT_YAML_SCALAR || writ_yaml_is_empty(node)) {
        fault_wants(o, node, wanted);
        return false;
    }
    return true;
}

static void
read_text(struct writ_options *o, const struct writ_setting *s, const struct writ_yaml *node,
    struct writ_view *ret)
{
    if (!writ_option_text(o, node)) {
        return;
    }
    if (node->text.len < (size_t)s->least || node->text.len > (size_t)s->most) {
        WRIT_OPTION_FAULT(o, node, "must have %lld to %lld bytes, not %zu", (long long)s->least,
            (long long)s->most, node->text.len);
        return;
    }
    if (writ_host_has_user(node->text) && !writ_host_is_database(node->text)) {
        WRIT_OPTION_FAULT(o, node,
            "must not have a user or a password before its host. Put the secret into a file, and "
            "name the file");
        return;
    }
    *ret = node->text;
}

/* "allow, deny" */
static void
put_words(const char *const *words, size_t n, struct writ_buf *ret)
{
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(ret, i > 0 ? ", " : "");
        writ_buf_str(ret, words[i]);
    }
}

static void
read_path(struct writ_options *o, const struct writ_setting *s, const struct writ_yaml *node,
    struct writ_view *ret)
{
    read_text(o, s, node, ret);
    *ret = writ_option_path(o, *ret);
}

static void
read_word(
    struct writ_options *o, const struct writ_setting *s, const struct writ_yaml *node, int *ret)
{
    writ_auto_buf list = writ_buf_make(WRIT_FINDING_TEXT_MAX);
    const char *words[NAMES_MAX];
    const char *nearest;
    size_t n = 0;

    if (!is_scalar(o, node, "a word")) {
        return;
    }
    for (const struct writ_word *w = s->words; w->word != NULL && n < NAMES_MAX; w++) {
        if (writ_view_is(node->text, w->word)) {
            *ret = w->value;
            return;
        }
        words[n++] = w->word;
    }
    put_words(words, n, &list);
    nearest = writ_option_nearest(node->text, words, n);
    WRIT_OPTION_FAULT(o, node, "does not know \"%.*s\"%s%s%s Use one of: " WRIT_VIEW_FMT,
        (int)writ_view_sub(node->text, 0, 64).len, node->text.ptr,
        nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
        nearest != NULL ? "\"?" : ".", WRIT_VIEW_ARG(writ_buf_view(&list)));
}

static void
read_switch(struct writ_options *o, const struct writ_yaml *node, bool *ret)
{
    if (!is_scalar(o, node, "true or false")) {
        return;
    }
    if (!writ_view_is(node->text, "true") && !writ_view_is(node->text, "false")) {
        WRIT_OPTION_FAULT(o, node, "must be true or false, written so");
        return;
    }
    *ret = writ_view_is(node->text, "true");
}

/* ---- amounts with units */

struct unit {
    const char *name;
    int64_t scale;
};

static const struct unit no_units[] = {{"", 1}, {NULL, 0}};
static const struct unit size_units[] = {
    {"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1024 * 1024 * 1024}, {NULL, 0}};
static const struct unit duration_units[] = {{"ms", 1000}, {"s", 1000000}, {"m", 60000000},
    {"h", 3600000000LL}, {"d", 86400000000LL}, {NULL, 0}};

static const char *
unit_wanted(enum writ_setting_kind kind)
{
    if (kind == WRIT_SETTING_SIZE) {
        return "a size such as 65536, 64KiB or 4MiB";
    }
    return kind == WRIT_SETTING_DURATION ? "a duration such as 500ms, 60s, 10m, 24h or 7d"
                                         : "a whole number";
}

static const struct unit *
unit_of(enum writ_setting_kind kind, struct writ_view name)
{
    const struct unit *unit = kind == WRIT_SETTING_SIZE       ? size_units
                              : kind == WRIT_SETTING_DURATION ? duration_units
                                                              : no_units;

    while (unit->name != NULL && !writ_view_is(name, unit->name)) {
        unit++;
    }
    return unit->name != NULL ? unit : NULL;
}

/* Appends an amount in the form that a person would write. */
static void
put_amount(struct writ_buf *buf, enum writ_setting_kind kind, int64_t amount)
{
    const struct unit *list = kind == WRIT_SETTING_SIZE       ? size_units
                              : kind == WRIT_SETTING_DURATION ? duration_units
                                                              : no_units;
    const struct unit *best = list;

    for (const struct unit *unit = list; unit->name != NULL; unit++) {
        best = amount > 0 && amount % unit->scale == 0 ? unit : best;
    }
    writ_buf_i64(buf, amount / best->scale);
    writ_buf_str(buf, best->name);
}

static void
fault_range(struct writ_options *o, const struct writ_setting *s, const struct writ_yaml *node)
{
    writ_auto_buf range = writ_buf_make(128);

    put_amount(&range, s->kind, s->least);
    writ_buf_str(&range, " to ");
    put_amount(&range, s->kind, s->most);
    WRIT_OPTION_FAULT(
        o, node, "is out of range: must be " WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&range)));
}

static void
read_amount(struct writ_options *o, const struct writ_setting *s, const struct writ_yaml *node,
    int64_t *ret)
{
    const struct unit *unit;
    size_t digits = 0;
    uint64_t number = 0;
    int64_t amount = 0;
    writ_result result;

    if (!is_scalar(o, node, unit_wanted(s->kind))) {
        return;
    }
    while (
        digits < node->text.len && node->text.ptr[digits] >= '0' && node->text.ptr[digits] <= '9') {
        digits++;
    }
    unit = unit_of(s->kind, writ_view_sub(node->text, digits, node->text.len));
    result = writ_text_u64(writ_view_sub(node->text, 0, digits), 0, INT64_MAX, &number);
    if (unit == NULL || result.code == WRIT_E_PARSE) {
        WRIT_OPTION_FAULT(o, node, "must be %s", unit_wanted(s->kind));
        return;
    }
    if (!writ_is_ok(result) || __builtin_mul_overflow((int64_t)number, unit->scale, &amount) ||
        amount < s->least || amount > s->most) {
        fault_range(o, s, node);
        return;
    }
    *ret = amount;
}

/* ---- lists, maps, and texts with a form */

bool
writ_option_texts(
    struct writ_options *o, const struct writ_yaml *node, size_t most, struct writ_views *ret)
{
    struct writ_view *items;
    size_t n = 0;
    bool good = true;

    if (node->type != WRIT_YAML_LIST) {
        fault_wants(o, node, "a list of texts");
        return false;
    }
    if (node->count > most) {
        WRIT_OPTION_FAULT(o, node, "has %zu elements; at most %zu are taken", node->count, most);
        return false;
    }
    items = writ_option_memory(o, node->count, sizeof *items);
    if (items == NULL) {
        return false;
    }
    WRIT_YAML_EACH(element, node)
    {
        good = writ_option_text(o, element) && good;
        items[n++] = element->text;
    }
    if (good) {
        *ret = (struct writ_views){items, n};
    }
    return good;
}

bool
writ_option_scopes(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_views *scopes)
{
    bool good = true;

    for (size_t i = 0; i < scopes->n; i++) {
        if (!writ_scopes_is_one(scopes->items[i])) {
            WRIT_OPTION_FAULT(o, node, "element %zu is not an OAuth scope", i);
            good = false;
        }
    }
    return good;
}

static void
read_pairs(struct writ_options *o, const struct writ_setting *s, const struct writ_yaml *node,
    struct writ_pairs *ret)
{
    struct writ_pair *items;
    size_t n = 0;

    if (node->type != WRIT_YAML_MAP) {
        fault_wants(o, node, "a map of texts");
        return;
    }
    if (node->count > (size_t)s->most) {
        WRIT_OPTION_FAULT(
            o, node, "has %zu members; at most %lld are taken", node->count, (long long)s->most);
        return;
    }
    items = writ_option_memory(o, node->count, sizeof *items);
    if (items == NULL) {
        return;
    }
    WRIT_YAML_EACH(member, node)
    {
        if (writ_option_text(o, member)) {
            items[n++] = (struct writ_pair){member->key, member->text};
        }
    }
    *ret = (struct writ_pairs){items, n};
}

static bool
is_loopback(const struct writ_listen_address *address)
{
    return address->ipv6 ? writ_view_is(address->host, "::1")
                         : writ_view_has_prefix(address->host, WRIT_LIT("127."));
}

WRIT_RESULT
writ_option_address(
    struct writ_view text, struct writ_arena *arena, struct writ_listen_address *ret)
{
    struct writ_listen_address address = {.text = text};
    struct writ_view host, port;
    unsigned char bytes[16];
    uint64_t number = 0;
    size_t colon = text.len;

    while (colon > 0 && text.ptr[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return (writ_result){WRIT_E_PARSE};
    }
    host = writ_view_sub(text, 0, colon - 1);
    port = writ_view_sub(text, colon, text.len);
    WRIT_TRY(writ_text_u64(port, 0, 65535, &number));
    if (writ_view_has_prefix(host, WRIT_LIT("[")) && writ_view_has_suffix(host, WRIT_LIT("]"))) {
        host = writ_view_sub(host, 1, host.len - 2);
        address.ipv6 = true;
    } else if (writ_view_is(host, "localhost")) {
        host = WRIT_LIT("127.0.0.1");
    }
    address.host = writ_view_copy(host, arena);
    if (address.host.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (inet_pton(address.ipv6 ? AF_INET6 : AF_INET, address.host.ptr, bytes) != 1) {
        return (writ_result){WRIT_E_PARSE};
    }
    address.port = (uint16_t)number;
    address.loopback = is_loopback(&address);
    *ret = address;
    return WRIT_DONE;
}

/* The path is relative to the folder of the configuration, as every other one. */
static void
read_socket(struct writ_options *o, const struct writ_yaml *node, struct writ_listen_address *ret)
{
    struct writ_view path = writ_view_sub(node->text, sizeof SOCKET_SCHEME - 1, node->text.len);

    if (path.len > 0) {
        path = writ_option_path(o, path);
    }
    if (path.len == 0 || path.len > SOCKET_PATH_MAX) {
        WRIT_OPTION_FAULT(
            o, node, "needs a path of 1 to %d bytes behind " SOCKET_SCHEME, SOCKET_PATH_MAX);
        return;
    }
    *ret = (struct writ_listen_address){.text = writ_option_join(o, SOCKET_SCHEME, path),
        .path = writ_option_join(o, "", path),
        .loopback = true,
        .line = node->line};
}

static void
read_address(struct writ_options *o, const struct writ_yaml *node, struct writ_listen_address *ret)
{
    static const char wanted[] = "must be a literal address and a port, such as 127.0.0.1:8700 or "
                                 "[::1]:8700, or unix: and the path of a socket";
    writ_result result;

    if (!writ_option_text(o, node)) {
        return;
    }
    if (writ_view_has_prefix(node->text, WRIT_LIT(SOCKET_SCHEME))) {
        read_socket(o, node, ret);
        return;
    }
    result = writ_option_address(node->text, o->arena, ret);
    ret->line = node->line;
    if (result.code == WRIT_E_NOMEM) {
        o->nomem = true;
    } else if (!writ_is_ok(result)) {
        WRIT_OPTION_FAULT(o, node, "%s", wanted);
    }
}

static void
read_digest(struct writ_options *o, const struct writ_yaml *node, struct writ_digest *ret)
{
    if (!writ_option_text(o, node)) {
        return;
    }
    if (!writ_is_ok(writ_hex_read(node->text, ret->bytes, sizeof ret->bytes))) {
        WRIT_OPTION_FAULT(o, node, "must be 64 hex digits in lower case");
    }
}

/* ---- sections */

static void
read_setting(
    struct writ_options *o, const struct writ_setting *s, const struct writ_yaml *node, void *field)
{
    switch (s->kind) {
    case WRIT_SETTING_TEXT:
        read_text(o, s, node, field);
        break;
    case WRIT_SETTING_PATH:
        read_path(o, s, node, field);
        break;
    case WRIT_SETTING_WORD:
        read_word(o, s, node, field);
        break;
    case WRIT_SETTING_SWITCH:
        read_switch(o, node, field);
        break;
    case WRIT_SETTING_COUNT:
    case WRIT_SETTING_SIZE:
    case WRIT_SETTING_DURATION:
        read_amount(o, s, node, field);
        break;
    case WRIT_SETTING_TEXTS:
        (void)writ_option_texts(o, node, (size_t)s->most, field);
        break;
    case WRIT_SETTING_PAIRS:
        read_pairs(o, s, node, field);
        break;
    case WRIT_SETTING_ADDRESS:
        read_address(o, node, field);
        break;
    case WRIT_SETTING_DIGEST:
        read_digest(o, node, field);
        break;
    case WRIT_SETTING_INNER: /* read_section */
        break;
    case WRIT_SETTING_NODE:
        *(const struct writ_yaml **)field = node->type != WRIT_YAML_NONE ? node : NULL;
        break;
    }
}

static void
read_absent(
    struct writ_options *o, const struct writ_setting *s, const struct writ_yaml *map, void *field)
{
    struct writ_yaml fallback = {.type = WRIT_YAML_SCALAR, .plain = true};

    if (writ_setting_is_required(s)) {
        if (map != NULL) {
            WRIT_OPTION_FAULT(o, map, "lacks %s: %s", s->name, s->sentence);
        }
    } else if (s->fallback != NULL) {
        fallback.text = writ_view_str(s->fallback);
        read_setting(o, s, &fallback, field);
    }
}

static void
fault_unknown(struct writ_options *o, const struct writ_yaml *member, enum writ_section section)
{
    const char *names[NAMES_MAX];
    const char *nearest;
    size_t n = 0, settings_n;
    const struct writ_setting *settings = writ_setting_all(&settings_n);

    for (size_t i = 0; i < settings_n; i++) {
        if (settings[i].section == section && n < NAMES_MAX) {
            names[n++] = settings[i].name;
        }
    }
    nearest = writ_option_nearest(member->key, names, n);
    WRIT_OPTION_FAULT(o, member, "unknown option%s%s%s", nearest != NULL ? "; did you mean \"" : "",
        nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

static void
refuse_unknown(struct writ_options *o, enum writ_section section, const struct writ_yaml *map)
{
    size_t settings_n;
    const struct writ_setting *settings = writ_setting_all(&settings_n);

    WRIT_YAML_EACH(member, map)
    {
        bool known = false;
        for (size_t i = 0; i < settings_n && !known; i++) {
            known = settings[i].section == section && writ_view_is(member->key, settings[i].name);
        }
        if (!known) {
            fault_unknown(o, member, section);
        }
    }
}

/* The map of a section; a finding for anything else. */
static const struct writ_yaml *
map_of(struct writ_options *o, const struct writ_yaml *node)
{
    if (node != NULL && node->type != WRIT_YAML_MAP) {
        fault_wants(o, node, "a map of options");
        return NULL;
    }
    return node;
}

/* A value that a reload does not take, for the comparison at the next one. */
static void
note(struct writ_options *o, const struct writ_setting *s, const struct writ_option_place *place,
    const void *field)
{
    union {
        struct writ_views texts;
        struct writ_pairs pairs;
        struct writ_listen_address address; /* the longest */
        struct writ_digest digest;
    } left_out = {.address = {.port = 0}};

    read_absent(o, s, NULL, &left_out);
    writ_changes_note(o, s, place, field, &left_out);
}

static void
read_section(struct writ_options *o, enum writ_section section,
    const struct writ_option_place *place, void *ret)
{
    size_t settings_n;
    const struct writ_setting *settings = writ_setting_all(&settings_n);

    for (size_t i = 0; i < settings_n; i++) {
        const struct writ_setting *s = &settings[i];
        void *field = (char *)ret + s->offset;
        const struct writ_yaml *node;

        if (s->section != section) {
            continue;
        }
        node = writ_yaml_get(place->map, writ_view_str(s->name));
        if (s->kind == WRIT_SETTING_INNER) {
            const struct writ_option_place inner = {map_of(o, node), place, s->name};
            read_section(o, s->inner, &inner, field);
        } else if (node != NULL) {
            read_setting(o, s, node, field);
        } else {
            read_absent(o, s, place->map, field);
        }
        if (s->kind != WRIT_SETTING_INNER && s->reload != WRIT_RELOAD_LIVE &&
            section != WRIT_SECTION_included) { /* its lists are noted as those of the file */
            note(o, s, place, field);
        }
    }
    refuse_unknown(o, section, place->map);
}

void
writ_option_read(
    struct writ_options *o, enum writ_section section, const struct writ_yaml *map, void *ret)
{
    const struct writ_option_place place = {.map = map_of(o, map)};

    read_section(o, section, &place, ret);
}

const struct writ_yaml *
writ_option_of(const struct writ_yaml *map, const char *name)
{
    return writ_yaml_get(map, writ_view_str(name));
}

static void
fault_choice(
    struct writ_options *o, const struct writ_yaml *map, const struct writ_setting_group *group)
{
    writ_auto_buf list = writ_buf_make(WRIT_FINDING_TEXT_MAX);
    const char *const *names = group->names;

    for (size_t i = 0; names[i] != NULL; i++) {
        writ_buf_str(&list, i == 0 ? "" : names[i + 1] == NULL ? " and " : ", ");
        writ_buf_str(&list, names[i]);
    }
    WRIT_OPTION_FAULT(o, map, "%s%sneeds %s one of " WRIT_VIEW_FMT,
        group->with != NULL ? group->with : "", group->with != NULL ? " " : "",
        group->kind == WRIT_GROUP_ONE_AT_MOST ? "at most" : "exactly",
        WRIT_VIEW_ARG(writ_buf_view(&list)));
}

void
writ_option_needs_one(
    struct writ_options *o, enum writ_section section, const struct writ_yaml *map)
{
    size_t n;
    const struct writ_setting_group *groups = writ_setting_groups(&n);

    for (size_t i = 0; i < n; i++) {
        if (groups[i].section == section && groups[i].kind == WRIT_GROUP_ONE_OF) {
            fault_choice(o, map, &groups[i]);
        }
    }
}

bool
writ_option_choice(struct writ_options *o, enum writ_section section, const struct writ_yaml *map)
{
    size_t n;
    const struct writ_setting_group *groups = writ_setting_groups(&n);
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        const struct writ_setting_group *group = &groups[i];
        size_t given = 0;
        if (group->section != section || group->kind == WRIT_GROUP_WITH ||
            (group->kind == WRIT_GROUP_ONE_WITH && writ_option_of(map, group->with) == NULL)) {
            continue;
        }
        for (const char *const *name = group->names; *name != NULL; name++) {
            given += writ_option_of(map, *name) != NULL;
        }
        if (given > 1 || (given == 0 && group->kind != WRIT_GROUP_ONE_AT_MOST)) {
            fault_choice(o, map, group);
            good = false;
        }
    }
    return good;
}

bool
writ_option_together(struct writ_options *o, enum writ_section section, const struct writ_yaml *map)
{
    size_t n;
    const struct writ_setting_group *groups = writ_setting_groups(&n);
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        const struct writ_setting_group *group = &groups[i];
        if (group->section != section || group->kind != WRIT_GROUP_WITH ||
            writ_option_of(map, group->with) != NULL) {
            continue;
        }
        for (const char *const *name = group->names; *name != NULL; name++) {
            const struct writ_yaml *option = writ_option_of(map, *name);
            if (option != NULL) {
                WRIT_OPTION_FAULT(o, option, "%s", group->fault);
                good = false;
            }
        }
    }
    return good;
}

struct writ_view
writ_option_join(struct writ_options *o, const char *before, struct writ_view text)
{
    writ_auto_buf buf = writ_buf_make(writ_view_str(before).len + text.len);
    struct writ_view kept = {NULL, 0};

    writ_buf_str(&buf, before);
    writ_buf_put(&buf, text);
    if (writ_is_ok(writ_buf_check(&buf, NULL))) {
        kept = writ_view_copy(writ_buf_view(&buf), o->arena);
    }
    o->nomem = o->nomem || kept.ptr == NULL;
    return kept;
}

WRIT_RESULT
writ_option_file(
    const struct writ_options *o, const char *path, struct writ_buf *ret, struct writ_err *err)
{
    if (o->edited.ptr == NULL || !writ_view_is(o->edited, path)) {
        return writ_text_file(path, WRIT_CONFIG_BYTES_MAX, ret, err);
    }
    writ_buf_put(ret, o->edited_text);
    return writ_buf_check(ret, err);
}

struct writ_view
writ_option_path(struct writ_options *o, struct writ_view path)
{
    writ_auto_buf buf = writ_buf_make(o->folder.len + path.len);
    struct writ_view kept = {NULL, 0};

    if (path.len == 0 || path.ptr[0] == '/' || o->folder.len == 0) {
        return path;
    }
    writ_buf_put(&buf, o->folder);
    writ_buf_put(&buf, path);
    if (writ_is_ok(writ_buf_check(&buf, NULL))) {
        kept = writ_view_copy(writ_buf_view(&buf), o->arena);
    }
    o->nomem = o->nomem || kept.ptr == NULL;
    return kept;
}

struct writ_yaml *
writ_option_root(struct writ_options *o, const struct writ_yaml *root)
{
    struct writ_yaml *copy = writ_option_memory(o, 1, sizeof *copy);

    if (copy == NULL) {
        return NULL;
    }
    *copy = *root;
    for (struct writ_yaml *child = copy->first; child != NULL; child = child->next) {
        if (child->parent == root) { /* not one from another file (fragment.c) */
            child->parent = copy;
        }
    }
    return copy;
}
