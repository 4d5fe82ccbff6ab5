// SPDX-License-Identifier: Apache-2.0
// TLS with a real server and real certificates.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "db/binlog_stream.h"
#include "db/connection.h"
#include "support/certificates.h"
#include "support/database.h"
#include "support/db_error.h"

namespace allot::db {
namespace {

using std::chrono::seconds;
using support::Authority;
using support::Database;
using support::db_error_of;

// Not an address for a certificate, yet every resolver knows it: a minimal Debian has no localhost.
constexpr const char* kName = "127.1";

struct World {
  Authority trusted;
  Authority foreign;
  Authority::Files here = trusted.issue("here", std::string("IP:127.0.0.1,DNS:") + kName);
  Authority::Files elsewhere = trusted.issue("elsewhere", "DNS:db.example.net,IP:192.0.2.1");
  Authority::Files expired = trusted.issue("expired", "IP:127.0.0.1", -1);
  Authority::Files stranger = foreign.issue("stranger", "DNS:localhost,IP:127.0.0.1");
  // Files of the server; the certificates to present are copied over them.
  Authority::Files shown = trusted.issue("shown", "DNS:localhost,IP:127.0.0.1");
  // It trusts both for clients: MySQL does not present a certificate that it would not trust
  // itself.
  support::TempDir folder;
  std::string both =
      folder.write("ca.pem", support::read_file(trusted.ca()) + support::read_file(foreign.ca()));
  Database server{{"--ssl-ca=" + both, "--ssl-cert=" + shown.cert, "--ssl-key=" + shown.key,
                   "--log-bin=log", "--binlog-format=ROW", "--server-id=1"},
                  support::Network::kTcp};
};

class TlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = new World;
    world_->server.connect().execute(
        "CREATE USER plain@'127.0.0.1', owner@'127.0.0.1' REQUIRE X509;"
        "ALTER USER plain@'127.0.0.1' REQUIRE NONE");
  }
  static void TearDownTestSuite() {
    delete world_;
    world_ = nullptr;
  }

  static void show(const Authority::Files& files) {
    const auto over = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(files.cert, world_->shown.cert, over);
    std::filesystem::copy_file(files.key, world_->shown.key, over);
    world_->server.connect().execute(support::reload_certificates());
  }
  static ConnectOptions options(Tls mode, const std::string& ca = {}) {
    ConnectOptions options;
    options.servers = {world_->server.tcp()};
    options.user = "plain";
    options.connect_timeout = seconds(10);
    options.tls = {.mode = mode, .ca = ca};
    return options;
  }
  static ConnectOptions verified() { return options(Tls::kVerify, world_->trusted.ca()); }
  static bool encrypted(const ConnectOptions& options) {
    Connection db(options);
    auto results = db.execute("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    return !results.front().next()->text(1).empty();
  }
  // Expects a refusal as a configuration error, in one line that contains `part`.
  static void expect_refused(const ConnectOptions& options, const std::string& part) {
    const auto error = db_error_of([&] { Connection{options}; });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->error_class(), ErrorClass::kRefused) << error->what();
    EXPECT_EQ(error->exit_code(), kExitConfig);
    const std::string text = error->what();
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(world_->server.tcp().port)), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }

  static World* world_;
};
World* TlsTest::world_ = nullptr;

TEST_F(TlsTest, OffIsPlain) {
  show(world_->here);
  EXPECT_FALSE(encrypted(options(Tls::kOff)));
}

// Overrides the connector's own behaviour: a socket has no third party in between.
TEST_F(TlsTest, ASocketIsPlain) {
  EXPECT_FALSE(encrypted(world_->server.options()));
}

TEST_F(TlsTest, RequiredEncryptsWithAnyServer) {
  show(world_->stranger);
  EXPECT_TRUE(encrypted(options(Tls::kRequired)));
}

