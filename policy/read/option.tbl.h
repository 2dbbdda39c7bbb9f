/* option.tbl.h - every option of the configuration file. Reading, defaults, messages, the JSON
 * Schema (config/writ.schema.json) and the manual (docs/configuration.md) are made from this table.
 *
 * SECTION(id, "title", struct, "sentence")  a map with a fixed set of members, read into `struct`
 * then one row for each option of it; `section` is the id, `field` the member of the struct:
 * TEXT(section, "name", field, reload, least, most, fallback, "sentence")  bytes; no controls
 * PATH(section, "name", field, reload, least, most, fallback, "sentence")  a text: a file, or a
 *                                                folder, relative to that of the configuration
 * WORD(section, "name", field, reload, words, fallback, "sentence")  one of a list (option.c)
 * SWITCH(section, "name", field, reload, fallback, "sentence")  true or false
 * COUNT(section, "name", field, reload, least, most, fallback, "sentence")  a number
 * SIZE(section, "name", field, reload, least, most, fallback, "sentence")  bytes: 65536, 64KiB
 * DURATION(section, "name", field, reload, least, most, fallback, "sentence")  microseconds: 60s
 * TEXTS(section, "name", field, reload, most, "sentence")  a list of texts
 * PAIRS(section, "name", field, reload, most, "sentence")  a map of texts
 * ADDRESS(section, "name", field, reload, fallback, "sentence")  address:port or unix:path
 * DIGEST(section, "name", field, reload, "sentence")  64 hex digits
 * INNER(section, "name", field, inner section, "sentence")  its options have defaults
 * NODE(section, "name", field, reload, shape, fallback, "sentence")  read by the owner of the shape
 * ONE_OF(section, "name", ...)  exactly one of these options is given
 * ONE_AT_MOST(section, "name", ...)  at most one of them is given
 * ONE_WITH(section, "other", "name", ...)  exactly one of them is given if the other one is
 * WITH(section, "other", "what is wrong else", "name", ...)  options that need the other one beside
 *                                                            them
 *
 * `reload` is the effect of a reload on a changed value (changes.h):
 * LIVE     takes it
 * RESTART  keeps the value of the start, and names the option in the log
 * REFUSED  refuses the whole file, and names the option
 * For a NODE of sections it applies to adding or removing all of them; each option in them has its
 * own.
 *
 * `fallback` is written as in a file; NONE leaves the field zero, REQUIRED refuses a file without
 * it. A file that includes this defines the rows it needs; the others are empty, and all of them
 * are undefined at the end. */

/* clang-format off */ /* a row is broken by hand, where it reads best */

#ifndef SECTION
#define SECTION(...)
#endif
#ifndef TEXT
#define TEXT(...)
#endif
#ifndef PATH
#define PATH(...)
#endif
#ifndef WORD
#define WORD(...)
#endif
#ifndef SWITCH
#define SWITCH(...)
#endif
#ifndef COUNT
#define COUNT(...)
#endif
#ifndef SIZE
#define SIZE(...)
#endif
#ifndef DURATION
#define DURATION(...)
#endif
#ifndef TEXTS
#define TEXTS(...)
#endif
#ifndef PAIRS
#define PAIRS(...)
#endif
#ifndef ADDRESS
#define ADDRESS(...)
#endif
#ifndef DIGEST
#define DIGEST(...)
#endif
#ifndef INNER
#define INNER(...)
#endif
#ifndef NODE
#define NODE(...)
#endif

#ifndef ONE_OF
#define ONE_OF(...)
#endif
#ifndef ONE_AT_MOST
#define ONE_AT_MOST(...)
#endif
#ifndef ONE_WITH
#define ONE_WITH(...)
#endif
#ifndef WITH
#define WITH(...)
#endif

#define REQUIRED "!"
#define NONE     NULL
#define KIB      1024LL
#define MIB      (1024 * KIB)
#define GIB      (1024 * MIB)
#define MS       1000LL
#define SECOND   (1000 * MS)
#define MINUTE   (60 * SECOND)
#define HOUR     (60 * MINUTE)
#define DAY      (24 * HOUR)

SECTION(top, "the file", struct writ_raw_top, "The whole configuration file.")
ADDRESS(top, "listen", listen, REFUSED, "127.0.0.1:8700",
    "Address and port of the listener that clients use, or unix: and the path of a socket that only this user "
    "reaches (docs/running.md).")
ADDRESS(top, "admin_listen", admin_listen, REFUSED, NONE,
    "Address and port, or unix: and a path, of the listener for health, readiness and metrics; without it there is none.")
INNER(top, "tls", tls, tls, "TLS of the main listener; without it plain HTTP.")
INNER(top, "admin_tls", admin_tls, tls, "TLS of the admin listener.")
COUNT(top, "loops", loops, REFUSED, 0, 256, "0", "Threads that serve requests; 0 is one per core.")
TEXTS(top, "hosts", hosts, RESTART, 64,
    "Values of the Host header that are accepted besides the listener's own address.")
TEXTS(top, "origins", origins, RESTART, 64,
    "Values of the Origin header that are accepted; requests of all other web pages are refused.")
TEXT(top, "public_url", public_url, LIVE, 1, 1024, NONE,
    "The URL by which clients reach the gateway, without /mcp: behind a proxy, the proxy's. Tokens "
    "must have it as their audience, and authorization servers are announced under it.")
TEXT(top, "admin_url", admin_url, LIVE, 1, 1024, NONE,
    "The URL by which people reach the admin listener, without a slash at its end: callers get links "
    "to the page of their review there. Default: http:// or https:// and the listener's address; none for a Unix socket.")
TEXTS(top, "auditors", auditors, LIVE, 64,
    "Roles of agents that may read every call of their tenant in the ledger, or of all tenants when they "
    "have none, on the page and under /v1/ledger. Every other agent reads its own calls only.")
TEXTS(top, "administrators", administrators, LIVE, 64,
    "Subjects of agents that may stop calls of an agent, a tool, a tenant or under a policy (writ kill): of "
    "their own tenant, or of all when they have none. Without it no agent may.")
TEXTS(top, "content_readers", content_readers, LIVE, 64,
    "Subjects of agents that may read the kept contents of calls: of their own tenant, or of all when they have "
    "none. Each look is recorded. Without it no agent may, whatever else it may do.")
TEXT(top, "issuer", issuer, LIVE, 1, 512, NONE,
    "The iss of credentials, as a URL; default: http:// and the listener's address, or unix: and the path.")
PATH(top, "keys", keys, LIVE, 1, 4096, "keys",
    "Directory of signing keys, made by `writ keys new`.")
TEXT(top, "store", store, REFUSED, 1, 4096, "sqlite://ledger.db",
    "The ledger, made by `writ ledger init`: sqlite:// and a path, relative to the folder of this file; or "
    "postgresql:// and hosts, for gateways that share one ledger (docs/scaling.md). The password is in the "
    "file that `passfile` names or in PGPASSWORD, never here.")
WORD(top, "profile", profile, REFUSED, profile_words, "crewai-v1",
    "The profile from which digests are derived (docs/policy.md).")
TEXT(top, "separator", separator, LIVE, 1, 8, "__",
    "Between the name of an upstream and that of its tool, on the endpoint of all upstreams.")
PATH(top, "include", include, LIVE, 1, 4096, NONE,
    "Folder of included files: each *.yaml in it, by name, adds to upstreams, frameworks, tools, reviews "
    "and reviewers. A reload reads them again.")
NODE(top, "agents", agents, LIVE, SHAPE_AGENTS, NONE,
    "The callers, and how each is identified.")
NODE(top, "upstreams", upstreams, REFUSED, SHAPE_UPSTREAMS, NONE, "The tool servers, by name.")
NODE(top, "frameworks", frameworks, LIVE, SHAPE_FRAMEWORKS, NONE,
    "Programs that run tools without a server, and ask over the hook API (docs/hooks.md), by name.")
NODE(top, "tools", tools, LIVE, SHAPE_TOOLS, NONE,
    "The permitted calls: a rule, or a list of rules, for each upstream/tool or pattern; a framework's "
    "name stands for its upstream.")
NODE(top, "reviews", reviews, LIVE, SHAPE_REVIEWS, NONE,
    "Voters and counting for calls that need an approval, by name.")
