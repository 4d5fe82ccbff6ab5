// SPDX-License-Identifier: Apache-2.0
// The gateway as a process: next to the workers of a daemon, and alone.
#include "e2e/gateway.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/exit_codes.h"
#include "base/posix.h"
#include "base/unique_fd.h"

namespace allot::e2e::gateway_test {
namespace {

using support::eventually;
using support::ExitStatus;

const std::string kSection = gateway_section();

UniqueFd connected(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* at = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(fd.get(), at, sizeof address) != 0) return {};
  return fd;
}

std::string got_from(const UniqueFd& fd, const std::string& request) {
  if (!fd.valid() || !write_all(fd.get(), request.data(), request.size())) return "no connection";
  std::string answer;
  char part[4096];
  for (ssize_t n = 0; (n = ::read(fd.get(), part, sizeof part)) > 0;) {
    answer.append(part, static_cast<std::size_t>(n));
  }
  return answer;
}

std::string request_text(const std::string& what, const std::string& fields = {},
                         const std::string& body = {}) {
  return what + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + fields +
         (body.empty() ? ""
                       : "Content-Type: application/json\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n") +
         "\r\n" + body;
}

// Status of the answer to one request on a new connection; 0: none.
int asked(const std::string& socket, const std::string& what, const std::string& body = {},
          const std::string& fields = {}) {
  const std::string answer = got_from(connected(socket), request_text(what, fields, body));
  return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
}

int submitted(const std::string& socket, const std::string& type = "test.write") {
  return asked(socket, "POST /api/v1/tasks",
               R"({"queue":"default","payload":"x","type":")" + type + "\"}");
}

bool answers(const std::string& socket) {
  return eventually([&] { return asked(socket, "GET /health/live") == 200; });
}

DaemonOptions with_gateway() {
  DaemonOptions options;
  options.more = kSection;
  return options;
}

TEST(Gateway, TakesTasksForTheWorkersAndIsStartedAgain) {
  Daemon daemon(with_gateway());
  const std::string socket = gateway_socket(daemon);
  ASSERT_TRUE(answers(socket)) << daemon.log();
  EXPECT_EQ(submitted(socket), 201);
  EXPECT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.written().size(), 1U);
  wait_ready(daemon, 2);
  const auto before = daemon.workers();
  const pid_t first = pid_in(daemon, "gateway.start");
  ASSERT_GT(first, 0) << daemon.log();
  support::send_signal(first, SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("gateway.ready") == 2; }))
      << daemon.log();
  EXPECT_EQ(submitted(socket), 201) << "the file of the one before was in its way";
  EXPECT_EQ(daemon.workers(), before);
  EXPECT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  EXPECT_FALSE(std::filesystem::exists(socket));
}

TEST(Gateway, ComesChangesAndGoesWithAReload) {
  Daemon daemon;
  const std::string socket = gateway_socket(daemon);
  ASSERT_TRUE(eventually([&] { return daemon.logged("supervisor.ready"); })) << daemon.log();
  const std::string first = daemon.allot({"gateway", "token", "first", "--read", "*"}).out;
  const std::string second = daemon.allot({"gateway", "token", "second", "--read", "*"}).out;
  const auto may = [&](const std::string& made) {
    return asked(socket, "GET /api/v1/queues", "",
                 "Authorization: Bearer " + made.substr(0, made.find('\n')) + "\r\n");
  };
  const auto section = [](const std::string& made) { return made.substr(made.find("[gateway")); };
  std::ofstream(daemon.config_file(), std::ios::app) << kSection << section(first);
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(answers(socket)) << daemon.log();
  EXPECT_EQ(may(first), 200);
  EXPECT_EQ(may(second), 401);
  const pid_t pid = pid_in(daemon, "gateway.listening");
  daemon.configure(section(first), section(second));
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("gateway.listening") == 2; }))
      << daemon.log();
  EXPECT_EQ(may(first), 401) << "a token is taken back by a reload";
  EXPECT_EQ(may(second), 200);
  EXPECT_EQ(pid_in(daemon, "gateway.listening"), pid) << "the same process";
  daemon.configure(kSection + section(second), "");
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("gateway.stopped"); })) << daemon.log();
  EXPECT_FALSE(std::filesystem::exists(socket));
  EXPECT_FALSE(daemon.logged("gateway.died"));
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
}

// Without a daemon: uses the database of a stopped one.
class GatewayAlone : public testing::Test {
 protected:
  static Daemon not_started() {
    DaemonOptions options = with_gateway();
    options.start = false;
    return Daemon(options);
  }

