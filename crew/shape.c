/* Reads shapes and agents files (semantics 2.1 to 2.3). The members, and so the faults, are in the
 * order of the table there. */
#include "crew/shape.h"

/* ---- a role */

static void
read_capabilities(
    struct writ_scan *scan, const struct writ_json *object, struct writ_shape_role *role)
{
    const struct writ_json *value =
        writ_scan_typed(scan, object, "capabilities", WRIT_JSON_OBJECT, WRIT_SCAN_OPTIONAL);
    size_t entered = writ_scan_enter(scan, WRIT_LIT("capabilities"));

    role->thinking_allowed = writ_scan_bool(scan, value, "thinking_allowed", true);
    role->tools = writ_scan_texts(scan, value, "tools", &role->has_tools);
    role->model = writ_scan_text(scan, value, "model", WRIT_SCAN_OPTIONAL);
    writ_scan_leave(scan, entered);
}

/* A string, or {role, consensus?}. False: it is neither. */
static bool
read_invited(struct writ_scan *scan, const struct writ_json *entry, struct writ_view *ret)
{
    const struct writ_json *role = entry, *consensus = NULL;
    struct writ_crew_voting voting;
    struct writ_scan trial;
    bool fits = true;

    if (writ_json_type(entry) == WRIT_JSON_OBJECT) {
        role = writ_json_get(entry, WRIT_LIT("role"));
        consensus = writ_json_get(entry, WRIT_LIT("consensus"));
    }
    if (writ_json_type(role) != WRIT_JSON_STRING) {
        return false;
    }
    if (consensus != NULL) {
        trial = writ_scan_begin(NULL, scan->arena); /* only its form matters */
        trial.engines = scan->engines;
        writ_voting_scan(&trial, consensus, &voting);
        fits = writ_json_type(consensus) == WRIT_JSON_OBJECT && trial.n == 0;
        scan->exhausted |= trial.exhausted;
        writ_buf_wipe(&trial.path);
    }
    *ret = writ_scan_copy(scan, writ_json_string(role));
    return fits;
}

static void
read_invite(struct writ_scan *scan, const struct writ_json *object, struct writ_shape_role *role)
{
    const struct writ_json *value =
        writ_scan_typed(scan, object, "invite", WRIT_JSON_ARRAY, WRIT_SCAN_OPTIONAL);
    size_t entered = writ_scan_enter(scan, WRIT_LIT("invite")), n = 0;
    struct writ_view *list = NULL;

    if (value != NULL) {
        list = writ_scan_memory(scan, value->count + 1, sizeof *list);
    }
    for (const struct writ_json *entry = writ_json_first(value); list != NULL && entry != NULL;
         entry = writ_json_next(value, entry)) {
        size_t at = writ_scan_enter_at(scan, n);
        list[n] = writ_view(NULL, 0);
        if (!read_invited(scan, entry, &list[n])) {
            writ_scan_fault(scan, WRIT_SCAN_UNION);
        }
        writ_scan_leave(scan, at);
        n++;
    }
    role->invite = (struct writ_scan_texts){list, n};
    writ_scan_leave(scan, entered);
}

static void
read_permissions(
    struct writ_scan *scan, const struct writ_json *object, struct writ_shape_role *role)
{
    const struct writ_json *value =
        writ_scan_typed(scan, object, "permissions", WRIT_JSON_OBJECT, WRIT_SCAN_REQUIRED);
    size_t entered = writ_scan_enter(scan, WRIT_LIT("permissions"));

    for (size_t action = 0; action < sizeof role->lists / sizeof *role->lists; action++) {
        role->lists[action] = writ_scan_texts(
            scan, value, writ_crew_action_name((enum writ_crew_action)action), NULL);
    }
    read_invite(scan, value, role);
    role->modify_structure = writ_scan_bool(scan, value, "modify_structure", false);
    writ_scan_leave(scan, entered);
}

static void
read_delegation(
    struct writ_scan *scan, const struct writ_json *object, struct writ_shape_role *role)
{
    const struct writ_json *value =
        writ_scan_typed(scan, object, "delegation", WRIT_JSON_OBJECT, WRIT_SCAN_OPTIONAL);
    size_t entered = writ_scan_enter(scan, WRIT_LIT("delegation"));

    role->delegation = writ_scan_whole(scan, value, "max_depth", 0, WRIT_SCAN_OPTIONAL) >= 0;
    writ_scan_leave(scan, entered);
}