TEST_F(TlsTest, VerifyTakesTheRightServerByAddressAndByName) {
  show(world_->here);
  EXPECT_TRUE(encrypted(verified()));
  ConnectOptions by_name = verified();
  by_name.servers.front().host = kName;
  EXPECT_TRUE(encrypted(by_name));
}

TEST_F(TlsTest, VerifyRefusesAnotherAuthority) {
  const std::string cause =
      "its certificate is not signed by a trusted authority; [database] tls_ca can name the right "
      "one";
  show(world_->stranger);
  expect_refused(verified(), cause);
  show(world_->here);
  expect_refused(options(Tls::kVerify, world_->foreign.ca()), cause);
}

TEST_F(TlsTest, VerifyRefusesAnotherName) {
  show(world_->elsewhere);
  expect_refused(verified(), "its certificate does not match the name '127.0.0.1'");
  ConnectOptions by_name = verified();
  by_name.servers.front().host = kName;
  expect_refused(by_name, std::string("its certificate does not match the name '") + kName + "'");
  EXPECT_TRUE(encrypted(options(Tls::kRequired))) << "of which this was the only fault";
}

TEST_F(TlsTest, VerifyRefusesOneThatHasExpired) {
  show(world_->expired);
  expect_refused(verified(), "its certificate has expired");
}

// Without its own file the client trusts the system's, which OpenSSL reads from this variable.
TEST_F(TlsTest, VerifyWithoutACaTrustsTheSystem) {
  show(world_->here);
  ::setenv("SSL_CERT_FILE", world_->foreign.ca().c_str(), 1);
  expect_refused(options(Tls::kVerify), "certificate");
  ::setenv("SSL_CERT_FILE", world_->trusted.ca().c_str(), 1);
  EXPECT_TRUE(encrypted(options(Tls::kVerify)));
  ::unsetenv("SSL_CERT_FILE");
}

// The connector of MariaDB since 3.4 trusts a server that only proves that it knows the password.
TEST_F(TlsTest, VerifyNeedsMoreThanThePassword) {
  world_->server.connect().execute("CREATE USER known@'127.0.0.1' IDENTIFIED BY 'secret'");
  for (const Authority::Files* files : {&world_->stranger, &world_->elsewhere}) {
    show(*files);
    for (const char* host : {"127.0.0.1", kName}) {
      ConnectOptions known = options(Tls::kVerify);
      known.servers.front().host = host;
      known.user = "known";
      known.password = "secret";
      expect_refused(known, "certificate");
    }
  }
}

TEST_F(TlsTest, NoVariableSwitchesVerifyOff) {
  show(world_->elsewhere);
  ::setenv("MARIADB_TLS_DISABLE_PEER_VERIFICATION", "1", 1);
  EXPECT_EQ(support::error_class_of([] { Connection{verified()}; }), "refused");
  EXPECT_TRUE(encrypted(options(Tls::kRequired)));
  ::unsetenv("MARIADB_TLS_DISABLE_PEER_VERIFICATION");
}

TEST_F(TlsTest, AnAccountThatWantsACertificateGetsIt) {
  show(world_->here);
  ConnectOptions owner = verified();
  owner.user = "owner";
  EXPECT_EQ(support::error_class_of([&] { Connection{owner}; }), "refused");
  const auto files = world_->trusted.issue("owner", "DNS:owner");
  owner.tls.cert = files.cert;
  owner.tls.key = files.key;
  EXPECT_TRUE(encrypted(owner));
}

TEST_F(TlsTest, AServerWithoutTlsIsRefused) {
  Database plain(support::no_tls(), support::Network::kTcp);
  plain.connect().execute("CREATE USER plain@'127.0.0.1'");
  for (const Tls mode : {Tls::kRequired, Tls::kVerify}) {
    ConnectOptions wanted = options(mode, world_->trusted.ca());
    wanted.servers = {plain.tcp()};
    const auto error = db_error_of([&] { Connection{wanted}; });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->error_class(), ErrorClass::kRefused) << error->what();
    EXPECT_NE(std::string(error->what()).find(" does not offer TLS, which [database] tls requires"),
              std::string::npos)
        << error->what();
  }
}

