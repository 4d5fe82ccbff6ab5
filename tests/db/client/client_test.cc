// SPDX-License-Identifier: Apache-2.0
// Submission through the library: stored tasks, refused tasks, and unknown outcomes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "base/unique_fd.h"
#include "db/client/fixture.h"
#include "db/migrate.h"
#include "ipc/board.h"
#include "support/eventually.h"
#include "support/temp_dir.h"
#include "support/text.h"

namespace allot::client {
namespace {

using support::Database;
using support::has;
using namespace std::chrono_literals;

// Messages that only the library produces.
TEST_F(ClientTest, AWrongFieldIsNamed) {
  const auto refused = [&](const char* field, const std::function<void(NewTask&)>& spoil) {
    NewTask wrong = task();
    spoil(wrong);
    const std::string error = error_of([&] { client_.submit(wrong); });
    EXPECT_EQ(error.rfind(std::string("bad_input: ") + field, 0), 0U) << field << ": " << error;
  };
  refused("type", [](NewTask& task) { task.type.clear(); });
  refused("delay", [](NewTask& task) { task.options.delay = -1us; });
  refused("expires_in", [](NewTask& task) { task.options.expires_in = -1us; });
  refused("unique_for", [](NewTask& task) { task.options.unique_for = -1us; });
  EXPECT_EQ(error_of([&] { (void)client_.get("no id"); }), "bad_input: id 'no id': not a task id");
  EXPECT_EQ(tasks(), 0U);
  EXPECT_TRUE(client_.submit_many({}).empty());
}

TEST_F(ClientTest, WrongSettingsAreNamed) {
  const auto refused = [&](const char* field, const std::function<void(ClientSettings&)>& spoil) {
    ClientSettings wrong = settings();
    spoil(wrong);
    const std::string error = error_of([&] { Client client(wrong); });
    EXPECT_EQ(error.rfind("config: ", 0), 0U) << error;
    EXPECT_TRUE(has(error, field)) << error;
  };
  refused("hosts", [](ClientSettings& wrong) { wrong.hosts = {"a,b"}; });
  refused("hosts", [](ClientSettings& wrong) {
    wrong.socket.clear();
    wrong.hosts.clear();
  });
  refused("tls", [](ClientSettings& wrong) { wrong.tls = "yes"; });
  refused("name", [](ClientSettings& wrong) { wrong.name.clear(); });
  refused("nobody", [](ClientSettings& wrong) { wrong.user = "nobody"; });
  refused("no_such_db", [](ClientSettings& wrong) { wrong.name = "no_such_db"; });
  ClientSettings nowhere = settings();
  nowhere.socket += ".none";
  EXPECT_EQ(error_of([&] { Client client(nowhere); }).rfind("unavailable: ", 0), 0U);
  EXPECT_EQ(error_of([] { Client::from_file("/nowhere/allot.toml"); }).rfind("config: ", 0), 0U);
}

class SchemaTest : public ClientTest {
 protected:
  SchemaTest() : ClientTest(Database::shared().make_database()) {}
};

TEST_F(SchemaTest, AnOlderSchemaIsRefusedAndANewerOneIsNot) {
  value("INSERT INTO allot_schema VALUES (4711, 'later', 0, UTC_TIMESTAMP(6), '9.9.9')");
  Client newer(settings());
  EXPECT_FALSE(newer.submit(task()).id.empty());
  value("DELETE FROM allot_schema");
  const std::string error = error_of([&] { Client older(settings()); });
  EXPECT_TRUE(has(error, "config: the database has no Allot schema yet")) << error;
}

TEST_F(ClientTest, AFileNamesTheServerTheQueuesAndTheBell) {
  const support::TempDir folder;
  const std::string file =
      folder.write("allot.toml", "[database]\nsocket = \"" + Database::shared().socket() +
                                     "\"\nuser = \"root\"\nname = \"" + name_ +
                                     "\"\n[daemon]\nruntime_dir = \"" + folder.path() +
                                     "\"\n[queues.made]\npartitions = 3\n");
  const UniqueFd board(open((folder / "board").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(ftruncate(board.get(), sizeof(ipc::Board)), 0);
  auto* bell = static_cast<ipc::Board*>(
      mmap(nullptr, sizeof(ipc::Board), PROT_READ | PROT_WRITE, MAP_SHARED, board.get(), 0));
  ASSERT_NE(bell, MAP_FAILED);
  std::memcpy(bell->magic, ipc::kBoardMagic, sizeof ipc::kBoardMagic);
  bell->version = ipc::kBoardVersion;
  for (auto& word : bell->pools[0].queues) word = UINT64_MAX;  // the pool serves all queues

  Client client = Client::from_file(file);
  NewTask task{.queue = "made", .type = "t", .payload = ""};
  task.options.unique_key = "k";
  EXPECT_FALSE(client.submit(task).existed);
  EXPECT_EQ(value("SELECT partitions FROM queue WHERE name = 'made'"), "3");
  EXPECT_EQ(bell->pools[0].bell.rings.load(), 1U);
  EXPECT_TRUE(client.submit(task).existed);
  EXPECT_EQ(bell->pools[0].bell.rings.load(), 1U) << "nothing new is waiting";
  client.wake();
  EXPECT_EQ(bell->pools[0].bell.rings.load(), 2U);
  munmap(bell, sizeof(ipc::Board));
}

// Like a server that closes idle connections.
TEST_F(ClientTest, AConnectionThatWasClosedIsNotNoticed) {
  client_.submit(task());
  end_connections();
  EXPECT_EQ(error_of([&] { client_.submit(task()); }), "");
  EXPECT_EQ(tasks(), 2U);
}

// The server answers a poll and then nothing: the reply to the submission is lost.
TEST_F(ClientTest, ALostReplyLeavesTheOutcomeOpen) {
  ClientSettings impatient = settings();
  impatient.call_timeout = 1s;
  Client client(impatient);
  const std::string waiting = client.submit(task()).id;
  db::Connection locker = Database::shared().connect();
  locker.execute("FLUSH TABLES WITH READ LOCK");
  const std::string submit = error_of([&] { client.submit(task()); });
  const std::string cancel = error_of([&] { client.cancel(waiting); });
  // Its COMMIT was not sent yet.
  const std::string key = error_of([&] { client.submit(unique("k")); });
  locker.execute("UNLOCK TABLES");
  EXPECT_EQ(submit.rfind("outcome_unknown: the outcome of submitting 1 task", 0), 0U) << submit;
  EXPECT_EQ(cancel.rfind("outcome_unknown: whether task " + waiting, 0), 0U) << cancel;
  EXPECT_EQ(key.rfind("unavailable: ", 0), 0U) << key;
  EXPECT_EQ(error_of([&] { client.submit(unique("k")); }), "");
}

}  // namespace
}  // namespace allot::client