static void
read_activation(
    struct writ_scan *scan, const struct writ_json *object, struct writ_shape_role *role)
{
    static const char *const flags[] = {
#define REASON_FLAG(name, flag, text) [WRIT_SHAPE_REASON_##name] = (flag),
        WRIT_SHAPE_REASONS(REASON_FLAG)
#undef REASON_FLAG
    };
    const struct writ_json *value =
        writ_scan_typed(scan, object, "activation", WRIT_JSON_OBJECT, WRIT_SCAN_OPTIONAL);
    size_t entered = writ_scan_enter(scan, WRIT_LIT("activation")), before = scan->n;
    bool any = false;

    role->activation = value != NULL;
    for (size_t reason = 0; reason < WRIT_SHAPE_REASONS_N; reason++) {
        role->activates[reason] = writ_scan_bool(scan, value, flags[reason], false);
        any |= role->activates[reason];
    }
    if (value != NULL && !any && scan->n == before) {
        writ_scan_fault(scan, WRIT_SCAN_CUSTOM);
    }
    writ_scan_leave(scan, entered);
}

const char *
writ_shape_hook_name(enum writ_shape_hook hook)
{
    static const char *const names[] = {
#define HOOK_NAME(name, text) [WRIT_SHAPE_##name] = (text),
        WRIT_SHAPE_HOOKS(HOOK_NAME)
#undef HOOK_NAME
    };

    return names[hook];
}

static void
read_hooks(struct writ_scan *scan, const struct writ_json *object, struct writ_shape_role *role)
{
    const struct writ_json *value =
        writ_scan_typed(scan, object, "hooks", WRIT_JSON_OBJECT, WRIT_SCAN_OPTIONAL);
    size_t entered = writ_scan_enter(scan, WRIT_LIT("hooks"));

    for (size_t hook = 0; hook < WRIT_SHAPE_HOOKS_N; hook++) {
        role->hooks[hook] = writ_scan_text(
            scan, value, writ_shape_hook_name((enum writ_shape_hook)hook), WRIT_SCAN_OPTIONAL);
    }
    writ_scan_leave(scan, entered);
}

static void
read_memex(struct writ_scan *scan, const struct writ_json *object, struct writ_shape_role *role)
{
    static const char *const views[] = {"self", "role", "crew", "all", NULL};
    static const char *const isolations[] = {"soft", "hard", NULL};
    const struct writ_json *value =
        writ_scan_typed(scan, object, "memex", WRIT_JSON_OBJECT, WRIT_SCAN_OPTIONAL);
    size_t entered = writ_scan_enter(scan, WRIT_LIT("memex"));
    const struct writ_json *retrieval = writ_json_get(value, WRIT_LIT("retrieval"));

    role->memex_view = writ_view_str(views[writ_scan_word(scan, value, "view", views)]);
    role->memex_hard = writ_scan_word(scan, value, "isolation", isolations) == 1;
    role->memex = writ_scan_bool(scan, value, "enabled", true) && retrieval != NULL;
    if (!writ_is_ok(writ_value_of_json(retrieval, &role->retrieval))) {
        scan->exhausted = true;
    }
    writ_scan_leave(scan, entered);
}

static void
read_execution(struct writ_scan *scan, const struct writ_json *object, struct writ_shape_role *role)
{
    const struct writ_json *value =
        writ_scan_typed(scan, object, "execution", WRIT_JSON_OBJECT, WRIT_SCAN_OPTIONAL);
    size_t entered = writ_scan_enter(scan, WRIT_LIT("execution"));
    const struct writ_json *voting =
        writ_scan_typed(scan, value, "voting", WRIT_JSON_OBJECT, WRIT_SCAN_OPTIONAL);

    role->voting = writ_voting_default;
    role->has_voting = voting != NULL;
    if (voting != NULL) {
        size_t at = writ_scan_enter(scan, WRIT_LIT("voting"));
        writ_voting_scan(scan, voting, &role->voting);
        writ_scan_leave(scan, at);
    }
    role->checkpoints = writ_scan_texts(scan, value, "checkpoints", NULL);
    role->timeout_ms = writ_scan_whole(scan, value, "timeout_ms", 0, WRIT_SCAN_OPTIONAL);
    role->serial = writ_scan_bool(scan, value, "serial", false);
    read_memex(scan, value, role);
    writ_scan_leave(scan, entered);
}