PATH(top, "engines", engines, LIVE, 1, 4096, NONE,
    "Folder of the plug-ins that reviews name as their engine; no other user may write to it.")
NODE(top, "reviewers", reviewers, LIVE, SHAPE_REVIEWERS, NONE,
    "How voters in reviews are asked, and the keys that they sign with, by their subject. "
    "A voter without an entry votes over HTTP, unsigned.")
NODE(top, "detectors", detectors, LIVE, SHAPE_DETECTORS, NONE,
    "Detectors of one's own, by name, such as own.project_code (docs/detectors.md).")
NODE(top, "flows", flows, LIVE, SHAPE_FLOWS, NONE,
    "Rules about what a run has seen and done before a call (docs/flows.md).")
NODE(top, "tasks", tasks, LIVE, SHAPE_TASKS, NONE,
    "The callers that may say what a run is for (docs/flows.md); without it no caller may.")
INNER(top, "defaults", defaults, defaults, "The defaults of rules.")
INNER(top, "definitions", definitions, definitions, "What becomes of tools whose definition is odd.")
INNER(top, "limits", limits, limits, "The limits of requests, memory and shares.")
INNER(top, "sessions", sessions, sessions, "Sessions and the boundaries of runs.")
INNER(top, "pool", pool, pool, "The insights that agents of one tenant share over the hook API (docs/hooks.md).")
INNER(top, "credential", credential, credential, "The credential of a governed call.")
INNER(top, "ledger", ledger, ledger, "Claims and time in the ledger.")
NODE(top, "export", exports, RESTART, SHAPE_EXPORTS, NONE,
    "Systems that get every record as an event, each at least once (docs/export.md).")
INNER(top, "telemetry", telemetry, telemetry, "What an OpenTelemetry collector gets (docs/telemetry.md); without it nothing.")
NODE(top, "notify", notify, RESTART, SHAPE_NOTIFY, NONE,
    "Places for messages to people about reviews and stops, by a name of yours.")
INNER(top, "log", log, log, "The log; its lines go to standard error.")

SECTION(included, "an included file", struct writ_raw_included,
    "A file in the folder of include. Its paths are relative to the folder of the configuration file. "
    "A name that stands in two files is refused.")
SWITCH(included, "agreed", agreed, LIVE, "true",
    "false: the upstreams of the file are started and its tools are listed, but every call to them is "
    "refused (not_agreed). Set true when the rules are read and the placeholders replaced.")
NODE(included, "upstreams", upstreams, REFUSED, SHAPE_UPSTREAMS, NONE, "As in the configuration file.")
NODE(included, "frameworks", frameworks, LIVE, SHAPE_FRAMEWORKS, NONE, "As in the configuration file.")
NODE(included, "tools", tools, LIVE, SHAPE_TOOLS, NONE, "As in the configuration file.")
NODE(included, "reviews", reviews, LIVE, SHAPE_REVIEWS, NONE, "As in the configuration file.")
NODE(included, "reviewers", reviewers, LIVE, SHAPE_REVIEWERS, NONE, "As in the configuration file.")

SECTION(tls, "tls", struct writ_tls_config,
    "TLS of a listener; 1.2 and 1.3. A reload that switches it on or off is refused.")
PATH(tls, "cert", cert, LIVE, 1, 4096, NONE, "PEM file of the server's certificate chain.")
PATH(tls, "key", key, LIVE, 1, 4096, NONE, "PEM file of the server's key.")
PATH(tls, "client_ca", client_ca, LIVE, 1, 4096, NONE,
    "PEM file of the CA of client certificates; without it clients need none.")

SECTION(agent, "an entry of agents", struct writ_raw_agent,
    "One identity: a static token (bearer_sha256), tokens of an issuer (issuer), a client certificate "
    "on the page (certificate), or every caller (anonymous).")
TEXT(agent, "id", agent.id, LIVE, 1, 256, NONE,
    "The agent_id; with an issuer a claim gives it.")
TEXT(agent, "subject", agent.subject, LIVE, 1, 256, NONE,
    "The person or system behind the agent, if several agents are one: the subject of a call does not "
    "vote on it, and votes once. Default: the id.")
TEXT(agent, "tenant", agent.tenant, LIVE, 1, 256, NONE, "Tenant of the agent.")
TEXT(agent, "role", agent.role, LIVE, 1, 256, NONE, "Role that rules may require.")
TEXT(agent, "credential_scope", agent.credential_scope, LIVE, 1, 256, NONE,
    "Authority that the agent holds, for its decisions.")
TEXT(agent, "credential_tier", agent.credential_tier, LIVE, 1, 256, NONE,
    "Kind of that authority, for its decisions.")
DIGEST(agent, "bearer_sha256", bearer, LIVE,
    "SHA-256 of a static bearer token, as 64 hex digits: printf %s TOKEN | sha256sum.")
TEXT(agent, "certificate", certificate, LIVE, 1, 256, NONE,
    "Name in a client certificate of the admin listener, its first URI or else its first DNS name: it "
    "logs a person in to the page. Needs admin_tls with client_ca.")
TEXT(agent, "issuer", issuer, LIVE, 1, 512, NONE, "The iss that tokens must have.")
TEXT(agent, "audience", audience, LIVE, 1, 512, NONE,
    "The aud that tokens must have; default: the URL of the called endpoint, "
    "public_url and /mcp or /mcp/<upstream>.")
TEXT(agent, "jwks", jwks, LIVE, 1, 4096, NONE,
    "File or https URL of the issuer's keys; default: the place in the issuer's metadata.")
TEXTS(agent, "required_scopes", required_scopes, LIVE, 64,
    "Scopes that every token of the issuer must have.")
TEXTS(agent, "scopes", scopes, LIVE, 64,
    "OAuth scopes that the agent has; with an issuer a claim gives them.")
INNER(agent, "claims", claims, claims, "The claims that identify the agent.")
SWITCH(agent, "anonymous", anonymous, LIVE, "false",
    "Every caller is this agent. For development: all listeners must then be on loopback or Unix sockets.")
ONE_OF(agent, "bearer_sha256", "issuer", "certificate", "anonymous")
WITH(agent, "issuer", "is only for tokens of an issuer", "required_scopes")

SECTION(claims, "claims", struct writ_claim_names,
    "Names of claims, or JSON Pointers into the claims. Without a claim the entry's own value is used.")
TEXT(claims, "id", id, LIVE, 1, 256, NONE, "Claim of the agent_id; default: sub.")
TEXT(claims, "tenant", tenant, LIVE, 1, 256, NONE, "Claim of the tenant.")
TEXT(claims, "role", role, LIVE, 1, 256, NONE, "Claim of the role.")
TEXT(claims, "credential_scope", credential_scope, LIVE, 1, 256, NONE, "Claim of the scope.")
TEXT(claims, "credential_tier", credential_tier, LIVE, 1, 256, NONE, "Claim of the tier.")
TEXT(claims, "scopes", scopes, LIVE, 1, 256, NONE,
    "Claim of the token's scopes, a text with spaces or a list; default: scope.")

SECTION(upstream, "an upstream", struct writ_raw_upstream,
    "One tool server: a child process (stdio) or a URL (http).")
TEXTS(upstream, "stdio", stdio, REFUSED, 256,
    "Program and arguments of a server that speaks over stdio.")
PAIRS(upstream, "environment", environment, RESTART, 256,
    "Environment variables of the child, besides a small fixed set.")
TEXTS(upstream, "inherit", inherit, RESTART, 128,
    "Names of environment variables that the child inherits: of the gateway, or with client_environment of the "
    "`writ wrap` that it is started for.")
SWITCH(upstream, "client_environment", client_environment, RESTART, "false",
    "Whether the child gets the variables that inherit names, those of every child, and its folder from the "
    "`writ wrap` that it is started for. Any program that reaches the socket can then set PATH, HOME and these; the "
    "program of stdio must be a whole path. Only with listen on a Unix socket and sharing: session.")
PATH(upstream, "directory", directory, RESTART, 1, 4096, NONE, "Working directory of the child.")
PAIRS(upstream, "program_digest", program_digest, LIVE, 32,
    "Digests of the files that the server is made of, by path: the program, named as in stdio, and others such as "
    "its script and its lock file. `accepted` in place of a digest: the one that `writ tools program --accept` recorded. "
    "They are compared before each start of a child; when one differs, the program is not started and calls are refused. "
    "`writ tools program` prints them.")
