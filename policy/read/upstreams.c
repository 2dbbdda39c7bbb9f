/* Reads `upstreams` and `frameworks`. An upstream is of one kind, stdio or http, and an option of
 * the other kind is refused. */
#include "policy/read/upstreams.h"

#include "policy/model/host.h"
#include "policy/read/authorization.h"

static bool
is_upstream_name(struct writ_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool inside = i > 0 && i + 1 < name.len && name.ptr[i - 1] != '_';
        if (!letter && !((c == '-' || c == '_') && inside)) {
            return false;
        }
    }
    return name.len > 0 && name.len <= WRIT_UPSTREAMS_NAME_MAX;
}

static void
read_http(struct writ_options *o, const struct writ_yaml *node, const struct writ_raw_upstream *raw,
    struct writ_upstream_config *ret)
{
    struct writ_url url = {0};

    if (raw->http.len == 0) {
        return;
    }
    if (!writ_is_ok(writ_host_read_url(raw->http, &url)) ||
        writ_view_find(url.rest, '#') < url.rest.len) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "http"),
            "must be an http or https URL without userinfo and fragment");
        return;
    }
    ret->http = raw->http;
    ret->host = writ_option_join(o, "", url.host);
    ret->port = url.port;
    ret->tls = url.tls;
    ret->path = writ_view_has_prefix(url.rest, WRIT_LIT("/")) ? url.rest
                                                              : writ_option_join(o, "/", url.rest);
    ret->credential_header = raw->credential.header;
    if (!raw->insecure && !writ_host_is_protected(raw->http)) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "http"), WRIT_HOST_PLAIN("calls"));
    }
    if (raw->ca.len > 0 && !url.tls) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "ca"), "has no effect on an http URL");
    }
}

/* Clients then choose PATH, and must not choose the program by it. */
static void
check_client_environment(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_raw_upstream *raw)
{
    if (!raw->client_environment) {
        return;
    }
    if (raw->stdio.n > 0 && !writ_view_has_prefix(raw->stdio.items[0], WRIT_LIT("/"))) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "stdio"),
            "with client_environment the program must be a whole path: clients set PATH");
    }
    if (raw->sharing == WRIT_SHARING_ALL) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "client_environment"),
            "needs sharing: session: one child cannot have the environment of each client");
    }
}

static void
read_program_file(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_raw_upstream *raw, struct writ_pair file, struct writ_program_file *ret)
{
    ret->name = writ_option_join(o, "", file.name); /* with its NUL */
    if (file.name.len == 0) {
        WRIT_OPTION_FAULT(o, node, "lacks the name of a file");
    } else if (raw->client_environment && file.name.ptr[0] != '/') {
        WRIT_OPTION_FAULT(
            o, node, "with client_environment it must be a whole path: clients set the folder");
    }
    ret->accepted = writ_view_is(file.value, "accepted");
    if (!ret->accepted && !writ_is_ok(writ_digest_read(file.value, &ret->digest, NULL))) {
        WRIT_OPTION_FAULT(o, node,
            "must be accepted, or sha256: and 64 lower-case hex digits. `writ tools program` "
            "prints it");
    }
}

static void
read_program(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_raw_upstream *raw, struct writ_program_config *ret)
{
    const struct writ_yaml *map = writ_option_of(node, "program_digest");
    size_t n = raw->program_digest.n, i = 0;
    struct writ_program_file *files = writ_option_memory(o, n, sizeof *files);
    bool whole = false;

    if (n == 0 || files == NULL || n != map->count) { /* less: a finding says why */
        return;
    }
    WRIT_YAML_EACH(member, map)
    {
        read_program_file(o, member, raw, raw->program_digest.items[i], &files[i]);
        whole = whole || writ_view_equal(files[i].name, raw->stdio.items[0]);
        i++;
    }
    if (!whole) {
        WRIT_OPTION_WARN(
            o, map, "the program itself is not among the files. Add it, named as in stdio");
    }
    *ret = (struct writ_program_config){files, n};
}

static void
read_stdio(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_raw_upstream *raw, struct writ_upstream_config *ret)
{
    const struct writ_yaml *program = writ_option_of(node, "stdio");
    const struct writ_yaml *header = writ_option_of(writ_option_of(node, "credential"), "header");
    bool nameless = raw->stdio.n > 0 && raw->stdio.items[0].len == 0;

    if (header != NULL) {
        WRIT_OPTION_FAULT(o, header, "is only for upstreams that speak over HTTP");
    }
    if (nameless || (program->type == WRIT_YAML_LIST && program->count == 0)) {
        WRIT_OPTION_FAULT(o, program, "lacks a program");
    }
    check_client_environment(o, node, raw);
    if (raw->stdio.n > 0) {
        read_program(o, node, raw, &ret->program);
    }
}

static void
read_upstream(
    struct writ_options *o, const struct writ_yaml *node, struct writ_upstream_config *ret)
{
    struct writ_raw_upstream raw = {0};
    bool stdio = writ_option_of(node, "stdio") != NULL;

