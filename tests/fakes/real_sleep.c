/* clock_nanosleep of the kernel, for a process with libfaketime: that of libfaketime 0.9.10 fails
 * with EINVAL if the monotonic clock is not faked, and Python's time.sleep calls it
 * (issue 426 of libfaketime). */

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  return syscall(SYS_clock_nanosleep, clock, flags, time, left) == 0 ? 0 : errno;
}
