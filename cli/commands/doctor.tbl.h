/* doctor.tbl.h - everything that `writ doctor` can find. The output and docs/doctor.md have these
 * rows; integration.doctor compares the page.
 *
 * X(NAME, "name", "area", SEVERITY, "meaning", "what to do")
 * name      stable: never renamed, never used for something else
 * area      the part of a gateway that was looked at
 * SEVERITY  ERROR: the gateway does not start, refuses calls, or is open to others
 *           WARNING: it works today
 * meaning   a sentence for the page, without a full stop
 * to do     an imperative, whole sentences, the same for each place */
#ifndef WRIT_CLI_DOCTOR_TBL_H
#define WRIT_CLI_DOCTOR_TBL_H

/* clang-format off */
#define WRIT_DOCTOR_CHECKS(X)                                                                      \
    X(CONFIGURATION_ERROR, "configuration_error", "configuration", ERROR,                          \
        "the configuration is not valid: the gateway does not start with it, or does not take it", \
        "Correct this place. `writ check` repeats the check.")                                     \
    X(CONFIGURATION_WARNING, "configuration_warning", "configuration", WARNING,                    \
        "the configuration is valid, and part of it is probably not what was meant",               \
        "Read the place again. `writ check` repeats the check.")                                   \
    X(PLACEHOLDER, "placeholder", "configuration", ERROR,                                          \
        "a value is still the placeholder that `writ init` wrote",                                 \
        "Write your own value in its place.")                                                      \
    X(NOT_AGREED, "not_agreed", "configuration", WARNING,                                          \
        "the rules of an included file are not agreed: every call of its server is refused",       \
        "Read the file, then run `writ wrap --agree NAME`.")                                       \
    X(SHADOW, "shadow", "configuration", WARNING,                                                  \
        "rules are in shadow mode: their calls run whatever the verdict is",                       \
        "Set `shadow: false` when the recorded verdicts are as they should be.")                   \
    X(FILE_MISSING, "file_missing", "files", ERROR,                                                \
        "a file or folder that the configuration names is missing or not readable",                \
        "Create it, or correct the path in the configuration.")                                    \
    X(FILE_OPEN, "file_open", "files", ERROR,                                                      \
        "other users can read a secret, or can change what the gateway trusts",                    \
        "Take the access away: chmod 600 for a secret, chmod go-w for a file, chmod 700 for a folder.") \
    X(FOLDER_READ_ONLY, "folder_read_only", "files", ERROR,                                        \
        "the gateway cannot write where it keeps its ledger or a checkpoint",                      \
        "Give the gateway's user the folder, and run `writ doctor` as that user.")                 \
    X(KEYS_UNREADABLE, "keys_unreadable", "keys", ERROR,                                           \
        "the key directory is missing, damaged, or open to other users",                           \
        "Make keys with `writ keys new`, or restore them and their modes. Run `writ doctor` as the gateway's user.") \
    X(KEY_MISSING, "key_missing", "keys", ERROR,                                                   \
        "the configuration needs a key that `keys` does not have",                                 \
        "Make it: `writ keys new --dir KEYS --purpose PURPOSE`.")                                  \
    X(KEY_ALGORITHM, "key_algorithm", "keys", ERROR,                                               \
        "the active key has another algorithm than `credential.alg`",                              \
        "Rotate it: `writ keys rotate --dir KEYS --alg ALG`, or change `credential.alg`.")         \
    X(KEY_OLD, "key_old", "keys", WARNING,                                                         \
        "an active key is older than a year",                                                      \
        "Rotate it: `writ keys rotate --dir KEYS --purpose PURPOSE`, then reload the gateway.")    \
    X(KEY_NOT_RETIRED, "key_not_retired", "keys", WARNING,                                         \
        "a key for credentials was rotated out more than a day ago and still verifies",            \
        "Retire it: `writ keys retire --dir KEYS --kid KID`, then reload the gateway.")            \
    X(MARK_KEY_UNUSABLE, "mark_key_unusable", "keys", ERROR,                                       \
        "`mark.key` in the key directory is damaged, or open to other users: a gateway with SQLite, or whose policy follows values, does not start", \
        "Restore the file from another gateway of the ledger or from a backup, with mode 600.")    \
    X(MARK_KEY_OTHER, "mark_key_other", "keys", ERROR,                                             \
        "the newest marks of the ledger are under another `mark.key`: values that earlier records saw are not found", \
        "Stop the gateway, copy `mark.key` from the key directory of the gateway that wrote them, with mode 600, and start it.") \
    X(LEDGER_MISSING, "ledger_missing", "ledger", ERROR,                                           \
        "`store` names a ledger that does not exist",                                              \
        "Correct `store`, or for a new gateway run `writ ledger init PATH`. An empty ledger does not know earlier calls.") \
    X(LEDGER_UNREADABLE, "ledger_unreadable", "ledger", ERROR,                                     \
        "the ledger cannot be opened: another version, modes, or not a ledger",                    \
        "Read docs/ledger.md before you change a file of the ledger.")                             \
    X(LEDGER_UNSOUND, "ledger_unsound", "ledger", ERROR,                                           \
        "the right edge of the ledger, or a checkpoint that was kept, contradicts it",             \
        "Stop the gateway, keep the files, and run `writ ledger verify PATH --keys KEYS`.")        \
    X(GATEWAY_NOT_READY, "gateway_not_ready", "gateway", ERROR,                                    \
        "the running gateway is not ready: its ledger is poisoned or refuses, or something else is missing", \
        "Read its log, and docs/monitoring.md.")                                                   \
    X(CLOCK_BEHIND, "clock_behind", "clock", ERROR,                                                \
        "the clock is before the last record, or before a key was made",                           \
        "Set the clock, and let it be synchronised.")                                              \
    X(PORT_TAKEN, "port_taken", "ports", ERROR,                                                    \
        "another program has an address of the gateway",                                           \
        "End that program, or change the address.")                                                \
    X(PORT_UNUSABLE, "port_unusable", "ports", ERROR,                                              \
        "the gateway cannot listen on its address",                                                \
        "Choose an address of this machine, and a port of 1024 or above.")                         \
    X(UPSTREAM_SILENT, "upstream_silent", "upstreams", ERROR,                                      \
        "an upstream does not answer initialize and tools/list, or its program is not found",      \
        "Start the server, or correct its entry.")                                                 \
    X(RULE_UNFIT, "rule_unfit", "upstreams", ERROR,                                                \
        "a rule does not fit the definitions that the server lists: calls by it are refused",      \
        "Correct the rule. `writ check --tools` repeats the check.")                               \
    X(ISSUER_UNREACHABLE, "issuer_unreachable", "issuers", ERROR,                                  \
        "the key set of an issuer of tokens cannot be read",                                       \
        "Correct `issuer` or `jwks`, or let the gateway reach them.")                              \
    X(ISSUER_KEYLESS, "issuer_keyless", "issuers", ERROR,                                          \
        "the key set of an issuer has no key that the gateway can use",                            \
        "Have the issuer publish a signing key: ES256, RS256 or EdDSA.")              \
    X(CERTIFICATE_UNUSABLE, "certificate_unusable", "certificates", ERROR,                         \
        "a file with certificates is not one, or its key belongs to another",                      \
        "Put the PEM chain and its own key there.")                                                \
    X(CERTIFICATE_EXPIRED, "certificate_expired", "certificates", ERROR,                           \
        "a certificate is over, or not yet valid",                                                 \
        "Renew it, then reload the gateway.")                                                      \
    X(CERTIFICATE_EXPIRING, "certificate_expiring", "certificates", WARNING,                       \
        "a certificate ends within the days of `--days`",                                          \
        "Renew it, then reload the gateway.")                                                      \
    X(DISK_FULL, "disk_full", "disk", ERROR,                                                       \
        "less than 64 MiB are free where the ledger is: calls are refused when it cannot be written", \
        "Free space, or move the ledger while the gateway is stopped.")                            \
    X(DISK_FULL_SOON, "disk_full_soon", "disk", WARNING,                                           \
        "at the rate of the last day the disk of the ledger is full within the days of `--days`",  \
        "Make room, or keep the contents of calls for a shorter time.")                            \
    X(LIMIT_REACHED, "limit_reached", "limits", WARNING,                                           \
        "since its start the running gateway has refused work because of a limit",                 \
        "Raise the limit, or find the caller: the log names it.")                                  \
    X(LIMIT_NEAR, "limit_near", "limits", WARNING,                                                 \
        "the running gateway uses at least four fifths of a limit",                                \
        "Raise the limit before it refuses work.")                                                 \
    X(BUDGET_NEAR, "budget_near", "limits", WARNING,                                               \
        "four fifths of a budget are used, or the present rate uses it up before its window ends",   \
        "See `writ budget list`. Raise the limit, or let the calls wait for the next window.")     \
    X(ADMIN_EXPOSED, "admin_exposed", "admin", ERROR,                                              \
        "the admin listener can be reached from other machines without TLS, or under a name of the MCP listener", \
        "Let `admin_listen` be a loopback address or a Unix socket, or set `admin_tls` with `client_ca`.") \
    X(ADMIN_OPEN, "admin_open", "admin", WARNING,                                                  \
        "the admin listener can be reached from other machines without a client certificate: /metrics and /readyz need no token", \
        "Set `admin_tls.client_ca`, or let `admin_listen` be a loopback address.")
/* clang-format on */

#endif
