// SPDX-License-Identifier: Apache-2.0
#include "supervisor/sd_notify.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "support/temp_dir.h"

namespace allot::supervisor {
namespace {

// systemd's end of the protocol: a bound datagram socket. A leading '@' is the abstract name space.
class Listener {
 public:
  explicit Listener(const std::string& name)
      : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    timeval patience{10, 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  std::string receive() {
    std::array<char, 1024> buffer{};
    const ssize_t size = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    return size < 0 ? "nothing" : std::string(buffer.data(), static_cast<std::size_t>(size));
  }

 private:
  UniqueFd socket_;
};

TEST(Notifier, SpeaksToAPath) {
  const support::TempDir dir;
  Listener listener(dir / "n");
  setenv("NOTIFY_SOCKET", (dir / "n").c_str(), 1);
  Notifier notifier;
  notifier.open();
  notifier.send("READY=1\nSTATUS=%d workers", 4);
  EXPECT_EQ(listener.receive(), "READY=1\nSTATUS=4 workers");
  EXPECT_EQ(getenv("NOTIFY_SOCKET"), nullptr) << "not for the children";
}

TEST(Notifier, SpeaksToAnAbstractName) {
  const std::string name = "@allot-test-" + std::to_string(getpid());
  Listener listener(name);
  setenv("NOTIFY_SOCKET", name.c_str(), 1);
  Notifier notifier;
  notifier.open();
  notifier.send("STOPPING=1");
  EXPECT_EQ(listener.receive(), "STOPPING=1");
}

TEST(Notifier, KnowsHalfOfTheWatchdogsLimit) {
  setenv("WATCHDOG_USEC", "3000000", 1);
  Notifier notifier;
  notifier.open();
  EXPECT_EQ(notifier.watchdog_interval(), 1'500 * kMilli);
  EXPECT_EQ(getenv("WATCHDOG_USEC"), nullptr);
}

TEST(Notifier, IsSilentWithoutASocket) {
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  Notifier notifier;
  notifier.open();
  notifier.send("READY=1");
  EXPECT_EQ(notifier.watchdog_interval(), 0U);
}

}  // namespace
}  // namespace allot::supervisor
