/* Runs initdb and postgres of the newest installed version as children; they end when this program
 * ends. */
#include "support/store/cluster.h"

#include "store/sql/sql_postgres.h"
#include "support/unit.h"

#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE 256

/* Which user runs the server: initdb refuses root. */
static void
owner(uid_t *ret_uid, gid_t *ret_gid)
{
    struct passwd *user;

    *ret_uid = geteuid();
    *ret_gid = getegid();
    if (*ret_uid == 0) {
        user = getpwnam("postgres");
        ck_assert_msg(user != NULL, "no user postgres: run scripts/deps test");
        *ret_uid = user->pw_uid;
        *ret_gid = user->pw_gid;
    }
}

static void
program(const char *name, char ret[PATH_SIZE])
{
    char pattern[PATH_SIZE];
    glob_t found;

    (void)snprintf(pattern, sizeof pattern, "/usr/lib/postgresql/*/bin/%s", name);
    ck_assert_msg(glob(pattern, 0, NULL, &found) == 0, "no %s: run scripts/deps test", pattern);
    (void)snprintf(ret, PATH_SIZE, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
}

/* Starts a program of PostgreSQL in the folder of the cluster. It looks for others of its version
 * beside its first argument: that is its whole path. */
static pid_t
spawn(const struct writ_cluster *cluster, const char *name, const char **arguments)
{
    char path[PATH_SIZE];
    pid_t parent = getpid(), pid;
    uid_t uid;
    gid_t gid;

    program(name, path);
    arguments[0] = path;
    owner(&uid, &gid);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(gid) != 0 || setuid(uid) != 0)) {
            _exit(126);
        }
        (void)prctl(PR_SET_PDEATHSIG, SIGQUIT); /* after setuid, which clears it */
        if (getppid() != parent || chdir(cluster->dir) != 0 ||
            freopen("log", "a", stdout) == NULL || dup2(1, 2) < 0) {
            _exit(125);
        }
        (void)execv(path, (char *const *)arguments);
        _exit(127);
    }
    return pid;
}

static void
show_log(const struct writ_cluster *cluster)
{
    char path[PATH_SIZE], line[512];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/log", cluster->dir);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)fputs(line, stderr);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* True when postmaster.pid says that the server takes connections. */
static bool
is_ready(const struct writ_cluster *cluster)
{
    char path[PATH_SIZE], text[1024];
    size_t len;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/data/postmaster.pid", cluster->dir);
    file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    len = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[len] = '\0';
    return strstr(text, "\nready") != NULL;
}

void
writ_cluster_restart(struct writ_cluster *cluster, const char *setting)
{
    const char *arguments[] = {"postgres", "-D", "data", "-k", cluster->dir, "-h", "", "-c",
        "fsync=off", "-c", setting != NULL ? setting : "fsync=off", NULL};
    int status;

    cluster->pid = spawn(cluster, "postgres", arguments);
    while (!is_ready(cluster)) {
        if (waitpid(cluster->pid, &status, WNOHANG) == cluster->pid) {
            show_log(cluster);
            ck_abort_msg("postgres ended with status %d", status);
        }
        (void)usleep(5000);
    }
}

void
writ_cluster_start(struct writ_cluster *cluster)
{
    const char *arguments[] = {"initdb", "-D", "data", "-U", "postgres", "-A", "trust", "--no-sync",
        "--no-locale", "-E", "UTF8", NULL};
    uid_t uid;
    gid_t gid;
    int status = 0;
    pid_t pid;

    *cluster = (struct writ_cluster){.dir = "/tmp/writ-cluster-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(cluster->dir));
    owner(&uid, &gid);
    ck_assert_int_eq(chown(cluster->dir, uid, gid), 0);
    (void)snprintf(cluster->uri, sizeof cluster->uri,
        "postgresql:///postgres?host=%s&user=postgres", cluster->dir);
    pid = spawn(cluster, "initdb", arguments);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    if (status != 0) {
        show_log(cluster);
        ck_abort_msg("initdb ended with status %d", status);
    }
    writ_cluster_restart(cluster, NULL);
}

void
writ_cluster_end(struct writ_cluster *cluster, int signal)
{
    if (cluster->pid > 0) {
        ck_assert_int_eq(kill(cluster->pid, signal), 0);
        ck_assert_int_eq(waitpid(cluster->pid, NULL, 0), cluster->pid);
        cluster->pid = 0;
    }
}

struct writ_sql *
writ_cluster_connect(const char *uri, int64_t wait_us)
{
    const struct writ_sql_postgres_options options = {.uri = uri, .wait_us = wait_us};
    struct writ_sql *sql = NULL;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_sql_postgres(&options, &sql, &err)), "%s", err.text);
    return sql;
}

void
writ_cluster_run(struct writ_sql *sql, const char *text)
{
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_sql_execute(sql, text, &err)), "%s: %s", text, err.text);
}

void
writ_cluster_remove(struct writ_cluster *cluster)
{
    writ_cluster_end(cluster, SIGQUIT);
    writ_unit_remove(cluster->dir);
}
