// SPDX-License-Identifier: Apache-2.0
// Rule: S24.
#include <fcntl.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "base/posix.h"
#include "db/cli/fixture.h"
#include "ipc/board.h"
#include "ipc/slot.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"
#include "support/small_disk.h"

namespace allot::cli {
namespace {

using SubmitTest = CliTest;

constexpr std::size_t kMost = (std::size_t{16} << 20) - 1;

// Every byte, in an order that is invalid in every encoding.
std::string all_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 7 + i / 256) & 0xffU);
  return bytes;
}

TEST_F(SubmitTest, PrintsTheIdAndNothingElse) {
  const auto done = allot({"submit", "default", "mail.send", "hello", "--prio", "2"});
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  EXPECT_EQ(done.err, "");
  ASSERT_FALSE(done.out.empty());
  EXPECT_EQ(done.out.back(), '\n');
  const auto id = queue::TaskId::parse(done.out.substr(0, done.out.size() - 1));
  ASSERT_TRUE(id) << done.out;
  EXPECT_EQ(value("SELECT CONCAT_WS('|', type, payload, prio, partition_no, run_key) FROM task"),
            "mail.send|hello|2|0|" + std::to_string(id->first_key));
  EXPECT_EQ(count("task"), 1U);
}

TEST_F(SubmitTest, ATakenKeySaysWhereItsTaskIs) {
  const Words words{"submit", "default", "t", "", "--unique-key", "k"};
  Words json = words;
  json.emplace_back("--json");
  const auto first = nlohmann::json::parse(must(json));
  EXPECT_FALSE(first.contains("state"));
  EXPECT_EQ(nlohmann::json::parse(must(json)),
            (nlohmann::json{{"id", first["id"]}, {"existed", true}, {"state", "waiting"}}));
  const auto again = allot(words);
  EXPECT_EQ(again.status.code, kExitOk);
  EXPECT_EQ(again.out, first["id"].get<std::string>() + "\n");
  EXPECT_TRUE(has(again.err, "this task already has the unique key (waiting)"));
  // Its acknowledgement, as seen in the database.
  observer_.execute(
      "DELETE FROM task; UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  EXPECT_EQ(nlohmann::json::parse(must(json)).at("state"), "done");
}

// A submitter's account may not read tasks.
TEST_F(SubmitTest, ATakenKeySaysLessToAnAccountThatOnlySubmits) {
  must({"submit", "default", "t", "", "--unique-key", "k"});
  observer_.execute("CREATE USER IF NOT EXISTS submitter@localhost IDENTIFIED BY 'right'");
  observer_.execute("ALTER USER submitter@localhost IDENTIFIED BY 'right'");
  for (const std::string grant :
       {"SELECT ON allot_schema", "SELECT ON queue", "SELECT ON server_identity", "INSERT ON task",
        "SELECT, INSERT, UPDATE ON task_unique"}) {
    const auto on = grant.find(" ON ") + 4;
    observer_.execute("GRANT " + grant.substr(0, on) + name_ + "." + grant.substr(on) +
                      " TO submitter@localhost");
  }
  configure("user = \"root\"", "user = \"submitter\"\npassword = \"right\"");
  const auto told =
      nlohmann::json::parse(must({"submit", "default", "t", "", "--unique-key", "k", "--json"}));
  EXPECT_EQ(told.at("state"), "live");
}

// File written by the daemon of this host at its start.
TEST_F(SubmitTest, ATypeThatNoHandlerHereTakesIsSaid) {
  std::filesystem::create_directory(folder_ / "run");
  (void)folder_.write("run/types", "allot types 1\nmail.send\nthumbs.*\n");
  const auto typo = allot({"submit", "default", "mail.sned"});
  EXPECT_EQ(typo.status.code, kExitOk);
  EXPECT_EQ(typo.err,
            "allot: warning: this host's daemon has no handler for type 'mail.sned' (1 task); did "
            "you mean 'mail.send'?\n");
  EXPECT_EQ(count("task"), 1U) << "it is submitted all the same";
  for (const char* type : {"mail.send", "thumbs.make"}) {
    EXPECT_EQ(allot({"submit", "default", type}).err, "") << type;
  }
  const auto lines = allot_with({"submit", "--ndjson", "-"}, numbered(1, 3));
  EXPECT_EQ(lines.err,
            "allot: warning: this host's daemon has no handler for type 't' (3 tasks)\n"
            "submitted 3 tasks in 1 batches\n");
  // Another host may serve it, and know the type.
  configure("[daemon]", "[pools.default]\nqueues = [\"wide\"]\n[daemon]");
  EXPECT_EQ(allot({"submit", "default", "mail.sned"}).err, "");
  (void)folder_.write("run/types", "something else\n");
  EXPECT_EQ(allot({"submit", "wide", "mail.sned"}).err, "");
  std::filesystem::remove(folder_ / "run/types");
  EXPECT_EQ(allot({"submit", "wide", "mail.sned"}).err, "");
}

TEST_F(SubmitTest, AnArgumentArrivesAsItIs) {
  const std::string texts[] = {"",
                               " ",
                               "{}",
                               "[1,2,3]",
                               "[]",
                               R"({"a": ["b"]})",
                               "-5",
                               "a b",
                               "%s%n",
                               "'; \"\\",
                               "ä\n",
                               "=x",
                               "0",
                               all_bytes(256).substr(1),  // an argument cannot contain NUL
                               "\xc3\x28\xed\xa0\x80\xff'"};
  for (const std::string& text : texts) {
    observer_.execute("DELETE FROM task");
    must({"submit", "default", "t", text});
    EXPECT_EQ(payloads(), Words{text});
  }
  for (const std::string text : {"--prio", "-x", "--", "-"}) {
    observer_.execute("DELETE FROM task");
    must({"submit", "default", "t", "--", text}, "from standard input");
    EXPECT_EQ(payloads(), Words{text == "-" ? "from standard input" : text});
  }
}

TEST_F(SubmitTest, NoPayloadIsAnEmptyOne) {
  must({"submit", "default", "t"}, "not read");
  EXPECT_EQ(payloads(), Words{""});
}

TEST_F(SubmitTest, BytesFromStandardInputAndFiles) {
  const std::string bytes = all_bytes(1000);
  must({"submit", "default", "t", "-"}, bytes);
  EXPECT_EQ(payloads(), Words{bytes});
  must({"submit", "default", "t", "--file", folder_.write("payload", bytes)});
  EXPECT_EQ(payloads(), (Words{bytes, bytes}));
}

TEST_F(SubmitTest, OneByteMoreIsRefusedBeforeAnythingIsSent) {
  const std::string file = folder_.write("payload", std::string(kMost + 1, 'x'));
  configure(server_.socket(), "/nonexistent");  // a command that connects fails with another code
  for (const Words& words :
       {Words{"submit", "default", "t", "-"}, Words{"submit", "default", "t", "--file", file}}) {
    const auto done = allot(words, {.input = std::string(kMost + 1, 'x')});
    EXPECT_EQ(done.status.code, kExitBadInput) << done.err;
    EXPECT_TRUE(has(done.err, ": a payload is limited to 16 MiB - 1 (16777215 bytes)"));
    EXPECT_EQ(done.out, "");
  }
  EXPECT_EQ(allot({"submit", "default", "no good"}).status.code, kExitBadInput);
  const auto broken = allot({"submit", "default", "no\ngood"});
  EXPECT_EQ(broken.err.find("allot: ", 1), std::string::npos) << "one line: " << broken.err;
}

TEST_F(SubmitTest, UnreadablePayloadIsNotSubmitted) {
  const auto missing = allot({"submit", "default", "t", "--file", folder_ / "missing"});
  EXPECT_EQ(missing.status.code, kExitNoInput);
  EXPECT_TRUE(has(missing.err, "No such file"));
  const auto folder = allot({"submit", "default", "t", "--file", folder_.path()});
  EXPECT_EQ(folder.status.code, kExitNoInput);
  const auto unset = allot({"submit", "default", "t", "--file", ""});
  EXPECT_EQ(unset.status.code, kExitNoInput) << "an unset variable of a script";
  // Closed standard input: the shell runs `exec allot ... <&-`.
  const auto closed = support::run_program({"sh", "-c", "exec \"$@\" <&-", "sh", ALLOT_PROGRAM,
                                            "--config", config(), "submit", "default", "t", "-"});
  EXPECT_EQ(closed.status.code, kExitNoInput) << closed.err;
  EXPECT_EQ(count("task"), 0U);
}

TEST_F(SubmitTest, AnUnknownQueueNamesTheKnownOnes) {
  must({"migrate"});
  queue::ensure_queue(observer_, "reports", {1});
  const auto done = allot({"submit", "defualt", "t"});
  EXPECT_EQ(done.status.code, kExitBadInput);
  EXPECT_TRUE(has(done.err,
                  "queue 'defualt' does not exist; did you mean 'default'? there is "
                  "default, reports, wide; "));
  EXPECT_EQ(count("queue"), 3U);
  EXPECT_EQ(count("task"), 0U);
}

TEST_F(SubmitTest, AConfiguredQueueIsMade) {
  must({"submit", "wide", "t"});
  EXPECT_EQ(value("SELECT CONCAT(name, partitions) FROM queue"), "wide8");
  EXPECT_EQ(count("q_lock_table"), 8U);
  EXPECT_EQ(count("task"), 1U);
}

// Commands that only read, with SQL in their words.
TEST_F(SubmitTest, SqlInAnyFieldIsOnlyText) {
  must({"submit", "default", "t", "stays"});
  const std::string before = everything();
  for (const std::string sql : {"x'; DROP TABLE task; -- ", "\\'; DELETE FROM queue; #",
                                "\"/**/OR 1=1", "\xbf' OR 1=1 -- "}) {
    EXPECT_TRUE(has(allot({"submit", "--", sql, "t"}).err, "is not a queue: names are"));
    EXPECT_EQ(allot({"tasks", "--queue", sql}).status.code, kExitBadInput) << sql;
    EXPECT_EQ(allot({"task", "show", sql}).status.code, kExitUsage) << sql;
  }
  EXPECT_EQ(everything(), before);
}

TEST_F(SubmitTest, AWrongPasswordIsAMatterOfConfiguration) {
  observer_.execute("CREATE USER IF NOT EXISTS submitter@localhost IDENTIFIED BY 'right'");
  configure("user = \"root\"", "user = \"submitter\"\npassword = \"a-wrong-one\"");
  const auto done = allot({"submit", "default", "t"});
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_TRUE(has(done.err, "Access denied"));
  EXPECT_EQ(done.err.find("a-wrong-one"), std::string::npos);
}

class SchemaTest : public OwnDatabaseTest {};

TEST_F(SchemaTest, WithoutTheRightOneNothingIsSent) {
  observer_.execute("INSERT INTO allot_schema VALUES (9999, 'future', 0, UTC_TIMESTAMP(), 'x')");
  const auto newer = allot({"submit", "default", "t"});
  EXPECT_EQ(newer.status.code, kExitConfig);
  EXPECT_TRUE(has(newer.err, "9999"));
  configure(name_, server_.make_empty_database());
  const auto missing = allot({"submit", "default", "t"});
  EXPECT_EQ(missing.status.code, kExitConfig);
  EXPECT_TRUE(has(missing.err, "allot migrate"));
}

TEST_F(SubmitTest, ADatabaseThatIsAway) {
  configure(server_.socket(), "/nonexistent");
  const auto done = allot({"submit", "default", "t"});
  EXPECT_EQ(done.status.code, kExitUnavailable);
  EXPECT_TRUE(has(done.err, "/nonexistent"));
}

TEST_F(SubmitTest, AnEmbeddedOneThatIsAwaySaysWhoStartsIt) {
  const auto done = allot({"submit", "default", "t", "--embedded", folder_ / "db"});
  EXPECT_EQ(done.status.code, kExitUnavailable);
  EXPECT_TRUE(has(done.err, "allotd starts it"));
}

// It runs, and reports itself why it is not used.
TEST_F(SubmitTest, AnEmbeddedOneThatIsReadOnlyIsNotSaidToBeAway) {
  std::filesystem::create_directories(folder_ / "db/data");
  ASSERT_EQ(::symlink(server_.socket().c_str(), (folder_ / "db/data/sock").c_str()), 0);
  observer_.execute("CREATE DATABASE allot; SET GLOBAL read_only = 1");
  const auto done = allot({"submit", "default", "t", "--embedded", folder_ / "db"});
  observer_.execute("SET GLOBAL read_only = 0; DROP DATABASE allot");
  EXPECT_EQ(done.status.code, kExitUnavailable);
  EXPECT_TRUE(has(done.err, "read-only")) << done.err;
  EXPECT_FALSE(has(done.err, "is not running")) << done.err;
}

class DoorbellTest : public CliTest {
 protected:
  DoorbellTest() {
    std::filesystem::create_directory(folder_ / "run");
    const std::string path = folder_.write("run/board", std::string(sizeof(ipc::Board), '\0'));
    const UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    void* at = map_shared(file.get(), 0, sizeof(ipc::Board), true);
    board_ = static_cast<ipc::Board*>(at);
    std::memcpy(board_->magic, ipc::kBoardMagic, sizeof board_->magic);
    board_->version = ipc::kBoardVersion;
    for (auto& word : board_->pools[0].queues) word = UINT64_MAX;  // the pool serves all queues
  }
  ipc::Board* board_ = nullptr;
};

TEST_F(DoorbellTest, RingsOnceForEachSubmission) {
  board_->pools[0].next_scout_ns = 77;
  must({"submit", "default", "t"});
  EXPECT_EQ(board_->pools[0].bell.rings.load(), 1U);
  EXPECT_EQ(board_->pools[0].next_scout_ns.load(), 0U) << "the next scout goes at once";
  must({"submit", "--ndjson", "-", "--batch", "2"}, numbered(1, 5));
  EXPECT_EQ(board_->pools[0].bell.rings.load(), 4U) << "one more for each batch";
  EXPECT_EQ(allot({"submit", "nope", "t"}).status.code, kExitBadInput);
  EXPECT_EQ(board_->pools[0].bell.rings.load(), 4U);
}

TEST_F(DoorbellTest, AForeignFileIsLeftAlone) {
  board_->magic[0] = 'x';
  must({"submit", "default", "t"});
  EXPECT_EQ(board_->pools[0].bell.rings.load(), 0U);
  EXPECT_EQ(::truncate((folder_ / "run/board").c_str(), 10), 0);
  must({"submit", "default", "t"});
  EXPECT_EQ(count("task"), 2U);
}

// A board of unwritten pages, as an allotd of another version makes it.
TEST_F(DoorbellTest, ABoardWithoutRoomHurtsNoSubmission) {
  const support::SmallDisk disk(1U << 20U);
  if (!disk.trouble().empty()) GTEST_SKIP() << disk.trouble();
  const std::string path = disk / "board";
  std::ofstream(path) << std::string_view(reinterpret_cast<const char*>(board_), ipc::kPage);
  std::filesystem::resize_file(path, sizeof(ipc::Board));
  configure("\"run\"", "\"" + disk / "" + "\"");
  disk.leave(0);
  const auto done = allot({"submit", "default", "t"});
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  EXPECT_TRUE(queue::TaskId::parse(done.out.substr(0, done.out.find('\n')))) << done.out;
  EXPECT_EQ(count("task"), 1U);
}

}  // namespace
}  // namespace allot::cli
