// SPDX-License-Identifier: Apache-2.0
// A reload of the gateway, as seen by its clients: connections that are kept alive survive it.
//   ALLOT_TEST_HUPS=100: number of reloads under load, of a gateway alone and of one below allotd
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "e2e/gateway.h"
#include "support/certificates.h"
#include "support/environment.h"
#include "support/http_client.h"
#include "support/prometheus_text.h"
#include "support/reserved_port.h"

namespace allot::e2e::gateway_reload_test {
namespace {

using support::Answer;
using support::eventually;
using support::HttpClient;
using support::read_file;
using support::status_of;

std::string task(const std::string& payload) {
  return submission(R"({"queue":"default","type":"test.ok","payload":")" + payload + "\"}");
}

support::PrometheusText metrics_of(const std::string& socket) {
  return support::PrometheusText(HttpClient::to_socket(socket).ask(get("/metrics")).value().body);
}
constexpr const char* kSubmitted = "allot_gateway_requests_total{route=\"submit\",status=\"2xx\"}";

// A gateway alone with the database of a stopped daemon.
class GatewayReload : public testing::Test {
 protected:
  static DaemonOptions options(const std::string& keys) {
    DaemonOptions options;
    options.start = false;
    options.more = gateway_section(keys);
    return options;
  }

  void start(const std::string& keys) {
    daemon_ = std::make_unique<Daemon>(options(keys));
    socket_ = gateway_socket(*daemon_);
    gateway_ = start_gateway(*daemon_, {.environment = environment_});
    wait_listening(*daemon_, *gateway_);
  }
  void start_with_port(const std::string& keys = {}) {
    start("listen = [\"127.0.0.1:" + std::to_string(port_.number()) + "\"]\n" + keys);
  }

  void reload() {
    const std::size_t before = daemon_->times_logged("gateway.listening");
    gateway_->signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return daemon_->times_logged("gateway.listening") > before; }))
        << gateway_->err() << daemon_->log();
  }

  std::vector<std::string> environment_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<support::Process> gateway_;
  std::string socket_;
  support::ReservedPort port_;
};

TEST_F(GatewayReload, ConnectionsThatAreKeptAliveAnswerAfterIt) {
  start_with_port();
  auto local = HttpClient::to_socket(socket_);
  auto remote = HttpClient::to_port(port_.number());
  auto silent = HttpClient::to_port(port_.number());
  auto half = HttpClient::to_socket(socket_);
  EXPECT_EQ(status_of(local.ask(get("/api/v1/queues"))), 200);
  EXPECT_EQ(status_of(remote.ask(get("/health/live"))), 200);
  for (int round = 0; round < 3; ++round) {
    // This one is in the middle of its head when the reload begins, which waits for it.
    half.send("GET /health/live HTTP/1.1\r\nHo");
    const std::size_t begun = daemon_->times_logged("gateway.listening");
    gateway_->signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return daemon_->times_logged("gateway.reloading") == begun; }));
    half.send("st: localhost\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return daemon_->times_logged("gateway.listening") > begun; }))
        << gateway_->err();
    EXPECT_EQ(status_of(half.answer()), 200);
    EXPECT_EQ(status_of(local.ask(get("/api/v1/queues"))), 200) << "as whom it was before";
    EXPECT_EQ(status_of(local.ask(task("x"))), 201);
    EXPECT_EQ(status_of(remote.ask(get("/health/live"))), 200);
    EXPECT_EQ(status_of(remote.ask(get("/api/v1/queues"))), 401) << "no more than before";
  }
  EXPECT_EQ(status_of(silent.ask(get("/health/live"))), 200);
  EXPECT_EQ(metrics_of(socket_).value(kSubmitted), 3) << "each reload counted on";
  // A connection uses the present configuration.
  daemon_->configure("socket = \"gateway.sock\"\n",
                     "socket = \"gateway.sock\"\ngrant = \"read\"\n");
  reload();
  EXPECT_EQ(status_of(local.ask(get("/api/v1/queues"))), 200);
  EXPECT_EQ(status_of(local.ask(task("x"))), 403);
  EXPECT_TRUE(local.is_closed()) << "its body was not read";
  local = HttpClient::to_socket(socket_);
  EXPECT_EQ(status_of(local.ask(get("/health/live"))), 200);
  daemon_->configure("listen = [", "listen = [] # [");
  reload();
  EXPECT_TRUE(remote.is_closed()) << "that address is no longer served";
  EXPECT_EQ(status_of(local.ask(get("/health/live"))), 200);
  // A stopped gateway has no successor.
  gateway_->signal(SIGTERM);
  EXPECT_EQ(gateway_->wait(), (support::ExitStatus{0, 0})) << gateway_->err();
  EXPECT_TRUE(local.is_closed());
}