  Daemon daemon_ = not_started();
  std::string socket_ = gateway_socket(daemon_);
};

TEST_F(GatewayAlone, ServesUntilItIsStopped) {
  const auto gateway = start_gateway(daemon_);
  ASSERT_TRUE(answers(socket_)) << gateway->err();
  const auto rights = std::filesystem::status(socket_).permissions();
  EXPECT_EQ(rights & std::filesystem::perms::others_all, std::filesystem::perms::none);
  EXPECT_EQ(submitted(socket_), 201);
  const auto other = start_gateway(daemon_);
  EXPECT_EQ(other->wait(), (ExitStatus{kExitCannotCreate, 0}));
  EXPECT_NE(other->err().find("another process is listening on it"), std::string::npos)
      << other->err();
  EXPECT_EQ(asked(socket_, "GET /health/live"), 200) << "the other one took nothing away";
  gateway->signal(SIGTERM);
  EXPECT_EQ(gateway->wait(), (ExitStatus{0, 0})) << gateway->err();
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(GatewayAlone, AKilledOneIsNotInTheWay) {
  const auto first = start_gateway(daemon_);
  ASSERT_TRUE(answers(socket_)) << first->err();
  first->signal(SIGKILL);
  EXPECT_EQ(first->wait(), (ExitStatus{-1, SIGKILL}));
  ASSERT_TRUE(std::filesystem::exists(socket_));
  const auto second = start_gateway(daemon_);
  EXPECT_TRUE(answers(socket_)) << second->err();
}

TEST_F(GatewayAlone, AReloadWithAMistakeIsRefused) {
  const auto gateway = start_gateway(daemon_);
  ASSERT_TRUE(answers(socket_)) << gateway->err();
  daemon_.configure("[gateway]\n", "[gateway]\nbogus = 1\n");
  gateway->signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon_.logged("gateway.reload_refused"); }))
      << daemon_.log();
  EXPECT_EQ(asked(socket_, "GET /api/v1/queues"), 200);
  daemon_.configure("bogus = 1", "grant = \"none\"");
  gateway->signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return asked(socket_, "GET /api/v1/queues") == 401; }))
      << gateway->err();
}

// The database's messages about accounts and tables go only to the log.
TEST_F(GatewayAlone, ItsCallersLearnNothingOfItsAccount) {
  const std::string list = request_text("GET /api/v1/queues");
  auto db = daemon_.connect();
  db.execute("DROP USER IF EXISTS teller@localhost");
  daemon_.configure("[gateway.database]\nuser = \"root\"", "[gateway.database]\nuser = \"teller\"");
  const auto gateway = start_gateway(daemon_);
  ASSERT_TRUE(answers(socket_)) << gateway->err();
  const std::string unknown = got_from(connected(socket_), list);
  EXPECT_TRUE(unknown.starts_with("HTTP/1.1 500 ")) << unknown;
  EXPECT_NE(unknown.find("gateway.no_connection"), std::string::npos) << unknown;
  EXPECT_EQ(unknown.find("teller"), std::string::npos) << unknown;
  EXPECT_EQ(unknown.find("sock"), std::string::npos) << unknown;
  EXPECT_TRUE(daemon_.logged("teller")) << daemon_.log();

  db.execute("CREATE USER teller@localhost; GRANT SELECT ON " + daemon_.database() +
             ".* TO teller@localhost");
  ASSERT_TRUE(eventually([&] { return asked(socket_, "GET /api/v1/queues") == 200; }))
      << daemon_.log();
  const std::string pause = request_text("POST /api/v1/queues/default/pause", "", "{}");
  const std::string refused = got_from(connected(socket_), pause);
  db.execute("DROP USER teller@localhost");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 500 ")) << refused;
  EXPECT_NE(refused.find("gateway.refused"), std::string::npos) << refused;
  EXPECT_EQ(refused.find("teller"), std::string::npos) << refused;
  EXPECT_TRUE(daemon_.logged("gateway.refused")) << daemon_.log();
}

TEST_F(GatewayAlone, SaysWhatIsMissing) {
  daemon_.configure(kSection, "");
  const auto gateway = start_gateway(daemon_);
  EXPECT_EQ(gateway->wait(), (ExitStatus{kExitConfig, 0}));
  EXPECT_NE(gateway->err().find("has no section [gateway]"), std::string::npos) << gateway->err();
}

}  // namespace
}  // namespace allot::e2e::gateway_test