WORD(upstream, "sharing", sharing, RESTART, sharing_words, "session",
    "session: each session has its own child, and so have the requests of each agent that come "
    "without one. all: one child serves all clients, and gets no client capabilities in initialize.")
DURATION(upstream, "start_timeout", start_timeout_us, RESTART, 100 * MS, 10 * MINUTE, "30s",
    "Time from the start of a child to its answer to initialize.")
COUNT(upstream, "children", children, RESTART, 1, 4096, "64",
    "Most children of a stdio upstream at once.")
DURATION(upstream, "idle", idle_us, RESTART, 100 * MS, 24 * HOUR, "10m",
    "A child that is unused for this long is ended; the next message starts another.")
TEXT(upstream, "http", http, REFUSED, 1, 2048, NONE, "URL of a server that speaks over HTTP.")
SWITCH(upstream, "insecure", insecure, LIVE, "false",
    "Whether the URL may be plain http beyond loopback: only in a network of your own, such as that of a composition.")
PATH(upstream, "ca", ca, RESTART, 1, 4096, NONE,
    "PEM file of the CA of an https URL; default: the system's.")
COUNT(upstream, "connections", connections, RESTART, 1, 65536, "256",
    "Most connections to an http upstream, for each loop, beside those of GET and listen streams.")
DURATION(upstream, "connect_timeout", connect_timeout_us, RESTART, 1 * MS, 10 * MINUTE, "5s",
    "Time limit of connecting.")
DURATION(upstream, "list_timeout", list_timeout_us, RESTART, 10 * MS, 10 * MINUTE, "2s",
    "On the endpoint of all upstreams: how long the others wait for the beginning of this one's answer to a "
    "handshake, a list or a read. Calls have timeout.")
TEXT(upstream, "resource", resource, RESTART, 1, 2048, NONE,
    "The aud of credentials; default: the URL, or stdio: and the name.")
INNER(upstream, "credential", credential, attach, "Where the credential is placed in a call.")
INNER(upstream, "authorization", authorization, authorization,
    "The gateway's own secret for the server (http only); without it none.")
DURATION(upstream, "refresh", refresh_us, RESTART, 1 * SECOND, 24 * HOUR, "5m",
    "Definitions of tools that are older than this, or than their list's ttlMs, are fetched again before a call.")
SWITCH(upstream, "required", required, RESTART, "false",
    "Whether a list of several upstreams fails without this one; else _meta names it.")
DURATION(upstream, "timeout", timeout_us, RESTART, 1 * MS, 24 * HOUR, "5m",
    "Time limit of a call, unless the tool's rule sets another.")
NODE(upstream, "labels", labels, LIVE, SHAPE_LABELS, NONE,
    "The labels of resources and prompts that are read from it; default: that of defaults. Those of tools are in tools.")
NODE(upstream, "resources", resources, LIVE, SHAPE_RESOURCES, NONE,
    "The labels of resources by their URI: a pattern as of the op glob, and labels. The first that matches applies; "
    "others have labels of the upstream.")
ONE_OF(upstream, "stdio", "http")
WITH(upstream, "stdio", "is only for upstreams that speak over stdio",
    "environment", "inherit", "client_environment", "directory", "program_digest", "sharing", "start_timeout", "children", "idle")
WITH(upstream, "http", "is only for upstreams that speak over HTTP",
    "ca", "connections", "connect_timeout", "insecure", "authorization")

SECTION(framework, "a framework", struct writ_raw_framework,
    "A program that runs tools itself. Its tools are those of the rules under its name.")
TEXT(framework, "resource", resource, LIVE, 1, 2048, NONE,
    "The aud of credentials; default: framework: and the name.")
DURATION(framework, "timeout", timeout_us, LIVE, 1 * MS, 24 * HOUR, "5m",
    "How long the gateway waits for the outcome of a call after it was bound, unless the tool's rule says otherwise.")

SECTION(attach, "credential of an upstream", struct writ_raw_attach,
    "Where the credential of a call is placed.")
TEXT(attach, "header", header, RESTART, 1, 128, "Writ-Credential",
    "HTTP header that carries it (http only).")
SWITCH(attach, "meta", meta, RESTART, "true",
    "Whether params._meta[\"io.writ/credential\"] carries it.")

SECTION(authorization, "authorization of an upstream", struct writ_raw_authorization,
    "A secret that is sent with every request, or, with client_id, tokens of an authorization "
    "server by the grant of client credentials. Files are read again at a reload.")
PATH(authorization, "file", file, LIVE, 1, 4096, NONE,
    "File of the secret, which other users must not be able to read: the secret itself, or the client's.")
TEXT(authorization, "variable", variable, LIVE, 1, 256, NONE,
    "Environment variable of the secret, in place of a file.")
PATH(authorization, "key", key, LIVE, 1, 4096, NONE,
    "PEM file of a private key, in place of the client's secret (private_key_jwt).")
TEXT(authorization, "header", header, LIVE, 1, 128, "Authorization", "HTTP header that carries it.")
TEXT(authorization, "scheme", scheme, LIVE, 0, 64, "Bearer",
    "Word before it in that header; \"\" for none.")
TEXT(authorization, "client_id", client_id, LIVE, 1, 512, NONE,
    "The gateway's client id at the authorization server.")
TEXT(authorization, "issuer", issuer, LIVE, 1, 512, NONE,
    "URL of the authorization server; its metadata name the token endpoint.")
TEXT(authorization, "token_endpoint", token_endpoint, LIVE, 1, 2048, NONE,
    "The token endpoint, in place of issuer.")
TEXTS(authorization, "scopes", scopes, LIVE, 64, "Scopes that tokens are requested for.")
TEXT(authorization, "resource", resource, LIVE, 0, 2048, NONE,
    "Resource that tokens are requested for (RFC 8707); default: that of the upstream, \"\" for "
    "none.")
ONE_OF(authorization, "file", "variable", "key")
ONE_WITH(authorization, "client_id", "issuer", "token_endpoint")
WITH(authorization, "client_id", "is only for tokens: with client_id",
    "key", "issuer", "token_endpoint", "scopes", "resource")

SECTION(rule, "a rule", struct writ_raw_rule, "The permitted calls of a tool, by whom.")
TEXTS(rule, "agents", agents, LIVE, 1024, "Only these agent ids; default: every agent.")
TEXTS(rule, "roles", roles, LIVE, 1024, "Only these roles; default: every role.")
TEXTS(rule, "tenants", tenants, LIVE, 1024, "Only these tenants; default: every tenant.")
TEXTS(rule, "scopes", scopes, LIVE, 64,
    "OAuth scopes that the caller's token must have; a client that lacks one gets a challenge that names them.")
TEXT(rule, "scope", scope, LIVE, 1, 1024, NONE,
    "Template of the normalized scope. Without it every call is refused (scope_missing).")
TEXT(rule, "target", target, LIVE, 1, 1024, NONE, "Template of the target of a call.")
NODE(rule, "state", state, LIVE, SHAPE_STATE, NONE,
    "How the target's state is observed before the call.")
NODE(rule, "arguments", arguments, LIVE, SHAPE_CONSTRAINTS, NONE,
    "Constraints that must all hold. An argument that none of them names is refused.")
WORD(rule, "schema", schema, LIVE, schema_words, NONE,
    "accepted: the arguments must also be valid under the inputSchema of the accepted definition, and structured results "
    "under its outputSchema. Only with pin.")
NODE(rule, "approval", approval, LIVE, SHAPE_APPROVAL, NONE,
    "The review that must approve a call that the rule allows.")
NODE(rule, "budgets", budgets, LIVE, SHAPE_BUDGETS, NONE, "Limits on calls or sums over time.")
WORD(rule, "duplicates", duplicates, LIVE, duplicates_words, NONE,
    "The answer to the second of two identical calls: forbid, replay, allow, or auto; default: that of defaults.")
NODE(rule, "replay", replay, LIVE, SHAPE_REPLAY, NONE,
    "How results are kept for duplicates: replay.")
SWITCH(rule, "shadow", shadow, LIVE, "false",
    "Record the verdict and let every call through; default: that of defaults.")
NODE(rule, "contents", contents, LIVE, SHAPE_CONTENTS, NONE,
    "The arguments and results of calls that the ledger keeps, encrypted; what it leaves out is that of defaults.")
