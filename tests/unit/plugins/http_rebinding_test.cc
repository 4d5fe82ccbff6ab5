// SPDX-License-Identifier: Apache-2.0
// A rebinding name server: it answers each question with another address. It is real, in a network
// of the test, and queried by the resolver of the C library.
#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/unique_fd.h"
#include "support/temp_dir.h"
#include "unit/plugins/http_fixture.h"

namespace allot {
namespace {

constexpr std::size_t kHead = 12;  // of a question or an answer
constexpr std::uint16_t kDnsPort = 53;

// Answers the first question for an address with 127.0.0.1, and each later one with 127.0.0.2.
class RebindingServer {
 public:
  RebindingServer() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_port = htons(kDnsPort);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    thread_ = std::thread([this] { serve(); });
  }
  RebindingServer(const RebindingServer&) = delete;
  RebindingServer& operator=(const RebindingServer&) = delete;
  ~RebindingServer() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  void serve() {
    for (;;) {
      std::array<char, 512> packet{};
      sockaddr_in from = {};
      socklen_t size = sizeof from;
      const ssize_t got = ::recvfrom(socket_.get(), packet.data(), packet.size(), 0,
                                     reinterpret_cast<sockaddr*>(&from), &size);
      if (got <= static_cast<ssize_t>(kHead)) return;
      const std::string answer = answer_to({packet.data(), static_cast<std::size_t>(got)});
      (void)::sendto(socket_.get(), answer.data(), answer.size(), 0,
                     reinterpret_cast<const sockaddr*>(&from), size);
    }
  }

  // No IPv6 address exists.
  std::string answer_to(const std::string& asked) {
    const std::size_t end = asked.find('\0', kHead) + 5;  // name, type and class
    const bool is_v4 = asked.at(end - 3) == 1;
    std::string answer = asked.substr(0, end);
    answer.replace(2, 2, "\x81\x80", 2);  // an answer without an error
    answer.replace(6, 6, std::string("\0\1\0\0\0\0", 6).replace(1, 1, 1, is_v4 ? '\1' : '\0'));
    if (!is_v4) return answer;
    answer += std::string("\xc0\x0c\0\1\0\1\0\0\0\0\0\4", 12);  // same name, TTL 0 s, four bytes
    return answer += std::string("\x7f\0\0", 3) + (asked_++ == 0 ? '\1' : '\2');
  }

  UniqueFd socket_;
  std::atomic<int> asked_ = 0;
  std::thread thread_;
};

// From now on this thread, and the threads that it starts, are in a separate network, in which
// names are resolved on the loopback. Returns what is missing for that.
std::string leave_the_network(const support::TempDir& dir) {
  const std::string servers = dir.write("resolv.conf", "nameserver 127.0.0.1\n");
  const std::string order = dir.write("nsswitch.conf", "hosts: dns\n");
  const auto covered = [](const std::string& by, const char* file) {
    return ::mount(by.c_str(), file, nullptr, MS_BIND, nullptr) == 0;
  };
  if (::unshare(CLONE_NEWNS | CLONE_NEWNET) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      !covered(servers, "/etc/resolv.conf") || !covered(order, "/etc/nsswitch.conf")) {
    return std::string("a network and mounts of its own: ") + std::strerror(errno);
  }
  const UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq loopback = {};
  std::memcpy(loopback.ifr_name, "lo", 3);
  loopback.ifr_flags = IFF_UP;
  return ::ioctl(any.get(), SIOCSIFFLAGS, &loopback) == 0 ? "" : "a loopback";
}

class HttpRebinding : public HttpTest {
 protected:
  static void attack() {
    RebindingServer names;
    Target target(Target::always(200, ""));
    const std::string port = ":" + std::to_string(target.port());
    test::Settings settings =
        HttpTest::settings("http://rebind.test" + port, {{"keep_alive", "0s"}});
    settings.emplace("allow", "http://127.0.0.1" + port);
    test::Handler handler("t", settings);
    EXPECT_EQ(handler.run("x").outcome, success());
    EXPECT_EQ(names.asked(), 1) << "a second question would have had another answer";
    const auto rebound = handler.run("x").outcome;
    EXPECT_EQ(rebound.kind, ALLOT_FAIL);
    EXPECT_NE(rebound.reason.find("127.0.0.2 is not globally reachable"), std::string::npos)
        << rebound.reason;
    EXPECT_EQ(target.connections(), 1U);
  }
};

TEST_F(HttpRebinding, CheckedAddressIsUsed) {
  const support::TempDir dir;
  std::string lacks;
  std::thread([&] {
    lacks = leave_the_network(dir);
    if (lacks.empty()) attack();
  }).join();
  if (!lacks.empty()) GTEST_SKIP() << "needs root, and " << lacks;
}

}  // namespace
}  // namespace allot
