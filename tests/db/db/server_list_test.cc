// SPDX-License-Identifier: Apache-2.0
// [database] hosts with two real servers of one account, and ports without a server. The second one
// is a standby: read-only, unless a test promotes it.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "db/connection.h"
#include "support/database.h"
#include "support/db_error.h"
#include "support/temp_dir.h"

namespace allot::db {
namespace {

using std::chrono::seconds;
using support::Database;
using support::db_error_of;

// A dead port. `listening`: a host behind a packet drop (a connection succeeds, but no byte comes);
// otherwise a server that is down.
class DeadPort {
 public:
  explicit DeadPort(bool listening) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.get(), generic, size) != 0 ||
        ::getsockname(socket_.get(), generic, &size) != 0 ||
        (listening && ::listen(socket_.get(), 8) != 0)) {
      ADD_FAILURE() << "no port";
    }
    server_ = {"127.0.0.1", ntohs(address.sin_port)};
  }
  [[nodiscard]] const Server& server() const { return server_; }
  // Number of connections since the last call.
  [[nodiscard]] int callers() const {
    int count = 0;
    for (pollfd one{socket_.get(), POLLIN, 0}; ::poll(&one, 1, 0) == 1; ++count) {
      ::close(::accept(socket_.get(), nullptr, nullptr));
    }
    return count;
  }

 private:
  UniqueFd socket_;
  Server server_;
};

std::string place(const Server& server) {
  return server.host + ":" + std::to_string(server.port);
}

class ServerListTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (Database*& server : servers_) {
      server = new Database({}, support::Network::kTcp);
      server->connect().execute(
          "CREATE DATABASE d; CREATE TABLE d.t (a INT) ENGINE=InnoDB;"
          "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'pw'; GRANT ALL ON d.* TO app@'127.0.0.1'");
    }
  }
  static void TearDownTestSuite() {
    for (Database*& server : servers_) {
      delete server;
      server = nullptr;
    }
  }
  // The sessions were opened while both servers were writable, as every session must be.
  ServerListTest() : admins_{first().connect(), second().connect()} { read_only(1, "1"); }
  ServerListTest(const ServerListTest&) = delete;
  ServerListTest& operator=(const ServerListTest&) = delete;
  // A server that died has lost the switch.
  ~ServerListTest() override {
    first().start();
    second().start();
    for (const int i : {0, 1}) {
      static_cast<void>(db_error_of([&] { read_only(i, "0"); }));
    }
  }

  static ConnectOptions options(std::vector<Server> servers, seconds patience = seconds(20)) {
    ConnectOptions options;
    options.servers = std::move(servers);
    options.user = "app";
    options.password = "pw";
    options.database = "d";
    options.connect_timeout = options.call_timeout = patience;
    return options;
  }
  static ConnectOptions both() { return options({first().tcp(), second().tcp()}); }
  static Database& first() { return *servers_[0]; }
  static Database& second() { return *servers_[1]; }
  void read_only(int server, const char* on) {
    admins_[server].execute(std::string("SET GLOBAL read_only = ") + on);
  }

  static Database* servers_[2];
  Connection admins_[2];
};
Database* ServerListTest::servers_[2] = {};

TEST_F(ServerListTest, TheWriterIsUsed) {
  const Connection db(both());
  EXPECT_EQ(db.where(), place(first().tcp()));
  EXPECT_TRUE(db.passed_over().empty());
  EXPECT_NE(db.server_id(), 0U);
  read_only(1, "0");
  EXPECT_NE(db.server_id(), Connection(options({second().tcp()})).server_id());
}

TEST_F(ServerListTest, OneThatIsDownOrMuteIsPassedOver) {
  const DeadPort down(false);
  const DeadPort mute(true);
  read_only(1, "0");
  const Nanos start = mono_ns();
  const Connection db(options({down.server(), mute.server(), second().tcp()}, seconds(4)));
  EXPECT_LT(mono_ns() - start, 20 * kSecond);
  EXPECT_EQ(db.where(), place(second().tcp()));
  ASSERT_EQ(db.passed_over().size(), 2U);
  EXPECT_EQ(db.passed_over()[0].rfind("database at " + place(down.server()) + ": connect: ", 0), 0U)
      << db.passed_over()[0];
  EXPECT_EQ(db.passed_over()[1].rfind("database at " + place(mute.server()) + ": connect: ", 0), 0U)
      << db.passed_over()[1];
}