WORD(rule, "refusal", refusal, LIVE, refusal_words, "error",
    "Form of a refusal: error (JSON-RPC error) or result (a result with isError).")
NODE(rule, "result", result, LIVE, SHAPE_RESULT, NONE, "The parts of the tool's results that reach the caller.")
NODE(rule, "labels", labels, LIVE, SHAPE_LABELS, NONE,
    "The labels of the tool's results, for the op `from` and for flows; default: that of defaults.")
SWITCH(rule, "pin", pin, LIVE, NONE,
    "Refuse calls unless the tool's definition is the accepted one (writ tools accept).")
DURATION(rule, "timeout", timeout_us, LIVE, 1 * MS, 24 * HOUR, NONE,
    "Time limit of a call; default: the upstream's timeout.")

SECTION(labels, "labels", struct writ_raw_labels,
    "What the results of a tool are: whether their values may be believed, and who may see them.")
WORD(labels, "integrity", integrity, LIVE, integrity_words, "untrusted",
    "trusted: values in results are a source for the op `from`. untrusted: they are not, and the run gets the label untrusted.")
TEXTS(labels, "confidentiality", confidentiality, LIVE, 16,
    "Labels that a result brings into the run, such as private; public is none.")
TEXTS(labels, "trusted_at", trusted_at, LIVE, 64,
    "JSON Pointers into the structured result, with * for any one token: what stands there and below is trusted.")
TEXTS(labels, "untrusted_at", untrusted_at, LIVE, 64,
    "JSON Pointers, as in trusted_at: what stands there and below is untrusted, whatever else says.")
TEXTS(labels, "believe", believe, LIVE, 2,
    "annotations: a tool whose accepted definition says openWorldHint: false is trusted. meta: the labels in "
    "_meta of a result (ifc) apply. Only with pin.")
NODE(labels, "detected", detected, LIVE, SHAPE_DETECTED, NONE,
    "Labels of a result in which detectors find something.")

SECTION(detected, "an entry of detected", struct writ_raw_detected,
    "A label that a result gets by what stands in it.")
TEXTS(detected, "detect", detect, LIVE, 64,
    "Names of detectors, or patterns of them such as secret.* (docs/detectors.md).")
TEXT(detected, "add", add, LIVE, 1, 64, REQUIRED,
    "The label, when one of them finds something or cannot say: untrusted, or one of confidentiality such as private.")

SECTION(detector, "a detector", struct writ_raw_detector, "A text that the ops contains and lacks look for.")
TEXT(detector, "pattern", pattern, LIVE, 1, 4096, REQUIRED,
    "A regular expression (PCRE2), looked for anywhere in a text.")
WORD(detector, "checksum", checksum, LIVE, checksum_words, NONE,
    "What must also be right about the text that it matches: luhn (its digits) or mod97 (its letters and digits, as an IBAN).")
COUNT(detector, "version", version, LIVE, 1, 1000000, "1", "Its version, for records.")

SECTION(flow, "a flow", struct writ_raw_flow,
    "A condition on the run, and the calls that are then refused or held.")
TEXTS(flow, "tools", tools, LIVE, 64, "The calls: patterns of upstream/tool.")
TEXTS(flow, "after", after, LIVE, 16,
    "Labels: the rule applies when the run has all of them. A result counts from the moment its call is let through.")
TEXTS(flow, "after_calls", after_calls, LIVE, 64,
    "Patterns of upstream/tool: the rule applies when the run has made such a call.")
NODE(flow, "requires", requires, LIVE, SHAPE_REQUIRES, NONE,
    "A call that the run must have made before; without it the rule applies.")
COUNT(flow, "at_most", at_most, LIVE, 1, 4096, NONE,
    "Calls of these tools in one run; the rule applies to further ones.")
NODE(flow, "approval", approval, LIVE, SHAPE_APPROVAL, NONE,
    "The review that must approve the call when the rule applies; without it the call is refused.")
ONE_OF(flow, "after", "after_calls", "requires", "at_most")

SECTION(requires, "requires", struct writ_raw_requires, "A call that must come before.")
TEXT(requires, "call", call, LIVE, 3, 512, REQUIRED, "Pattern of upstream/tool.")
PAIRS(requires, "same", same, LIVE, 8,
    "Arguments that must be the same: that of the call under the rule, and that of the call before; names or JSON Pointers.")
DURATION(requires, "within", within_us, LIVE, 1 * SECOND, 366 * DAY, NONE,
    "Longest time between the two; default: the run.")

SECTION(tasks, "tasks", struct writ_raw_tasks,
    "Callers that may say what a run is for: its text is a source for the op `from`, and the tools that it names "
    "are the only ones that the run may call.")
TEXTS(tasks, "agents", agents, LIVE, 256, "Ids of agents.")
TEXTS(tasks, "scopes", scopes, LIVE, 16, "Callers whose token has all of these scopes.")
TEXTS(tasks, "always", always, LIVE, 64,
    "Patterns of upstream/tool that a run may call whatever its task names, such as tools that only read.")
NODE(tasks, "approval", approval, LIVE, SHAPE_APPROVAL, NONE,
    "The review that must approve a call to any other tool that the task does not name; without it the call is refused.")

SECTION(from, "from", struct writ_raw_from, "The value of the op `from`, with more than a list of sources.")
TEXTS(from, "sources", sources, LIVE, 4, "task, operator, trusted, approved.")
NODE(from, "operator", operator_list, LIVE, SHAPE_VALUES, NONE, "The values of the source operator.")
SWITCH(from, "addresses", addresses, LIVE, "false",
    "Whether only the URLs and addresses of mail in a text are asked for, each by itself.")
SWITCH(from, "host", host, LIVE, "false", "Whether the host of a URL, or of an address of mail, decides.")
NODE(from, "approval", approval, LIVE, SHAPE_APPROVAL, NONE,
    "The review that must approve a value from elsewhere; without it the call is refused.")

SECTION(approval, "approval", struct writ_raw_approval,
    "A call that the rule allows waits for the approval of a review.")
TEXT(approval, "review", review, LIVE, 1, 128, REQUIRED, "Name of an entry of reviews.")
DURATION(approval, "hold", hold_us, LIVE, 1 * MS, 10 * MINUTE, NONE,
    "How long a call waits for its verdict before the caller gets the answer that it waits; default: "
    "the answer comes at once. The clients' own timeouts must be longer.")
DURATION(approval, "hold_retry", hold_retry_us, LIVE, 1 * MS, 10 * MINUTE, "30s",
    "The same for a caller that returns (after input_required), so that it is there "
    "when the verdict comes; or hold, where that is longer.")
NODE(approval, "when", when, LIVE, SHAPE_CONSTRAINTS, NONE,
    "Only calls for which all of these hold; default: every call. A call for which that is unclear "
    "(an argument is missing or of another type) needs the approval.")

INNER(approval, "annotations", annotations, annotations,
    "Only calls of tools with these annotations of their server; default: every tool. "
    "A tool without a known definition needs the approval.")

SECTION(annotations, "annotations", struct writ_raw_annotations,
    "Annotations of a tool by its server; all that are named must match. A missing one has "
    "the default of MCP: not read-only, destructive, not idempotent, open to the world. The server "
    "sets its annotations: pin the tool, so that a change refuses its calls.")
SWITCH(annotations, "readOnlyHint", read_only, LIVE, NONE, "The tool changes nothing.")
SWITCH(annotations, "destructiveHint", destructive, LIVE, NONE,
    "The tool may destroy something; one that is read-only does not.")
SWITCH(annotations, "idempotentHint", idempotent, LIVE, NONE,
    "Calling the tool twice does no more than calling it once.")
SWITCH(annotations, "openWorldHint", open_world, LIVE, NONE,
    "The tool reaches out of its own domain.")

SECTION(review, "a review", struct writ_raw_review,
    "The voters on a call, and how votes make a verdict. Both are fixed when a review opens.")
NODE(review, "voters", voters, LIVE, SHAPE_VOTERS, REQUIRED,
    "The voters: agents or people, by their subject. The subject of a call never votes on it.")
NODE(review, "threshold", threshold, LIVE, SHAPE_THRESHOLD, NONE,
    "Share of the votes cast that accepts or rejects, above 1/2: a fraction, or a decimal taken exactly; or steps by "
    "a value of the call. Default: 2/3.")