    writ_option_read(o, WRIT_SECTION_upstream, node, &raw);
    *ret = (struct writ_upstream_config){.name = node->key,
        .stdio = raw.stdio,
        .environment = raw.environment,
        .inherit = raw.inherit,
        .client_environment = raw.client_environment,
        .directory = raw.directory,
        .sharing = (enum writ_sharing)raw.sharing,
        .children = raw.children,
        .idle_us = raw.idle_us,
        .start_timeout_us = raw.start_timeout_us,
        .ca = raw.ca,
        .connections = raw.connections,
        .connect_timeout_us = raw.connect_timeout_us,
        .credential_meta = raw.credential.meta,
        .timeout_us = raw.timeout_us,
        .list_timeout_us = raw.list_timeout_us,
        .refresh_us = raw.refresh_us,
        .required = raw.required,
        .ref = writ_option_join(o, "/upstreams/", node->key),
        .node = node};
    if (!is_upstream_name(node->key)) {
        WRIT_OPTION_FAULT(o, node,
            "the name of an upstream has 1 to %d letters, digits, - and single _, these two inside",
            WRIT_UPSTREAMS_NAME_MAX);
    }
    if (node->type != WRIT_YAML_MAP) {
        return;
    }
    if (!writ_option_choice(o, WRIT_SECTION_upstream, node)) {
        return;
    }
    (void)writ_option_together(o, WRIT_SECTION_upstream, node);
    if (!writ_authorization_is_header(raw.credential.header)) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "credential"),
            "header must be the name of a header that Writ does not set itself");
    }
    ret->kind = stdio ? WRIT_UPSTREAM_STDIO : WRIT_UPSTREAM_HTTP;
    if (stdio) {
        read_stdio(o, node, &raw, ret);
    } else {
        read_http(o, node, &raw, ret);
    }
    ret->resource = raw.resource.len > 0 ? raw.resource
                    : stdio              ? writ_option_join(o, "stdio:", node->key)
                                         : ret->http;
    ret->authorization = writ_authorization_read(o, node, &raw.authorization, ret);
}

/* A joined name must split again where it was joined. */
static void
check_separator(struct writ_options *o, const struct writ_yaml *root, struct writ_view separator,
    const struct writ_yaml *upstream)
{
    writ_auto_buf joined = writ_buf_make(upstream->key.len + separator.len);
    const struct writ_yaml *node = writ_option_of(root, "separator");

    writ_buf_put(&joined, upstream->key);
    writ_buf_put(&joined, separator);
    if (separator.len > 0 && writ_is_ok(writ_buf_check(&joined, NULL)) &&
        writ_view_search(writ_buf_view(&joined), separator) != upstream->key.len) {
        WRIT_OPTION_FAULT(o, node != NULL ? node : upstream,
            "cannot be distinguished from the name of the upstream \"" WRIT_VIEW_FMT "\"",
            WRIT_VIEW_ARG(writ_view_sub(upstream->key, 0, 64)));
    }
}

void
writ_upstreams_read(struct writ_options *o, const struct writ_yaml *root,
    const struct writ_raw_top *top, struct writ_config *config)
{
    const struct writ_yaml *node = top->upstreams;
    struct writ_upstream_config *upstreams;
    size_t n = 0;

    if (node == NULL) {
        if (top->frameworks == NULL) {
            writ_yaml_find(
                o->findings, WRIT_SEVERITY_WARNING, root, "no upstreams: no tool can be called");
        }
        return;
    }
    if (node->type != WRIT_YAML_MAP || node->count > WRIT_UPSTREAMS_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a map of at most %d upstreams", WRIT_UPSTREAMS_MAX);
        return;
    }
    upstreams = writ_option_memory(o, node->count, sizeof *upstreams);
    if (upstreams == NULL) {
        return;
    }
    WRIT_YAML_EACH(member, node)
    {
        read_upstream(o, member, &upstreams[n++]);
        if (is_upstream_name(member->key)) {
            check_separator(o, root, config->separator, member);
        }
        if (upstreams[n - 1].client_environment && config->listen.path.len == 0) {
            WRIT_OPTION_WARN(o, writ_option_of(member, "client_environment"),
                "has no effect: it needs listen on a Unix socket");
        }
    }
    config->upstreams = config->written = upstreams;
    config->upstreams_n = config->written_n = n;
}

/* ---- frameworks */

static void
read_framework(struct writ_options *o, const struct writ_config *config,
    const struct writ_yaml *node, struct writ_framework_config *ret)
{
    struct writ_raw_framework raw = {0};

    writ_option_read(o, WRIT_SECTION_framework, node, &raw);
    *ret = (struct writ_framework_config){
        .name = node->key,
        .resource =
            raw.resource.len > 0 ? raw.resource : writ_option_join(o, "framework:", node->key),
        .timeout_us = raw.timeout_us,
    };
    if (!is_upstream_name(node->key)) {
        WRIT_OPTION_FAULT(o, node, "the name of a framework has the form of an upstream's name");
    } else if (writ_config_upstream(config, node->key) != NULL) {
        WRIT_OPTION_FAULT(o, node, "an upstream has this name");
    }
}

void
writ_upstreams_frameworks(
    struct writ_options *o, const struct writ_yaml *node, struct writ_config *config)
{
    struct writ_framework_config *frameworks;
    size_t n = 0;

    if (node == NULL) {
        return;
    }
    if (node->type != WRIT_YAML_MAP || node->count > WRIT_UPSTREAMS_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a map of at most %d frameworks", WRIT_UPSTREAMS_MAX);
        return;
    }
    frameworks = writ_option_memory(o, node->count, sizeof *frameworks);
    if (frameworks == NULL) {
        return;
    }
    WRIT_YAML_EACH(member, node)
    {
        read_framework(o, config, member, &frameworks[n++]);
    }
    config->frameworks = frameworks;
    config->frameworks_n = n;
}