static void
read_role(struct writ_scan *scan, const struct writ_json *value, struct writ_shape_role *role)
{
    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        writ_scan_fault(scan, WRIT_SCAN_TYPE);
        return;
    }
    role->name = writ_scan_text(scan, value, "role", WRIT_SCAN_NONEMPTY);
    role->description = writ_scan_text(scan, value, "description", WRIT_SCAN_OPTIONAL);
    role->system_prompt = writ_scan_text(scan, value, "system_prompt", WRIT_SCAN_OPTIONAL);
    read_capabilities(scan, value, role);
    read_permissions(scan, value, role);
    read_delegation(scan, value, role);
    role->amount = writ_scan_whole(scan, value, "amount", 0, WRIT_SCAN_OPTIONAL);
    role->max_allowed = writ_scan_whole(scan, value, "max_allowed", 1, WRIT_SCAN_OPTIONAL);
    read_activation(scan, value, role);
    role->first_input = writ_scan_bool(scan, value, "first_input", false);
    role->final_output = writ_scan_bool(scan, value, "final_output", false);
    role->nested_crew = writ_scan_text(scan, value, "nested_crew", WRIT_SCAN_OPTIONAL);
    read_hooks(scan, value, role);
    read_execution(scan, value, role);
}

/* ---- a shape */

static void
index_roles(struct writ_scan *scan, struct writ_crew_shape *shape)
{
    struct writ_view *names = writ_scan_memory(scan, shape->roles_n + 1, sizeof *names);

    if (names == NULL) {
        return;
    }
    for (size_t at = 0; at < shape->roles_n; at++) {
        names[at] = shape->roles[at].name;
    }
    scan->exhausted |=
        !writ_is_ok(writ_names_make(&shape->names, names, shape->roles_n, scan->arena));
}

size_t
writ_shape_find(const struct writ_crew_shape *shape, struct writ_view name)
{
    return writ_names_find(&shape->names, name);
}

static void
read_shape(struct writ_scan *scan, const struct writ_json *value, struct writ_crew_shape *shape)
{
    static const char *const processes[] = {"sequential", "consensual", NULL};
    const struct writ_json *roles;
    size_t entered;

    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        writ_scan_fault(scan, WRIT_SCAN_TYPE);
        return;
    }
    writ_scan_version(scan, value);
    shape->name = writ_scan_text(scan, value, "name", WRIT_SCAN_NONEMPTY);
    writ_scan_text(scan, value, "description", WRIT_SCAN_OPTIONAL);
    shape->consensual = writ_scan_word(scan, value, "process", processes) == 1;
    shape->consensus = writ_scan_text(scan, value, "consensus", WRIT_SCAN_OPTIONAL);
    roles = writ_scan_typed(scan, value, "roles", WRIT_JSON_ARRAY, WRIT_SCAN_REQUIRED);
    entered = writ_scan_enter(scan, WRIT_LIT("roles"));
    if (roles != NULL && roles->count == 0) {
        writ_scan_fault(scan, WRIT_SCAN_SMALL);
    }
    if (roles != NULL) {
        shape->roles = writ_scan_memory(scan, roles->count + 1, sizeof *shape->roles);
    }
    WRIT_JSON_EACH(role, shape->roles != NULL ? roles : NULL)
    {
        size_t at = writ_scan_enter_at(scan, shape->roles_n);
        shape->roles[shape->roles_n] = (struct writ_shape_role){0};
        read_role(scan, role, &shape->roles[shape->roles_n++]);
        writ_scan_leave(scan, at);
    }
    writ_scan_leave(scan, entered);
    index_roles(scan, shape);
}

static void
shape_freep(struct writ_crew_shape **shape)
{
    writ_crew_shape_free(*shape);
}

void
writ_crew_shape_free(struct writ_crew_shape *shape)
{
    if (shape == NULL) {
        return;
    }
    for (size_t at = 0; at < shape->roles_n; at++) {
        writ_crew_value_free(shape->roles[at].retrieval);
    }
    writ_arena_free(shape->arena);
    writ_free(shape);
}

struct writ_view
writ_crew_shape_name(const struct writ_crew_shape *shape)
{
    return shape->name;
}

static size_t
text_max(const struct writ_crew_limits *limits)
{
    return (limits != NULL ? limits : &writ_crew_limits_default)->text_bytes;
}