TEXT(review, "quorum", quorum, LIVE, 1, 32, "1/2",
    "Least votes for a verdict: a number of them, or a fraction of the voters.")
NODE(review, "engine", engine, LIVE, SHAPE_ENGINE, NONE,
    "How votes are counted: review (approve 1, modify 1/2, reject 0), unanimous, weighted_consensus, majority (the most "
    "frequent vote), best_of_n (the vote with the highest confidence), borda (rankings of the options), or the file of "
    "a plug-in in engines, such as tally.so (rankings). Without a winner the verdict asks for a revision. Default: review.")
TEXTS(review, "options", options, LIVE, 3,
    "What the voters rank with borda or a plug-in: two or three of approve, modify, reject. Default: all three. With "
    "borda, candidates in place of approve: a caller may propose several calls, of which the voters elect one.")
DURATION(review, "expires", lifetime_us, LIVE, 1 * SECOND, 30 * DAY, "15m",
    "How long votes are accepted; without a verdict by then the call is refused.")
DURATION(review, "redeem", redeem_us, LIVE, 1 * SECOND, 30 * DAY, "15m",
    "How long an approval waits for its caller to return.")
TEXTS(review, "administrators", administrators, LIVE, 64,
    "Subjects that may end the review without a verdict.")
TEXT(review, "elicitation", elicitation, LIVE, 1, 256, NONE,
    "The voter who is asked in the caller's own client (MCP elicitation): the answer of that program is this "
    "voter's vote. Only with listen on a Unix socket.")
SWITCH(review, "bulk", bulk, LIVE, "false",
    "Whether a voter may vote on several calls of one rule together on the page: one vote for each, and never for a "
    "call that is too long to be shown whole, or has characters that hide.")
INNER(review, "delegations", delegations, delegations,
    "The delegations that its voters may set themselves, while the gateway runs (docs/reviews.md). Default: none.")

SECTION(delegations, "delegations of voters", struct writ_raw_delegations,
    "A voter names another one that votes for it, until a time, for all tools or some. It has no effect on calls of the "
    "delegate, and one person casts one vote of a review, unless several is set.")
DURATION(delegations, "longest", longest_us, LIVE, 1 * MINUTE, 366 * DAY, NONE,
    "How far a delegation may reach, from the moment at which it is set. Without it no voter can set one.")
TEXTS(delegations, "stand_ins", stand_ins, LIVE, 64,
    "Subjects, not voters of the review, that its voters may name. Each stands in for one voter of a review.")
SWITCH(delegations, "several", several, LIVE, "false",
    "Whether one person may cast the votes of several voters: voters may name each other, and several may name one "
    "stand-in. Such a person can decide alone what they decided together.")

SECTION(threshold, "a threshold by a value", struct writ_raw_threshold,
    "A threshold that depends on an argument of the call. When the argument is missing, is not a number, or is below "
    "the first step, the highest threshold of all steps applies.")
TEXT(threshold, "by", by, LIVE, 1, 1024, REQUIRED, "The argument: its name, or a JSON Pointer.")
NODE(threshold, "steps", steps, LIVE, SHAPE_STEPS, REQUIRED, "The steps, the smallest value first.")

SECTION(step, "a step of a threshold", struct writ_raw_step, "The threshold from one value on.")
NODE(step, "at_least", at_least, LIVE, SHAPE_NUMBER, REQUIRED, "The value from which the step applies.")
NODE(step, "share", share, LIVE, SHAPE_SHARE, REQUIRED, "The threshold, as in a review.")

SECTION(voter, "a voter", struct writ_raw_voter, "One voter.")
TEXT(voter, "id", id, LIVE, 1, 256, REQUIRED, "The subject of an entry of agents, or its id.")
NODE(voter, "weight", weight, LIVE, SHAPE_WEIGHT, NONE,
    "The weight of the vote: a number from 0 to 1000000, or an exact fraction such as 1/2 or 1.5. Default: 1.")
SWITCH(voter, "veto", veto, LIVE, "false", "Whether a reject of this voter decides at once.")

SECTION(reviewer, "a reviewer", struct writ_raw_reviewer,
    "How a voter is asked.")
INNER(reviewer, "key", key, voter_key,
    "The public key that must sign its votes, whatever way they come.")
TEXT(reviewer, "webhook", webhook, RESTART, 1, 2048, NONE,
    "https URL (http on loopback) to which open reviews are posted, signed.")
PATH(reviewer, "secret", secret, RESTART, 1, 4096, NONE,
    "File with the secret of the webhook: whsec_ and base64 of 24 to 64 bytes.")
PATH(reviewer, "ca", ca, RESTART, 1, 4096, NONE,
    "PEM file of the authorities of the webhook's certificate; default: those of the system.")
TEXTS(reviewer, "worker", worker, RESTART, 256,
    "Program and arguments of a process that receives open reviews as lines of JSON; with crew: of each agent of the crew.")
PATH(reviewer, "crew", crew, LIVE, 1, 4096, NONE,
    "File with the shape of a crew that judges each call. Its agents are processes of worker; its output is the vote.")
PATH(reviewer, "agents", agents, LIVE, 1, 4096, NONE, "Agents file of the crew.")
PATH(reviewer, "registry", registry, LIVE, 1, 4096, NONE, "Folder of the shapes that the crew may nest.")
SWITCH(reviewer, "shared", shared, LIVE, "false", "Whether one process serves all agents of the crew.")
DURATION(reviewer, "keep_log", keep_log_us, LIVE, 1 * HOUR, 3660 * DAY, "90d",
    "How long the log of the crew is kept with the vote, encrypted.")
PAIRS(reviewer, "environment", environment, RESTART, 256,
    "Environment of the worker, beside what it inherits.")
TEXTS(reviewer, "inherit", inherit, RESTART, 64,
    "Names of variables that the worker gets from the gateway.")
PATH(reviewer, "directory", directory, RESTART, 1, 4096, NONE, "Working directory of the worker.")
NODE(reviewer, "opinions", opinions, RESTART, SHAPE_OPINIONS, NONE,
    "Votes by rules: the first opinion that holds for a call is the vote; without one the reviewer does not vote.")
TEXT(reviewer, "instructions", instructions, LIVE, 1, 4096, NONE,
    "Instructions to a model on how to vote, in the prompt that the gateway makes.")
DURATION(reviewer, "timeout", timeout_us, RESTART, 100 * MS, 1 * HOUR, "60s",
    "Time limit of the webhook or worker for one answer, or of the crew.")
NODE(reviewer, "delegate", delegate, LIVE, SHAPE_DELEGATE, NONE,
    "Another one that votes for this voter while it does not vote itself.")
ONE_AT_MOST(reviewer, "webhook", "worker", "opinions")
WITH(reviewer, "webhook", "has no effect on a reviewer of this kind", "secret", "ca")
WITH(reviewer, "worker", "has no effect on a reviewer of this kind",
    "environment", "inherit", "directory")
WITH(reviewer, "worker", "needs the worker: the program of its agents", "crew")
WITH(reviewer, "crew", "has no effect on a reviewer without a crew", "agents", "registry", "shared", "keep_log")

SECTION(delegate, "a delegation", struct writ_raw_delegate,
    "In reviews that open while it is in force, the delegate's vote counts with the weight and the veto of this voter, "
    "until this voter votes itself. It has no effect on calls of the delegate.")
TEXT(delegate, "to", to, LIVE, 1, 256, REQUIRED, "The delegate, by its subject. It need not be a voter itself.")
TEXT(delegate, "from", from, LIVE, 1, 64, NONE, "Time (RFC 3339) from which it is in force. Default: from now on.")
TEXT(delegate, "until", until, LIVE, 1, 64, NONE, "Time (RFC 3339) at which it ends. Default: it does not end.")
TEXTS(delegate, "tools", tools, LIVE, 64,
    "Tools as upstream/tool, with patterns such as pay/*. Default: every tool.")

SECTION(voter_key, "a key", struct writ_raw_voter_key, "A public key as a JWK: EC (P-256) or OKP (Ed25519).")
TEXT(voter_key, "kty", kty, LIVE, 1, 16, NONE, "EC or OKP.")
TEXT(voter_key, "crv", crv, LIVE, 1, 16, NONE, "P-256 or Ed25519.")
TEXT(voter_key, "x", x, LIVE, 1, 128, NONE, "As in RFC 7518 and RFC 8037.")
TEXT(voter_key, "y", y, LIVE, 1, 128, NONE, "EC only.")
TEXT(voter_key, "alg", alg, LIVE, 1, 16, NONE, "ES256 or EdDSA; default: by the key.")
TEXT(voter_key, "use", use, LIVE, 1, 16, NONE, "sig, if present.")
TEXT(voter_key, "kid", kid, LIVE, 1, 256, NONE, "Default: its thumbprint.")