// S2
TEST_F(ServerListTest, OneThatIsReadOnlyIsPassedOver) {
  read_only(0, "1");
  read_only(1, "0");
  const Connection db(both());
  EXPECT_EQ(db.where(), place(second().tcp()));
  EXPECT_EQ(db.passed_over(), (std::vector<std::string>{"database at " + place(first().tcp()) +
                                                        " is read-only: not used"}));
}

// These behave like read-only servers of a shared storage.
TEST_F(ServerListTest, OneWhoseStorageIsReadOnlyIsPassedOver) {
  Database reader({"--innodb-read-only"}, support::Network::kTcp);
  // Its own account table is readable, which is enough for root.
  ConnectOptions root = reader.options();
  const auto refused = db_error_of([&] { Connection{root}; });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error_class(), ErrorClass::kGone);
  EXPECT_NE(std::string(refused->what()).find("is read-only: not used"), std::string::npos);
}

// A failover: the servers swap their roles while a session is open.
TEST_F(ServerListTest, AnOpenSessionNoticesAndTheNextGoesElsewhere) {
  Connection before(both());
  ASSERT_EQ(before.where(), place(first().tcp()));
  before.require_writer();
  read_only(0, "1");
  read_only(1, "0");
  const auto noticed = db_error_of([&] { before.require_writer(); });
  ASSERT_TRUE(noticed);
  EXPECT_EQ(noticed->error_class(), ErrorClass::kGone);
  EXPECT_EQ(support::error_class_of([&] { before.execute("INSERT INTO t VALUES (1)"); }), "gone");
  EXPECT_EQ(Connection(both()).where(), place(second().tcp()));
}

TEST_F(ServerListTest, AServerThatDiedIsPassedOver) {
  first().kill9();
  read_only(1, "0");
  EXPECT_EQ(Connection(both()).where(), place(second().tcp()));
}

// S52: a server that did not answer is not asked again immediately, neither by this process nor by
// another one of the host.
TEST_F(ServerListTest, AFrozenServerCostsATimeoutOnce) {
  const DeadPort mute(true);
  const support::TempDir folder;
  ConnectOptions list = options({mute.server(), first().tcp()});
  list.memory = std::make_shared<TermMemory>(folder.path(), "list");
  EXPECT_EQ(Connection(list).where(), place(first().tcp()));
  EXPECT_EQ(mute.callers(), 1);
  list.memory = std::make_shared<TermMemory>(folder.path(), "list");
  EXPECT_EQ(Connection(list).where(), place(first().tcp()));
  EXPECT_EQ(mute.callers(), 0);
}

TEST_F(ServerListTest, WhenNoneIsLeftAllAreNamedInOneLine) {
  const DeadPort down(false);
  read_only(0, "1");
  const auto error = db_error_of([&] { Connection{options({first().tcp(), down.server()})}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->exit_code(), kExitUnavailable);
  const std::string text = error->what();
  EXPECT_EQ(
      text.rfind("no database server in the list can be used: database at " + place(first().tcp()) +
                     " is read-only: not used; database at " + place(down.server()) + ": connect: ",
                 0),
      0U)
      << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

// Waiting helps as long as one of the servers may come back; wrong credentials stay wrong.
TEST_F(ServerListTest, AServerThatMayComeBackDecidesTheClass) {
  const DeadPort down(false);
  ConnectOptions wrong = options({first().tcp(), down.server()});
  wrong.password = "wrong";
  EXPECT_EQ(support::error_class_of([&] { Connection{wrong}; }), "gone");
  wrong.servers = {down.server(), first().tcp()};
  EXPECT_EQ(support::error_class_of([&] { Connection{wrong}; }), "gone");
  wrong.servers = {first().tcp(), second().tcp()};
  EXPECT_EQ(support::error_class_of([&] { Connection{wrong}; }), "refused");
}

}  // namespace
}  // namespace allot::db