// Sends one client the server's greeting and then nothing, like a server that froze in the
// handshake, or an end.
class Interrupter {
 public:
  Interrupter(const Server& server, bool hang_up)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), generic, &size), 0);
    server_ = {"127.0.0.1", ntohs(address.sin_port)};
    thread_ = std::thread([this, port = server.port, hang_up] { serve(port, hang_up); });
  }
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;
  ~Interrupter() { thread_.join(); }
  [[nodiscard]] const Server& server() const { return server_; }

 private:
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  void serve(std::uint16_t port, bool hang_up) const {
    const UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
    const UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(port);
    EXPECT_EQ(::connect(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    char buffer[1024];
    const ssize_t size = ::read(server.get(), buffer, sizeof buffer);
    EXPECT_GT(size, 0);
    EXPECT_EQ(::write(client.get(), buffer, static_cast<std::size_t>(size)), size);
    // Reads its request for TLS and, with hang_up, does not answer; else it waits until the client
    // gives up.
    while (::read(client.get(), buffer, sizeof buffer) > 0 && !hang_up) {
    }
  }

  UniqueFd listener_;
  Server server_;
  std::thread thread_;
};

TEST_F(TlsTest, AServerThatFreezesInTheHandshakeIsGoneAfterTheTimeout) {
  show(world_->here);
  const Interrupter mute(world_->server.tcp(), false);
  ConnectOptions impatient = verified();
  impatient.servers = {mute.server()};
  impatient.connect_timeout = seconds(1);
  impatient.call_timeout = seconds(2);
  const Nanos start = mono_ns();
  EXPECT_EQ(support::error_class_of([&] { Connection{impatient}; }), "gone");
  EXPECT_LT(mono_ns() - start, 8 * kSecond);
}

// Unlike a wrong certificate, this may be temporary.
TEST_F(TlsTest, AServerThatDiesInTheHandshakeIsGone) {
  const Interrupter dying(world_->server.tcp(), true);
  ConnectOptions wanted = verified();
  wanted.servers = {dying.server()};
  const auto error = db_error_of([&] { Connection{wanted}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class(), ErrorClass::kGone) << error->what();
}

// S76: the server accepts the reader's account only with TLS.
TEST_F(TlsTest, TheBinaryLogIsFollowedEncrypted) {
  show(world_->here);
  auto db = world_->server.connect(world_->server.make_database());
  db.execute(
      "CREATE USER IF NOT EXISTS follower@'127.0.0.1' REQUIRE SSL;"
      "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO follower@'127.0.0.1'");
  const std::string database = support::value_of(db, "SELECT DATABASE()");
  ConnectOptions plain = options(Tls::kOff);
  plain.user = "follower";
  EXPECT_TRUE(db_error_of([&] { BinlogStream(plain, database); }));
  ConnectOptions secure = verified();
  secure.user = "follower";
  BinlogStream stream(secure, database);
  db.execute(
      "INSERT INTO task (queue_id, partition_no, run_key, type, payload)"
      " VALUES (7, 0, 1, 't', REPEAT('x', 100000))");
  BinlogStream::Event event = BinlogStream::Event::kOther;
  for (const Nanos deadline = mono_ns() + 30 * kSecond;
       event != BinlogStream::Event::kTasks && mono_ns() < deadline;) {
    event = stream.next();
  }
  EXPECT_EQ(stream.due(), (std::map<std::uint32_t, std::size_t>{{7, 1}}));
  stream.interrupt();
  EXPECT_TRUE(db_error_of([&] {
    for (;;) stream.next();
  }));
}

TEST_F(TlsTest, TheBinaryLogOfAServerOfAnotherNameIsNotFollowed) {
  show(world_->elsewhere);
  EXPECT_TRUE(db_error_of([&] { BinlogStream(verified(), "any"); }));
  show(world_->here);
}

}  // namespace
}  // namespace allot::db
