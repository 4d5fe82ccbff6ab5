// SPDX-License-Identifier: Apache-2.0
// Handlers for "allot bench": one does nothing, so the measured time is the system's; the other
// reports its start to the socket that the payload names.
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <cstdint>

namespace {

class Noop : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& /*ctx*/) override { return allot::success(); }
};

class Start : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t started_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    ctx.payload().copy(to.sun_path, sizeof to.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto sent = ::sendto(fd, &started_ns, sizeof started_ns, 0,
                               reinterpret_cast<const sockaddr*>(&to), sizeof to);
    ::close(fd);
    return sent == sizeof started_ns ? allot::success() : allot::fail("no benchmark is listening");
  }
};

ALLOT_HANDLER("bench.noop", Noop)
ALLOT_HANDLER("bench.start", Start)

}  // namespace
