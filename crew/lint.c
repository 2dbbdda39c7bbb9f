/* The findings about a well-formed shape, in the order of semantics 2.4. Every finding has a place,
 * and lint never stops at the first. */
#include "crew/lint.h"

#include "base/alloc.h"
#include "crew/elect.h"
#include "crew/engines.h"
#include "crew/failure.h"
#include "crew/names.h"
#include "crew/shape.h"

/** The state of one run. */
struct lint {
    const struct writ_crew_shape *shape;
    const struct writ_crew_engines *engines;
    bool consensual;
    struct writ_crew_findings *errors, *warnings;
    struct writ_arena *arena;
    struct writ_buf path;
    bool exhausted;
};

/* Adds a finding at "role.rest"; without a rest at the role, without a role without a place. */
static void
note(struct lint *lint, struct writ_crew_findings *to, const char *code, struct writ_view role,
    const char *rest)
{
    writ_buf_clear(&lint->path);
    writ_buf_put(&lint->path, role);
    if (rest != NULL) {
        writ_buf_byte(&lint->path, '.');
        writ_buf_str(&lint->path, rest);
    }
    lint->exhausted |= !writ_is_ok(writ_buf_check(&lint->path, NULL)) ||
                       !writ_is_ok(writ_failure_find(to, code, writ_buf_view(&lint->path)));
}

static bool
holds(struct writ_scan_texts list, struct writ_view name)
{
    for (size_t at = 0; at < list.n; at++) {
        if (writ_view_equal(list.list[at], name)) {
            return true;
        }
    }
    return false;
}

static void
lint_ends(struct lint *lint)
{
    const struct writ_crew_shape *shape = lint->shape;
    size_t first = 0, final = 0;

    for (size_t at = 0; at < shape->roles_n; at++) {
        if (writ_shape_find(shape, shape->roles[at].name) != at) {
            note(lint, lint->errors, "duplicate_role", shape->roles[at].name, NULL);
        }
        first += shape->roles[at].first_input;
        final += shape->roles[at].final_output;
    }
    if (lint->consensual) {
        return; /* the agents choose who begins, and that agent ends */
    }
    if (first != 1) {
        note(lint, lint->errors, first == 0 ? "missing_first_input" : "multiple_first_input",
            writ_view(NULL, 0), NULL);
    }
    if (final != 1) {
        note(lint, lint->errors, final == 0 ? "missing_final_output" : "multiple_final_output",
            writ_view(NULL, 0), NULL);
    }
}

static void
lint_references(struct lint *lint, const struct writ_shape_role *role)
{
    static const char *const paths[] = {"permissions.talk_to", "permissions.delegate_to",
        "permissions.escalate_to", "permissions.invite"};
    const struct writ_scan_texts lists[] = {role->lists[WRIT_CREW_TALK_TO],
        role->lists[WRIT_CREW_DELEGATE_TO], role->lists[WRIT_CREW_ESCALATE_TO], role->invite};

    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++) {
        for (size_t at = 0; at < lists[list].n; at++) {
            if (writ_shape_find(lint->shape, lists[list].list[at]) == lint->shape->roles_n) {
                note(lint, lint->errors, "unknown_role_reference", role->name, paths[list]);
            }
        }
    }
}

static void
lint_voting(struct lint *lint, const struct writ_shape_role *role)
{
    const struct writ_crew_voting *voting = &role->voting;

    if ((voting->mode == WRIT_VOTING_BEST_OF_N && voting->score.ptr == NULL) ||
        (voting->mode == WRIT_VOTING_ENGINE &&
            writ_engines_find(lint->engines, voting->engine) == NULL)) {
        note(lint, lint->errors, "unsupported_voting_mode", role->name, "execution.voting.mode");
    }
    if (voting->mode == WRIT_VOTING_WEIGHTED && !writ_view_is(voting->weight_function, "equal")) {
        note(lint, lint->errors, "unsupported_weight_function", role->name,
            "execution.voting.weight_function");
    }
}

/* Each delegation to a role outside of the communication rules. */
static void
lint_delegation(struct lint *lint, const struct writ_shape_role *role)
{
    struct writ_scan_texts delegate = role->lists[WRIT_CREW_DELEGATE_TO];
    struct writ_scan_texts talk = role->lists[WRIT_CREW_TALK_TO];
    struct writ_names names = {0};

    lint->exhausted |= !writ_is_ok(writ_names_make(&names, talk.list, talk.n, lint->arena));
    for (size_t at = 0; at < delegate.n && !lint->exhausted; at++) {
        if (writ_names_find(&names, delegate.list[at]) == talk.n) {
            note(lint, lint->warnings, "delegate_without_talk", role->name, "permissions");
        }
    }
}

static void
lint_role(struct lint *lint, const struct writ_shape_role *role)
{
    lint_references(lint, role);
    if (holds(role->lists[WRIT_CREW_ESCALATE_TO], role->name)) {
        note(lint, lint->errors, "self_escalation", role->name, "permissions.escalate_to");
    }
    lint_voting(lint, role);
    lint_delegation(lint, role);
}

static void
lint_consensus(struct lint *lint)
{
    if (lint->consensual && lint->shape->consensus.ptr != NULL &&
        !writ_elect_knows(lint->shape->consensus, lint->engines)) {
        note(lint, lint->errors, "unsupported_voting_mode", WRIT_LIT("consensus"), NULL);
    }
}

WRIT_RESULT
writ_crew_shape_doubts(const struct writ_crew_shape *shape, struct writ_crew_findings *warnings)
{
    writ_auto_buf own = {0};
    struct lint lint = {.shape = shape, .path = writ_buf_make(SIZE_MAX)};

    for (size_t at = 0; at < shape->roles_n; at++) {
        const struct writ_shape_role *role = &shape->roles[at];
        const struct {
            bool given;
            const char *path;
        } inert[] = {
            {role->invite.n > 0, "permissions.invite"},
            {role->modify_structure, "permissions.modify_structure"},
            {role->delegation, "delegation.max_depth"},
            {role->serial, "execution.serial"},
            {shape->consensual && role->first_input, "first_input"},
            {shape->consensual && role->final_output, "final_output"},
        };
        for (size_t member = 0; member < sizeof inert / sizeof *inert; member++) {
            if (inert[member].given) {
                note(&lint, warnings, "no_effect", role->name, inert[member].path);
            }
        }
    }
    if (!shape->consensual && shape->consensus.ptr != NULL) {
        note(&lint, warnings, "no_effect", WRIT_LIT("consensus"), NULL);
    }
    own = lint.path;
    return lint.exhausted ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
}

WRIT_RESULT
writ_crew_shape_lint(const struct writ_crew_shape *shape, const struct writ_crew_engines *engines,
    struct writ_crew_findings *errors, struct writ_crew_findings *warnings)
{
    return writ_lint_run(shape, engines, shape->consensual, errors, warnings);
}

WRIT_RESULT
writ_lint_run(const struct writ_crew_shape *shape, const struct writ_crew_engines *engines,
    bool consensual, struct writ_crew_findings *errors, struct writ_crew_findings *warnings)
{
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    writ_auto_buf own = {0};
    struct lint lint = {.shape = shape,
        .engines = engines,
        .consensual = consensual,
        .errors = errors,
        .warnings = warnings,
        .arena = arena,
        .path = writ_buf_make(SIZE_MAX)};

    if (arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    lint_ends(&lint);
    lint_consensus(&lint);
    for (size_t at = 0; at < shape->roles_n; at++) {
        lint_role(&lint, &shape->roles[at]);
    }
    own = lint.path;
    return lint.exhausted ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
}
