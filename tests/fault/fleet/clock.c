/* clock.c - a clock that jumps, preloaded into one gateway. The time of day is the system's plus
 * the seconds in the file FLEET_CLOCK (one int64_t, mapped, so that the run changes it while the
 * gateway works). The other clocks are the system's. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* NULL until this library has begun: other libraries may ask for the time before */
static const volatile int64_t *jump;

__attribute__((constructor)) static void
map_jump(void)
{
    const char *path = getenv("FLEET_CLOCK");
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *jump, PROT_READ, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED) {
        abort();
    }
    close(fd);
    jump = at;
}

int
clock_gettime(clockid_t clock, struct timespec *ret)
{
    long result = syscall(SYS_clock_gettime, clock, ret);

    if (result == 0 && jump != NULL &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        ret->tv_sec += *jump;
    }
    return (int)result;
}

int
gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) {
        return -1;
    }
    ret->tv_sec = now.tv_sec;
    ret->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t
time(time_t *ret)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now) != 0) {
        return -1;
    }
    if (ret != NULL) {
        *ret = now.tv_sec;
    }
    return now.tv_sec;
}