WRIT_RESULT
writ_crew_shape_read(struct writ_view json, const struct writ_crew_limits *limits,
    struct writ_crew_findings *faults, struct writ_crew_shape **ret, struct writ_crew_err *err)
{
    return writ_crew_shape_read_with(json, NULL, limits, faults, ret, err);
}

WRIT_RESULT
writ_crew_shape_read_with(struct writ_view json, const struct writ_crew_engines *engines,
    const struct writ_crew_limits *limits, struct writ_crew_findings *faults,
    struct writ_crew_shape **ret, struct writ_crew_err *err)
{
    WRIT_AUTO(struct writ_crew_shape *, shape_freep) shape = writ_alloc(sizeof *shape);
    writ_auto_arena text = writ_value_arena(text_max(limits));
    const struct writ_json *value = NULL;
    struct writ_scan scan;

    if (shape == NULL || text == NULL || (shape->arena = writ_arena_new(SIZE_MAX)) == NULL) {
        return writ_failure_memory(err);
    }
    WRIT_TRY(writ_value_parse(json, text_max(limits), text, &value, err));
    scan = writ_scan_begin(faults, shape->arena);
    scan.engines = engines;
    read_shape(&scan, value, shape);
    WRIT_TRY(writ_scan_end(&scan, err));
    *ret = WRIT_TAKE(shape);
    return WRIT_DONE;
}

/* ---- an agents file */

static void
read_agents(struct writ_scan *scan, const struct writ_json *value, struct writ_crew_agents *agents)
{
    const struct writ_json *list;
    size_t entered;

    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        writ_scan_fault(scan, WRIT_SCAN_TYPE);
        return;
    }
    writ_scan_version(scan, value);
    agents->name = writ_scan_text(scan, value, "name", WRIT_SCAN_NONEMPTY);
    list = writ_scan_typed(scan, value, "agents", WRIT_JSON_ARRAY, WRIT_SCAN_REQUIRED);
    entered = writ_scan_enter(scan, WRIT_LIT("agents"));
    if (list != NULL) {
        agents->list = writ_scan_memory(scan, list->count + 1, sizeof *agents->list);
    }
    WRIT_JSON_EACH(entry, agents->list != NULL ? list : NULL)
    {
        struct writ_shape_agents *to = &agents->list[agents->n];
        size_t at = writ_scan_enter_at(scan, agents->n++);
        *to = (struct writ_shape_agents){0};
        if (writ_json_type(entry) != WRIT_JSON_OBJECT) {
            writ_scan_fault(scan, WRIT_SCAN_TYPE);
        } else {
            to->role = writ_scan_text(scan, entry, "role", WRIT_SCAN_NONEMPTY);
            to->amount = writ_scan_whole(scan, entry, "amount", 0, WRIT_SCAN_REQUIRED);
            to->system_prompt = writ_scan_text(scan, entry, "system_prompt", WRIT_SCAN_OPTIONAL);
        }
        writ_scan_leave(scan, at);
    }
    writ_scan_leave(scan, entered);
}

static void
agents_freep(struct writ_crew_agents **agents)
{
    writ_crew_agents_free(*agents);
}

void
writ_crew_agents_free(struct writ_crew_agents *agents)
{
    if (agents != NULL) {
        writ_arena_free(agents->arena);
        writ_free(agents);
    }
}

WRIT_RESULT
writ_crew_agents_read(struct writ_view json, const struct writ_crew_limits *limits,
    struct writ_crew_findings *faults, struct writ_crew_agents **ret, struct writ_crew_err *err)
{
    WRIT_AUTO(struct writ_crew_agents *, agents_freep) agents = writ_alloc(sizeof *agents);
    writ_auto_arena text = writ_value_arena(text_max(limits));
    const struct writ_json *value = NULL;
    struct writ_scan scan;

    if (agents == NULL || text == NULL || (agents->arena = writ_arena_new(SIZE_MAX)) == NULL) {
        return writ_failure_memory(err);
    }
    WRIT_TRY(writ_value_parse(json, text_max(limits), text, &value, err));
    scan = writ_scan_begin(faults, agents->arena);
    read_agents(&scan, value, agents);
    WRIT_TRY(writ_scan_end(&scan, err));
    *ret = WRIT_TAKE(agents);
    return WRIT_DONE;
}
