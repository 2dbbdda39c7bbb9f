/* A Unix socket is reached by its own user alone, one process has its path at a time, and a socket
 * that a killed process left is replaced. */
#include "support/unit.h"

#include "gateway/io/unix_socket.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/writ-unix-XXXXXX", path[64];

static void
set_up(void)
{
    (void)strcpy(folder, "/tmp/writ-unix-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder)); /* mode 0700 */
    (void)snprintf(path, sizeof path, "%s/s", folder);
}

static void
tear_down(void)
{
    char lock[80];

    (void)snprintf(lock, sizeof lock, "%s.lock", path);
    (void)unlink(lock);
    (void)unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static int
connect_to(const char *where)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_ok(writ_unix_socket_address(writ_view_str(where), &address, NULL));
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

START_TEST(is_address_with_scheme_gives_path)
{
    struct writ_view rest;

    ck_assert(writ_unix_socket_is(WRIT_LIT("unix:/a/b"), &rest));
    ck_assert_view(rest, "/a/b");
    ck_assert(!writ_unix_socket_is(WRIT_LIT("127.0.0.1:80"), &rest));
    ck_assert(!writ_unix_socket_is(WRIT_LIT("/a/b"), &rest));
}
END_TEST

START_TEST(address_at_both_sides_of_limit_is_taken_or_refused)
{
    char text[WRIT_UNIX_SOCKET_PATH_MAX + 2];
    struct sockaddr_un address;

    memset(text, 'a', sizeof text);
    ck_assert_ok(
        writ_unix_socket_address(writ_view(text, WRIT_UNIX_SOCKET_PATH_MAX), &address, NULL));
    ck_assert_uint_eq(strlen(address.sun_path), WRIT_UNIX_SOCKET_PATH_MAX);
    ck_assert_code(
        writ_unix_socket_address(writ_view(text, WRIT_UNIX_SOCKET_PATH_MAX + 1), &address, NULL),
        WRIT_E_LIMIT);
    ck_assert_code(writ_unix_socket_address(WRIT_LIT(""), &address, NULL), WRIT_E_INVALID);
}
END_TEST

START_TEST(listen_in_private_folder_accepts_own_user)
{
    struct writ_unix_socket one;
    struct stat about;
    int fd, accepted;

    set_up();
    ck_assert_ok(writ_unix_socket_listen(writ_view_str(path), 8, &one, NULL));
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_uint_eq(about.st_mode & 0777, 0600);
    fd = connect_to(path);
    ck_assert_int_ge(fd, 0);
    accepted = accept(one.fd, NULL, NULL);
    ck_assert_int_ge(accepted, 0);
    ck_assert(writ_unix_socket_is_ours(accepted));
    (void)close(accepted);
    (void)close(fd);
    writ_unix_socket_close(&one);
    ck_assert_int_ne(access(path, F_OK), 0);
    tear_down();
}
END_TEST

START_TEST(listen_on_path_in_use_is_busy_and_leaves_the_socket)
{
    struct writ_unix_socket one, two;
    int fd;

    set_up();
    ck_assert_ok(writ_unix_socket_listen(writ_view_str(path), 8, &one, NULL));
    ck_assert_code(writ_unix_socket_listen(writ_view_str(path), 8, &two, NULL), WRIT_E_BUSY);
    writ_unix_socket_close(&two);
    fd = connect_to(path);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    writ_unix_socket_close(&one);
    tear_down();
}
END_TEST

START_TEST(listen_over_stale_socket_replaces_it)
{
    struct writ_unix_socket one;
    int fd;

    set_up();
    ck_assert_ok(writ_unix_socket_listen(writ_view_str(path), 8, &one, NULL));
    (void)close(one.fd); /* as SIGKILL does */
    (void)close(one.lock);
    ck_assert_int_lt(connect_to(path), 0);
    ck_assert_ok(writ_unix_socket_listen(writ_view_str(path), 8, &one, NULL));
    fd = connect_to(path);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    writ_unix_socket_close(&one);
    tear_down();
}
END_TEST

START_TEST(listen_over_other_file_or_in_open_folder_is_refused)
{
    struct writ_unix_socket one;
    int fd;

    set_up();
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    ck_assert_code(writ_unix_socket_listen(writ_view_str(path), 8, &one, NULL), WRIT_E_INVALID);
    writ_unix_socket_close(&one);
    ck_assert_int_eq(access(path, F_OK), 0);
    (void)unlink(path);
    (void)chmod(folder, 0750);
    ck_assert_code(writ_unix_socket_listen(writ_view_str(path), 8, &one, NULL), WRIT_E_INVALID);
    writ_unix_socket_close(&one);
    (void)chmod(folder, 0700);
    tear_down();
}
END_TEST

WRIT_UNIT_MAIN("unix_socket", is_address_with_scheme_gives_path,
    address_at_both_sides_of_limit_is_taken_or_refused, listen_in_private_folder_accepts_own_user,
    listen_on_path_in_use_is_busy_and_leaves_the_socket, listen_over_stale_socket_replaces_it,
    listen_over_other_file_or_in_open_folder_is_refused)
