// SPDX-License-Identifier: BSD-3-Clause
// Loaded before the C library: files cannot be locked, as on an NFS mount without its lock service.
#include <sys/file.h>

#include <cerrno>

extern "C" int flock(int, int) noexcept {
    errno = ENOLCK;
    return -1;
}
