// SPDX-License-Identifier: Apache-2.0
// A server without free descriptors reports it, and continues when it has some again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "log/log.h"
#include "support/eventually.h"
#include "support/http_client.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "unit/gateway/tiny_application.h"

namespace allot::test {
namespace {

// A child process with a small limit of descriptors.
class PoorServer {
 public:
  PoorServer() {
    std::vector<http::Listener> listeners;
    listeners.push_back(port_listener(port_));
    pid_ = fork();
    if (pid_ != 0) return;
    const rlimit few{40, 40};
    setrlimit(RLIMIT_NOFILE, &few);
    log::setup("poor", log::Level::kInfo, log_);
    TinyApplication application;
    http::Server(application, {}, std::move(listeners), {}).run();
    _exit(0);
  }
  PoorServer(const PoorServer&) = delete;
  PoorServer& operator=(const PoorServer&) = delete;
  ~PoorServer() {
    support::send_signal(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] bool runs() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }
  [[nodiscard]] std::vector<std::string> complaints() const {
    auto lines = support::read_lines(log_);
    std::erase_if(lines, [](const std::string& line) {
      return line.find("gateway.accept_failed") == std::string::npos;
    });
    return lines;
  }

 private:
  support::TempDir folder_;
  std::string log_ = folder_ / "log";
  int port_ = 0;
  pid_t pid_ = -1;
};

TEST(Shortage, WithoutDescriptorsOneIsRefusedAndTheOthersWait) {
  const PoorServer server;
  std::vector<HttpClient> served;
  std::optional<Answer> answer;
  for (int count = 0; count < 60; ++count) {
    auto client = HttpClient::to_port(server.port());
    answer = client.ask(get("/hello"));
    ASSERT_TRUE(answer) << "after " << served.size() << " connections";
    if (answer->status != 200) break;
    served.push_back(std::move(client));
  }
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->fields.at("retry-after"), "1");
  EXPECT_GT(served.size(), 10U);
  EXPECT_EQ(served.front().ask(get("/hello"))->status, 200) << "an accepted client is served";
  EXPECT_EQ(HttpClient::to_port(server.port()).ask(get("/hello"))->status, 503);
  EXPECT_TRUE(server.runs());
  EXPECT_EQ(server.complaints().size(), 1U);

  served.clear();
  EXPECT_TRUE(support::eventually([&] {
    const auto again = HttpClient::to_port(server.port()).ask(get("/hello"));
    return again && again->status == 200;
  }));
}

}  // namespace
}  // namespace allot::test