SECTION(opinion, "an opinion", struct writ_raw_opinion, "A vote by a rule.")
WORD(opinion, "vote", vote, LIVE, vote_words, REQUIRED, "The vote: approve, modify, reject or abstain.")
NODE(opinion, "when", when, LIVE, SHAPE_CONSTRAINTS, NONE,
    "For calls for which all of these hold; default: every call. To approve, each of them must "
    "hold; to reject or modify it is enough that none clearly fails.")
TEXT(opinion, "feedback", feedback, LIVE, 1, 1024, NONE, "The text of the vote.")

SECTION(replay, "replay", struct writ_raw_replay, "How results are kept for duplicates: replay.")
DURATION(replay, "ttl", ttl_us, LIVE, 1 * SECOND, 30 * DAY, "10m", "How long a result is kept.")
SIZE(replay, "max_bytes", bytes, LIVE, 1, 16 * MIB, "1MiB",
    "Longest result that is kept; after a longer one duplicates are refused.")

SECTION(contents, "contents", struct writ_raw_contents,
    "Keeps the arguments and the results of calls, encrypted, for a time (docs/contents.md).")
DURATION(contents, "keep", keep_us, LIVE, 0, 3660 * DAY, "0s",
    "How long the contents of a call are kept; 0s: not at all.")
SIZE(contents, "results", results_bytes, LIVE, 0, 8 * MIB, "64KiB",
    "Longest result that is kept with the arguments, in canonical form; 0: no results.")

SECTION(result, "result", struct writ_raw_result,
    "The parts of the tool's results that reach the caller. When a rule cannot be applied, the result is withheld.")
SIZE(result, "max_bytes", bytes, LIVE, 1, 256 * MIB, NONE,
    "Longest result, in canonical form; limits.response bounds all of them.")
TEXTS(result, "content", content, LIVE, 64,
    "Kinds of content that are let through: text, image, audio, resource, resource_link, structured, "
    "or a media type of images and audio such as image/*; default: every kind.")
NODE(result, "redact", redact, LIVE, SHAPE_REDACT, NONE,
    "Patterns, and finds of detectors, that are replaced in every text of a result.")
SWITCH(result, "default_redact", default_redact, LIVE, "true",
    "Whether the redact of defaults applies as well; false for a tool whose job is a secret.")
TEXTS(result, "remove", remove, LIVE, 64,
    "JSON Pointers into the result, such as /structuredContent/secret, of members to remove.")
TEXTS(result, "refuse", refuse, LIVE, 64,
    "Names of detectors, or patterns of them such as prompt.*: a result in which one of them finds something is "
    "withheld.")
WORD(result, "is_error", is_error, LIVE, is_error_words, NONE,
    "The treatment of a result with isError: pass (a result, the default), error (recorded as an error), or "
    "refuse (not let through).")

SECTION(redact, "an entry of redact", struct writ_raw_redact, "A text to hide.")
TEXT(redact, "pattern", pattern, LIVE, 1, 4096, NONE,
    "A regular expression (PCRE2), looked for anywhere in a text. Either this or detect.")
TEXTS(redact, "detect", detect, LIVE, 64,
    "Names of detectors, or patterns of them such as secret.* (docs/detectors.md): what they find is replaced.")
TEXT(redact, "with", with, LIVE, 0, 256, "[redacted]", "The replacement.")

SECTION(state, "state", struct writ_raw_state,
    "One of tool, resource and http, asked before the call; the digest of what it answers is the "
    "target_state_digest.")
TEXT(state, "tool", tool, LIVE, 1, 256, NONE, "A tool that only reads, as upstream/tool.")
TEXT(state, "resource", resource, LIVE, 1, 2048, NONE,
    "Template of the URI of an MCP resource of the same upstream.")
TEXT(state, "http", http, LIVE, 1, 2048, NONE, "Template of a URL for a GET.")
SWITCH(state, "insecure", insecure, LIVE, "false",
    "Whether the URL may be plain http beyond loopback: only in a network of your own.")
NODE(state, "arguments", arguments, LIVE, SHAPE_TEMPLATES, NONE,
    "Arguments of the tool; texts in it are templates.")
TEXTS(state, "select", select, LIVE, 64,
    "JSON Pointers of the members of the answer that count; default: all of them.")
WORD(state, "on_error", on_error, LIVE, on_error_words, "deny",
    "The effect of an unreadable target: deny, or absent (which is then its state).")
DURATION(state, "timeout", timeout_us, LIVE, 1 * MS, 10 * MINUTE, "5s",
    "Time limit of the answer.")
ONE_OF(state, "tool", "resource", "http")
WITH(state, "http", "is only for a state over http", "insecure")

SECTION(constraint, "a constraint", struct writ_raw_constraint, "One condition on an argument.")
TEXT(constraint, "arg", arg, LIVE, 0, 1024, NONE,
    "Name of an argument, or JSON Pointer into the arguments; \"\" is all of them as one object. "
    "Inside `each` it may be left out: the element itself.")
WORD(constraint, "op", op, LIVE, op_words, REQUIRED, "The test (docs/policy.md).")
NODE(constraint, "value", value, LIVE, SHAPE_VALUE, NONE, "The value to compare with.")
SWITCH(constraint, "optional", optional, LIVE, "false",
    "Whether the constraint also holds when the argument is absent.")
SWITCH(constraint, "nullable", nullable, LIVE, "false",
    "Whether the constraint also holds when the argument is null.")
SWITCH(constraint, "secret", secret, LIVE, "false",
    "Whether the argument is never kept (contents): only in arguments of a rule, also inside each.")

SECTION(budget, "a budget", struct writ_raw_budget,
    "An amount per window: a number of calls, or the sum of a numeric argument.")
TEXT(budget, "name", name, LIVE, 1, 128, NONE,
    "Name of the counter; budgets of the same name share it. Default: its place in the file.")
TEXTS(budget, "per", per, LIVE, 3,
    "One counter for each agent, tenant, tool, or combination of them; default: one for all.")
DURATION(budget, "window", window_us, LIVE, 1 * SECOND, 366 * DAY, REQUIRED,
    "Length of a window. Windows follow each other from 1970 on.")
COUNT(budget, "calls", calls, LIVE, 0, 1000000000000LL, NONE, "Most calls in a window.")
NODE(budget, "sum", sum, LIVE, SHAPE_SUM, NONE, "Largest sum of an argument in a window.")
ONE_OF(budget, "calls", "sum")

SECTION(sum, "sum", struct writ_raw_sum, "The sum of a numeric argument.")
TEXT(sum, "arg", arg, LIVE, 1, 1024, REQUIRED, "Name of the argument, or JSON Pointer.")
NODE(sum, "max", max, LIVE, SHAPE_NUMBER, REQUIRED, "Largest sum, exactly as written.")

SECTION(defaults, "defaults", struct writ_raw_defaults,
    "Defaults of rules. Zero means no: unlisted_tool and "
    "unlisted_argument say it explicitly, and accept no other value.")
WORD(defaults, "unlisted_tool", unlisted_tool, LIVE, deny_words, "deny",
    "The answer to a tool without a rule.")
WORD(defaults, "unlisted_argument", unlisted_argument, LIVE, deny_words, "deny",
    "The answer to an argument without a constraint.")
NODE(defaults, "result", result, LIVE, SHAPE_RESULT, NONE,
    "Defaults for results: redact and remove add to those of a rule, the others apply where a "
    "rule says nothing.")
NODE(defaults, "labels", labels, LIVE, SHAPE_LABELS, NONE,
    "The labels of results where a rule says nothing; default: untrusted.")
NODE(defaults, "contents", contents, LIVE, SHAPE_CONTENTS, NONE,
    "The arguments and results of calls that the ledger keeps, encrypted; default: none.")
WORD(defaults, "duplicates", duplicates, LIVE, duplicates_words, "auto",
    "The answer to the second of two identical calls where a rule says nothing. auto: it runs if the tool says "
    "readOnlyHint: true and is pinned, or believe_annotations is true; else it is refused.")