TEST_F(GatewayReload, AConnectionOfFireworqStaysOne) {
  start("[gateway.fireworq]\nanonymous = true\nlisten = \"127.0.0.1:" +
        std::to_string(port_.number()) + "\"\n");
  auto fireworq = HttpClient::to_port(port_.number());
  auto local = HttpClient::to_socket(socket_);
  for (int round = 0; round < 2; ++round) {
    const auto version = fireworq.ask(get("/version"));
    ASSERT_EQ(status_of(version), 200);
    EXPECT_TRUE(version->body.starts_with("Fireworq ")) << version->body;
    EXPECT_EQ(status_of(fireworq.ask(get("/api/v1/queues"))), 404);
    EXPECT_EQ(status_of(local.ask(get("/api/v1/queues"))), 200);
    if (round == 0) reload();
  }
  // The clock of the second run advances, too.
  EXPECT_EQ(status_of(fireworq.ask("PUT /queue/q HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                                   "2\r\n\r\n{}")),
            200);
  EXPECT_TRUE(eventually([&] { return status_of(fireworq.ask(get("/queue/q/node"))) == 200; }));
}

TEST_F(GatewayReload, AStreamEndsAtABatchAndSaysWhereToGoOn) {
  start({});
  auto client = HttpClient::to_socket(socket_);
  const std::string line = R"({"queue":"default","type":"test.ok","payload":"x"})"
                           "\n";
  const auto chunk = [](const std::string& text) {
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    return size + text + "\r\n";
  };
  client.send(
      "POST /api/v1/tasks?batch=2 HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n" +
      chunk(line + line));
  ASSERT_EQ(status_of(client.head()), 200);
  EXPECT_NE(client.chunk().value_or("").find("\"last_line\":2"), std::string::npos);
  client.send(chunk(line));  // half of a batch
  gateway_->signal(SIGHUP);
  const std::string last = client.chunk().value_or("");
  EXPECT_NE(last.find("\"ok\":false"), std::string::npos) << last;
  const bool third = last.find("\"next_line\":4") != std::string::npos;
  EXPECT_TRUE(third || last.find("\"next_line\":3") != std::string::npos) << last;
  EXPECT_EQ(client.chunk(), "") << "the answer is whole";
  client.close();
  EXPECT_TRUE(eventually([&] { return daemon_->times_logged("gateway.listening") == 2; }));
  EXPECT_EQ(daemon_->count("task"), third ? 3U : 2U) << last;
}

constexpr std::string_view kLive = "{\"live\":true}\n";

// Receives notifications in place of systemd.
class Notified {
 public:
  Notified() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path().copy(at.sun_path, sizeof at.sun_path - 1);
    const timeval patience{20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) fd_.reset();
  }
  [[nodiscard]] std::string path() const { return folder_ / "notify"; }
  // The first line of the next datagram.
  [[nodiscard]] std::string next() const {
    std::string text(512, '\0');
    const ssize_t size = ::recv(fd_.get(), text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text.substr(0, text.find('\n'));
  }

 private:
  support::TempDir folder_;
  UniqueFd fd_;
};

TEST_F(GatewayReload, SystemdIsNotifiedOfStartReloadAndStop) {
  const Notified systemd;
  environment_ = {"NOTIFY_SOCKET=" + systemd.path()};
  start({});
  EXPECT_EQ(systemd.next(), "READY=1");
  for (int round = 0; round < 2; ++round) {
    gateway_->signal(SIGHUP);
    EXPECT_EQ(systemd.next(), "RELOADING=1");
    EXPECT_EQ(systemd.next(), "READY=1");
  }
  gateway_->signal(SIGTERM);
  EXPECT_EQ(systemd.next(), "STOPPING=1");
  EXPECT_EQ(gateway_->wait(), (support::ExitStatus{0, 0})) << gateway_->err();
}

// Health as seen by a client that trusts that authority; or the reason of a failure.
std::string over_tls(const support::Authority& authority, int port) {
  const auto done = support::run_program(
      {"openssl", "s_client", "-quiet", "-CAfile", authority.ca(), "-verify_return_error",
       "-verify_hostname", "localhost", "-connect", "127.0.0.1:" + std::to_string(port)},
      {.input = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"});
  return done.out.empty() ? done.err : done.out;
}

TEST_F(GatewayReload, TakesARenewedCertificate) {
  const support::Authority before;
  const support::Authority after;
  const auto files = before.issue("gateway", "DNS:localhost");
  start_with_port("tls_cert = \"" + files.cert + "\"\ntls_key = \"" + files.key + "\"\n");
  EXPECT_TRUE(over_tls(before, port_.number()).ends_with(kLive))
      << over_tls(before, port_.number());
  EXPECT_NE(over_tls(after, port_.number()).find("verify error"), std::string::npos)
      << "of another one";
  auto plain = HttpClient::to_port(port_.number());
  plain.send(get("/health/live"));
  EXPECT_EQ(plain.rest().find("200"), std::string::npos) << "nothing is answered in plain";
  auto kept = HttpClient::to_socket(socket_);
  EXPECT_EQ(status_of(kept.ask(get("/health/live"))), 200);
  const auto renewed = after.issue("gateway", "DNS:localhost");
  std::ofstream(files.cert, std::ios::binary) << read_file(renewed.cert);
  std::ofstream(files.key, std::ios::binary) << read_file(renewed.key);
  EXPECT_TRUE(over_tls(before, port_.number()).ends_with(kLive)) << "not by itself";
  reload();
  EXPECT_TRUE(over_tls(after, port_.number()).ends_with(kLive)) << over_tls(after, port_.number());
  EXPECT_EQ(status_of(kept.ask(get("/health/live"))), 200) << "the unix socket is not encrypted";
}

// Clients that keep their connection, and clients with one for each request.
class Load {
 public:
  explicit Load(std::string socket) : socket_(std::move(socket)) {
    for (int i = 0; i < 3; ++i) {
      clients_.emplace_back([this] { keep_asking(); });
      clients_.emplace_back([this] { ask_anew(); });
    }
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() { stop(); }

  void stop() {
    over_ = true;
    for (std::thread& each : clients_) {
      if (each.joinable()) each.join();
    }
  }
  [[nodiscard]] int good() const { return good_; }
  [[nodiscard]] int bad() const { return bad_; }

 private:
  void keep_asking() {
    auto client = HttpClient::to_socket(socket_);
    while (!over_) count(client.ask(task("kept")));
  }
  void ask_anew() {
    while (!over_) count(HttpClient::to_socket(socket_).ask(task("anew")));
  }
  void count(const std::optional<Answer>& answer) { ++(status_of(answer) == 201 ? good_ : bad_); }

  std::string socket_;
  std::atomic<bool> over_ = false;
  std::atomic<int> good_ = 0;
  std::atomic<int> bad_ = 0;
  std::vector<std::thread> clients_;
};

void expect_no_failure(Load& load, int hups, Daemon& daemon) {
  load.stop();
  std::printf("%d reloads, %d requests answered 201, %d not\n", hups, load.good(), load.bad());
  EXPECT_EQ(load.bad(), 0) << daemon.log();
}

TEST_F(GatewayReload, NoRequestFailsUnderLoad) {
  start({});
  const int hups = support::environment_or("ALLOT_TEST_HUPS", 10);
  Load load(socket_);
  for (int round = 0; round < hups; ++round) {
    const int before = load.good();
    ASSERT_NO_FATAL_FAILURE(reload());
    ASSERT_TRUE(eventually([&] { return load.good() > before + 20 || load.bad() > 0; }));
  }
  expect_no_failure(load, hups, *daemon_);
  EXPECT_EQ(daemon_->count("task"), static_cast<std::uint64_t>(load.good()));
}

// The supervisor checks first, replaces its workers, and informs the gateway.
TEST(GatewayReloadOfADaemon, NoRequestFailsUnderLoad) {
  DaemonOptions options;
  options.more = gateway_section();
  Daemon daemon(options);
  ASSERT_TRUE(eventually([&] { return daemon.logged("gateway.listening"); })) << daemon.log();
  const int hups = support::environment_or("ALLOT_TEST_HUPS", 5);
  Load load(gateway_socket(daemon));
  for (int round = 0; round < hups; ++round) {
    const std::size_t listening = daemon.times_logged("gateway.listening");
    const int before = load.good();
    daemon.process().signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return daemon.times_logged("gateway.listening") > listening; }))
        << round << daemon.log();
    ASSERT_TRUE(eventually([&] { return load.good() > before + 20 || load.bad() > 0; }));
  }
  expect_no_failure(load, hups, daemon);
  EXPECT_FALSE(daemon.logged("gateway.died")) << daemon.log();
  const std::string socket = gateway_socket(daemon);
  const auto counted = metrics_of(socket);
  EXPECT_EQ(counted.value(kSubmitted), load.good()) << "each reload counted on";
  const std::string ready = "gateway.ready pid=";
  const std::string log = daemon.log();
  const std::size_t listening = daemon.times_logged("gateway.listening");
  const pid_t pid = std::stoi(log.substr(log.rfind(ready) + ready.size()));
  ASSERT_EQ(support::send_signal(pid, SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("gateway.listening") > listening; }));
  EXPECT_EQ(support::fallen(counted, metrics_of(socket)), "") << "as did the next gateway";
  EXPECT_TRUE(daemon.drains()) << daemon.log();
}

}  // namespace
}  // namespace allot::e2e::gateway_reload_test