SWITCH(defaults, "believe_annotations", believe_annotations, LIVE, "false",
    "Whether duplicates: auto trusts the annotations of tools that are not pinned.")
SWITCH(defaults, "pin", pin, LIVE, "false",
    "Refuse calls unless the tool's definition is the accepted one (writ tools accept).")
SWITCH(defaults, "shadow", shadow, LIVE, "false",
    "Record the verdict and let every call through, by every rule without shadow of its own: to observe first. "
    "A call that no rule is for stays refused.")

SECTION(definitions, "definitions", struct writ_odd_config,
    "What becomes of tools whose definition is odd (docs/policy.md). tell: the log and `writ tools` say so. hide: the "
    "tool is also left out of lists and its calls are refused, until an operator accepts this definition. refuse: "
    "the same, and it cannot be accepted.")
WORD(definitions, "hidden", hidden, LIVE, odd_words, "hide",
    "Characters that a reader does not see and a model does.")
WORD(definitions, "lookalike", lookalike, LIVE, odd_words, "hide",
    "A name that mixes ASCII with letters of another script that look like it.")
WORD(definitions, "repeats", repeats, LIVE, odd_words, "hide",
    "A name that is that of a tool of an upstream named earlier. hide passes a tool that a rule names, not a pattern.")
WORD(definitions, "imitates", imitates, LIVE, odd_words, "hide",
    "A name that differs from that of a tool of an upstream named earlier in case, separators and letters that look "
    "alike.")
WORD(definitions, "addresses", addresses, LIVE, odd_words, "tell",
    "A text that tells the model what to do. Honest descriptions do that as well.")

SECTION(limits, "limits", struct writ_limits, "The limits of requests, memory and shares.")
SIZE(limits, "body", body_bytes, RESTART, 1 * KIB, 64 * MIB, "4MiB", "A request's body.")
SIZE(limits, "header", header_bytes, RESTART, 1 * KIB, 64 * KIB, "12KiB", "A request's head.")
COUNT(limits, "json_depth", json_depth, RESTART, 1, 256, "64", "Nesting of a request's JSON.")
COUNT(limits, "json_values", json_values, RESTART, 16, 10000000, "65536",
    "Values and member names in a request's JSON, in all.")
SIZE(limits, "string", string_bytes, RESTART, 64, 64 * MIB, "4MiB", "One string in a request.")
SIZE(limits, "request_memory", request_bytes, RESTART, 64 * KIB, 1 * GIB, "64MiB",
    "Memory of one request, in all.")
SIZE(limits, "response", response_bytes, RESTART, 1 * KIB, 256 * MIB, "16MiB",
    "An upstream's answer that is kept in memory.")
SIZE(limits, "event", event_bytes, RESTART, 1 * KIB, 256 * MIB, "16MiB",
    "One server-sent event, or one line of a stdio upstream.")
COUNT(limits, "connections", connections, RESTART, 1, 65536, "1024",
    "Client connections at once, for each loop.")
COUNT(limits, "in_flight", in_flight, RESTART, 1, 65536, "1024", "Requests at once, for each loop.")
COUNT(limits, "queue", queue, RESTART, 1, 1000000, "8192",
    "Records that wait for the ledger, in all.")
COUNT(limits, "sessions", sessions, RESTART, 1, 10000000, "16384",
    "Sessions at once, in all.")
COUNT(limits, "reviews", reviews, RESTART, 1, 1048576, "65536",
    "Calls under review at once, in all, with those that ended within the last hour and whose caller has not come "
    "back. More are refused (reviews_full).")
COUNT(limits, "agent_reviews", agent_reviews, RESTART, 1, 1048576, "64",
    "Calls of one agent under review at once. More are refused (reviews_exceeded).")
COUNT(limits, "agent_share", agent_percent, RESTART, 1, 100, "50",
    "Percent of the sessions, open runs, requests at once and children of a stdio upstream "
    "that one agent may have.")
COUNT(limits, "tenant_share", tenant_percent, RESTART, 1, 100, "75", "The same for one tenant.")
DURATION(limits, "idle_timeout", idle_timeout_us, RESTART, 100 * MS, 24 * HOUR, "75s",
    "A client connection without a request is closed after this.")
DURATION(limits, "head_timeout", head_timeout_us, RESTART, 100 * MS, 10 * MINUTE, "10s",
    "From a new connection, or the first byte of a later request, to the end of the head.")
DURATION(limits, "body_timeout", body_timeout_us, RESTART, 100 * MS, 10 * MINUTE, "10s",
    "From the end of a request's head to its last byte.")

SECTION(sessions, "sessions", struct writ_sessions_config, "Sessions and the boundaries of runs.")
DURATION(sessions, "idle_expires", idle_expires_us, RESTART, 1 * SECOND, 30 * DAY, "1h",
    "A session that is unused for this long ends, and its boundary is sealed.")
DURATION(sessions, "window", window_us, RESTART, 1 * SECOND, 24 * HOUR, "10m",
    "The boundary of a client without session and without its own boundary: the agent, for this long.")
DURATION(sessions, "wait", wait_us, RESTART, 1 * SECOND, 30 * DAY, "24h",
    "How long a call waits for the client's input or for the end of a task; then it is over.")

SECTION(pool, "pool", struct writ_pool_config, "The shared pool of the hook API: its limits for each tenant.")
COUNT(pool, "entries", entries, LIVE, 0, 1000, "0",
    "Insights that the agents of one tenant share at one time; 0 turns the pool off.")
SIZE(pool, "entry", entry_bytes, LIVE, 64, 1 * MIB, "16KiB", "One insight, as canonical JSON.")
SIZE(pool, "tenant", tenant_bytes, LIVE, 64, 16 * MIB, "4MiB", "All insights of one tenant.")
COUNT(pool, "tags", tags, LIVE, 0, 1000, "16", "Tags of one insight.")
DURATION(pool, "keep", keep_us, LIVE, 1 * SECOND, 366 * DAY, "7d", "An insight ends after this.")

SECTION(
    credential, "credential", struct writ_credential_config, "The credential of a governed call.")
DURATION(credential, "lifetime", lifetime_us, LIVE, 1 * SECOND, 10 * MINUTE, "60s",
    "Its lifetime.")
WORD(credential, "alg", alg, LIVE, alg_words, NONE,
    "Signature algorithm that the active key must have; default: any.")
TEXT(credential, "typ", typ, LIVE, 1, 64, "writ-credential+jwt",
    "The typ of its header. JWT is for verifiers that accept no other; configure it in every verifier.")

SECTION(ledger, "ledger", struct writ_raw_ledger, "Claims and time in the ledger.")
DURATION(ledger, "claims_kept", claims_kept_us, RESTART, 10 * MINUTE, 366 * DAY, "24h",
    "Least time that a claim refuses duplicates. Existing claims keep the time of their "
    "record.")
DURATION(ledger, "clock_tolerance", clock_tolerance_us, RESTART, 0, 10 * MINUTE, "2s",
    "How far the clock may step back before calls are refused.")
DURATION(ledger, "busy_timeout", busy_timeout_us, RESTART, 1 * MS, 5 * MINUTE, "2s",
    "How long to wait for a locked database.")
DURATION(ledger, "scrub_every", scrub_every_us, RESTART, 1 * SECOND, 366 * DAY, "24h",
    "How often all records are verified in the background; an edit that is found refuses every call.")
PATH(ledger, "remember", remember, RESTART, 1, 4096, NONE,
    "File for the last checkpoint, by which the gateway detects a ledger that was put back from a copy; "
    "default: beside the ledger (`ledger.db.remembered`). Keep it out of backups.")
PATH(ledger, "files", files, RESTART, 1, 4096, NONE,
    "Where the files are that a gateway keeps beside a ledger on PostgreSQL: their names begin with this path; "
    "default: `ledger` in the folder of this file. With SQLite they are beside the ledger.")
TEXT(ledger, "gateway", gateway, RESTART, 1, 200, NONE,
    "The name of this gateway among those that share a ledger on PostgreSQL, which no other running one has; "
    "default: the name of the host and the first address of `listen`.")
DURATION(ledger, "lease", lease_us, RESTART, 1 * SECOND, 5 * MINUTE, "10s",
    "With PostgreSQL: a gateway that was not heard of for so long is dead, and the others give its calls an end.")
WORD(ledger, "replication", replication, RESTART, replication_words, "synchronous",
    "With PostgreSQL: a commit must be confirmed by a synchronous standby, else a failover could lose claims. "
    "none_needed: a single server.")
PATH(ledger, "pinned", pinned, RESTART, 1, 4096, NONE,
    "File with a checkpoint that the ledger must contain; otherwise the gateway does not open it.")
NODE(ledger, "anchors", anchors, RESTART, SHAPE_ANCHORS, NONE,
    "Places for the ledger's last checkpoint, out of reach of those who can change the ledger.")

SECTION(anchor, "an entry of anchors", struct writ_raw_anchor,
    "A place for checkpoints. A failure is logged and tried again, and stops no call.")
TEXT(anchor, "to", to, RESTART, 1, 4096, REQUIRED,
    "A file, which never goes back to an older checkpoint, or an https URL (http on loopback), to "
    "which checkpoints are posted.")
PATH(anchor, "ca", ca, RESTART, 1, 4096, NONE,
    "PEM file of the authorities of the URL's certificate; default: the system's.")
DURATION(anchor, "every", every_us, RESTART, 1 * SECOND, 366 * DAY, "1m",
    "How often to look for a new checkpoint.")

SECTION(export, "an entry of export", struct writ_raw_export,
    "A collector or a syslog receiver. A failure is logged and tried again, and stops no call.")
TEXT(export, "name", name, RESTART, 1, 64, REQUIRED,
    "Its name in the log, in metrics and in the name of the cursor: letters, digits, '-' and '_'.")
TEXT(export, "to", to, RESTART, 1, 4096, REQUIRED,
    "An https URL (http on loopback), to which lines are posted, or syslog+tls://HOST:PORT (syslog+tcp on this machine).")
WORD(export, "format", format, RESTART, export_format_words, "json",
    "The form of an event: json (the record), ocsf or cef.")
PATH(export, "token", token, RESTART, 1, 4096, NONE,
    "File with the secret of an https collector, which other users must not be able to read; read for each batch.")
TEXT(export, "scheme", scheme, RESTART, 1, 64, "Bearer", "The word before the secret in Authorization.")
PATH(export, "ca", ca, RESTART, 1, 4096, NONE,
    "PEM file of the authorities of the receiver's certificate; default: the system's.")
PATH(export, "cert", cert, RESTART, 1, 4096, NONE, "PEM file of a client certificate.")
PATH(export, "key", key, RESTART, 1, 4096, NONE, "PEM file of its private key, unencrypted.")
SWITCH(export, "plain_close", plain_close, RESTART, "false",
    "Whether a TLS syslog receiver may end a connection without close_notify, as rsyslog with GnuTLS does.")
PATH(export, "cursor", cursor, RESTART, 1, 4096, NONE,
    "File with the index of the next record; default: beside the ledger (`ledger.db.export-NAME`).")

SECTION(telemetry, "telemetry", struct writ_raw_telemetry,
    "What an OpenTelemetry collector gets, by OTLP over HTTP. No call waits for it; what the collector does not "
    "take is lost, and counted.")
TEXT(telemetry, "otlp", otlp, RESTART, 1, 1024, NONE,
    "The collector, as an https URL (http on loopback) without a slash at its end: /v1/traces, /v1/metrics "
    "and /v1/logs are appended. Without it nothing is sent.")
PATH(telemetry, "headers_file", headers_file, RESTART, 1, 4096, NONE,
    "File with fields of HTTP for the collector, such as its token, one \"Name: value\" a line; read for each export.")
PATH(telemetry, "ca", ca, RESTART, 1, 4096, NONE,
    "PEM file of the authorities of the collector's certificate; default: the system's.")
SWITCH(telemetry, "traces", traces, RESTART, "true", "Whether requests are sent as spans.")
SWITCH(telemetry, "metrics", metrics, RESTART, "true", "Whether the values of /metrics are sent.")
SWITCH(telemetry, "logs", logs, RESTART, "true", "Whether the log lines of requests are sent, at every log.level.")
TEXT(telemetry, "sample", sample, RESTART, 1, 32, "1",
    "The share of traces that are sent, from 0 to 1, chosen by the trace id.")
WORD(telemetry, "incoming", incoming, RESTART, incoming_words, "parent",
    "What a caller's traceparent does. link: a request begins a trace of its own, with a link to the caller's span. "
    "parent: it becomes part of the caller's trace; sample decides whether it is sent. sampled: the same, and the "
    "caller's flag decides.")
DURATION(telemetry, "metrics_every", metrics_every_us, RESTART, 1 * SECOND, 1 * HOUR, "1m",
    "How often metrics are sent.")
PAIRS(telemetry, "resource", resource, RESTART, 32,
    "Attributes of the resource, besides service.name (writ), service.version and service.instance.id, which may be "
    "replaced.")
WITH(telemetry, "otlp", "has no effect without otlp", "headers_file", "ca", "traces", "metrics", "logs", "sample",
    "incoming", "metrics_every", "resource")

SECTION(notify, "an entry of notify", struct writ_raw_notify,
    "A place for messages to people about reviews and stops (docs/notify.md). A failure is logged and tried "
    "again, and delays no call.")
PATH(notify, "slack", slack, RESTART, 1, 4096, NONE,
    "File with the URL of an incoming webhook of Slack.")
PATH(notify, "teams", teams, RESTART, 1, 4096, NONE,
    "File with the URL of a workflow of Microsoft Teams that posts an Adaptive Card.")
TEXT(notify, "webhook", webhook, RESTART, 1, 2048, NONE,
    "https URL (http on loopback) to which messages are posted, signed.")
PATH(notify, "secret", secret, RESTART, 1, 4096, NONE,
    "File with the secret of the webhook: whsec_ and base64 of 24 to 64 bytes.")
TEXT(notify, "email", email, RESTART, 1, 512, NONE,
    "Mail server, smtp://HOST:PORT (with STARTTLS, unless on loopback) or smtps://HOST:PORT.")
TEXT(notify, "from", from, RESTART, 1, 254, NONE, "The sender's address.")
TEXTS(notify, "to", to, RESTART, 64, "The recipients' addresses.")
TEXT(notify, "user", user, RESTART, 1, 256, NONE, "Name for the login at the mail server.")
PATH(notify, "password", password, RESTART, 1, 4096, NONE, "File with the password for it.")
PATH(notify, "ca", ca, RESTART, 1, 4096, NONE,
    "PEM file of the authorities of the place's certificate; default: the system's. With it also a mail server "
    "on loopback needs TLS.")
TEXTS(notify, "events", events, RESTART, 4,
    "Of review_opened, review_expiring, stop_pulled and stop_lifted; default: all.")
TEXTS(notify, "tenants", tenants, RESTART, 64, "Only notices of these tenants; default: all.")
TEXT(notify, "quiet", quiet, RESTART, 1, 16, NONE,
    "Hours in UTC in which messages about reviews wait, such as 22:00-06:30. Stops do not.")
DURATION(notify, "batch", batch_us, RESTART, 1 * SECOND, 1 * HOUR, "30s",
    "What comes within this time of the first notice is one message.")
DURATION(notify, "expiring", expiring_us, RESTART, 1 * SECOND, 7 * DAY, "5m",
    "How long before the end of a review a notice says that it is still open.")
ONE_OF(notify, "slack", "teams", "webhook", "email")
WITH(notify, "webhook", "is only for a webhook", "secret")
WITH(notify, "email", "is only for email", "from", "to", "user", "password")

SECTION(log, "log", struct writ_log_config, "The log; its lines go to standard error.")
WORD(log, "level", level, RESTART, level_words, "info",
    "The least urgent level that is logged: error, warn, info or debug.")

#undef SECTION
#undef TEXT
#undef PATH
#undef WORD
#undef SWITCH
#undef COUNT
#undef SIZE
#undef DURATION
#undef TEXTS
#undef PAIRS
#undef ADDRESS
#undef DIGEST
#undef INNER
#undef NODE
#undef ONE_OF
#undef ONE_AT_MOST
#undef ONE_WITH
#undef WITH
#undef REQUIRED
#undef NONE
#undef KIB
#undef MIB
#undef GIB
#undef MS
#undef SECOND
#undef MINUTE
#undef HOUR
#undef DAY
/* clang-format on */
