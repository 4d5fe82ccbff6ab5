// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "db/verbs.h"
#include "queue/model/catalog.h"
#include "queue/verbs/detached_store.h"
#include "queue/verbs/lease_store.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class TasksTest : public CliTest {
 protected:
  TasksTest() { must({"migrate"}); }

  std::string submit(const std::string& payload, const std::string& queue = "default") {
    const std::string id = must({"submit", queue, "mail.send", "-"}, payload);
    return id.substr(0, id.size() - 1);
  }

  // Leases the partition of "default" as a worker would.
  queue::Block lease() {
    auto block = leases_.lease(observer_, partition(), {});
    if (!block) throw std::runtime_error("the partition is not free");
    return std::move(*block);
  }
  [[nodiscard]] queue::Partition partition() {
    return {queue::find_queue(observer_, "default")->queue_id, 0};
  }

  queue::LeaseStore leases_{queue::make_holder("test", "/run/test"), std::chrono::seconds(30)};
  queue::Verbs store_{leases_.holder()};
};

TEST_F(TasksTest, WaitingOnesInATableAndAsJson) {
  const std::string first = submit("12345");
  const std::string second = submit("", "wide");
  const std::string table = must({"tasks"});
  EXPECT_EQ(table.rfind("TASK ", 0), 0U) << table;
  EXPECT_TRUE(has(table, first + "  default  mail.send     1         0      5  20"));
  EXPECT_TRUE(has(table, second + "  wide     mail.send     1         0      0  20"));

  const json list = json::parse(must({"tasks", "--json"}));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["task"], first);
  EXPECT_EQ(list[0]["queue"], "default");
  EXPECT_EQ(list[0]["type"], "mail.send");
  EXPECT_EQ(list[0]["state"], "waiting");
  EXPECT_EQ(list[0]["prio"], 1);
  EXPECT_EQ(list[0]["payload_size"], 5);
  EXPECT_EQ(list[0]["attempts_charged"], 0);
  EXPECT_FALSE(list[0].contains("cause"));
}

TEST_F(TasksTest, TheHistoryOfOneTypeIsLookedThroughStepByStep) {
  submit("");
  observer_.execute(
      "INSERT INTO task_history (queue_id, partition_no, prio, first_key, attempt, type, ended_at, "
      "lock_host, lock_pid) SELECT " +
      std::to_string(partition().queue_id) +
      ", 0, 1, seq, 1, IF(seq = 12000, 'rare', 'often'), UTC_TIMESTAMP(6) - INTERVAL seq SECOND, "
      "'h', 1 FROM " +
      support::numbers(1, 12'500));
  const auto first = allot({"history", "--type", "rare"});
  EXPECT_EQ(first.status.code, kExitOk);
  EXPECT_FALSE(has(first.out, "rare")) << first.out;
  const std::string word = "stopped after 10000 finished tasks; continue with --after ";
  const std::size_t at = first.err.find(word);
  ASSERT_NE(at, std::string::npos) << first.err;
  std::string after = first.err.substr(at + word.size());
  after.erase(after.find('\n'));
  const auto second = allot({"history", "--type", "rare", "--after", after});
  EXPECT_TRUE(has(second.out, "rare")) << second.out;
  EXPECT_EQ(second.err, "");
  EXPECT_EQ(allot({"history", "--type", "often", "--limit", "3"}).err,
            "queue default: at most 3 are shown, see --limit\n");
}

TEST_F(TasksTest, OneQueueAndALimit) {
  const std::string first = submit("1");
  submit("2");
  submit("3", "wide");
  const json one = json::parse(must({"tasks", "--queue", "default", "--limit", "1", "--json"}));
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0]["task"], first);
  EXPECT_EQ(json::parse(must({"tasks", "--queue", "wide", "--json"})).size(), 1U);
  EXPECT_EQ(allot({"tasks", "--limit", "1"}).err,
            "queue default: at most 1 are shown, see --limit\n"
            "queue wide: at most 1 are shown, see --limit\n");
  const auto unknown = allot({"tasks", "--queue", "wied"});
  EXPECT_EQ(unknown.status.code, kExitBadInput);
  EXPECT_TRUE(has(unknown.err, "did you mean 'wide'?"));
}

TEST_F(TasksTest, ShowSaysWhatItWasSubmittedWith) {
  const auto submitted = [&](const Words& more) {
    Words words{"submit", "default", "mail.send", "p"};
    words.insert(words.end(), more.begin(), more.end());
    const std::string id = must(words);
    return id.substr(0, id.size() - 1);
  };
  const auto view = [&](const std::string& id) {
    return json::parse(must({"task", "show", id, "--json"}));
  };
  const json plain = view(submit("p"));
  EXPECT_EQ(plain["first_due_at"], plain["due_at"]);
  for (const char* none :
       {"expires_at", "unique_key", "unique_key_free_at", "partition_key_hash"}) {
    EXPECT_TRUE(plain.at(none).is_null()) << none;
  }
  const std::string id = submitted({"--unique-key", "invoice-4711", "--expires-in", "1h"});
  EXPECT_TRUE(has(must({"task", "show", id}), "unique key invoice-4711\n"));
  EXPECT_TRUE(has(must({"task", "show", id}), "\nfirst due  20"));
  EXPECT_TRUE(has(must({"task", "show", id}), "\nexpires    20"));
  EXPECT_EQ(view(id)["unique_key"], "invoice-4711");
  EXPECT_TRUE(view(id)["unique_key_free_at"].is_null());
  EXPECT_EQ(view(id)["expires_at"],
            value("SELECT DATE_FORMAT(expires_at, '%Y-%m-%dT%H:%i:%s.%fZ') FROM task"
                  " WHERE expires_at IS NOT NULL"));
  const std::string later = submitted({"--run-at", "2030-01-02T03:04:05Z"});
  EXPECT_EQ(view(later)["first_due_at"].get<std::string>().substr(0, 19), "2030-01-02T03:04:05");
  EXPECT_EQ(view(later)["first_due_at"], view(later)["due_at"]);
  // The key of a dead task is free, unless an older Allot buried it and kept the key for some time.
  must({"task", "cancel", id});
  EXPECT_TRUE(view(id)["unique_key"].is_null());
  observer_.execute("UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  EXPECT_EQ(view(id)["unique_key"], "invoice-4711");
  EXPECT_EQ(view(id)["unique_key_free_at"].get<std::string>().substr(0, 2), "20");
  EXPECT_TRUE(has(must({"task", "show", id}), "unique key invoice-4711, free again at 20"));
  observer_.execute("UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  EXPECT_TRUE(view(id)["unique_key"].is_null());
}

TEST_F(TasksTest, FindSaysWhichTaskHasAKey) {
  const Words find{"task", "find", "default", "--unique-key", "invoice 4711"};
  const auto none = allot(find);
  EXPECT_EQ(none.status.code, kExitFailure) << none.out;
  EXPECT_TRUE(has(none.err, "no task of queue default has the unique key 'invoice 4711'"));
  std::string id = must({"submit", "default", "t", "p", "--unique-key", "invoice 4711"});
  id.pop_back();
  EXPECT_EQ(must(find), id + " waiting\n");
  EXPECT_EQ(allot({"task", "find", "wide", "--unique-key", "invoice 4711"}).status.code,
            kExitFailure);
  EXPECT_EQ(allot({"task", "find", "wied", "--unique-key", "invoice 4711"}).status.code,
            kExitBadInput);
  must({"task", "cancel", id});
  EXPECT_EQ(allot(find).status.code, kExitFailure) << "a death frees the key";
  id = must({"submit", "default", "t", "p", "--unique-key", "invoice 4711"});
  id.pop_back();
  must({"task", "cancel", id, "--as-done"});
  EXPECT_TRUE(has(must(find), id + " done, its key is free again at 20"));
  Words as_json = find;
  as_json.emplace_back("--json");
  const json view = json::parse(must(as_json));
  EXPECT_EQ(view["task"], id);
  EXPECT_EQ(view["queue"], "default");
  EXPECT_EQ(view["unique_key"], "invoice 4711");
  EXPECT_EQ(view["state"], "done");
  EXPECT_EQ(view["unique_key_free_at"].get<std::string>().substr(0, 2), "20");
  EXPECT_EQ(allot({"task", "find", "default", "--unique-key", ""}).status.code, kExitUsage);
}

TEST_F(TasksTest, ShowHasTheHashOfThePartitionKey) {
  observer_.execute("UPDATE queue SET placement = 'ordered' WHERE name = 'default'");
  std::string id = must({"submit", "default", "mail.send", "p", "--partition-key", "a"});
  id.pop_back();
  const auto hash = std::stoull(value("SELECT CRC32('a')"));
  EXPECT_EQ(json::parse(must({"task", "show", id, "--json"}))["partition_key_hash"], hash);
  EXPECT_TRUE(has(must({"task", "show", id}), "key hash   " + std::to_string(hash) + "\n"));
  must({"task", "cancel", id});
  EXPECT_EQ(json::parse(must({"task", "show", id, "--json"}))["partition_key_hash"], hash);
}

TEST_F(TasksTest, ShowSaysWhoLeasesThePartition) {
  const std::string id = submit("hello\n\x1b[31m");
  const std::string free = must({"task", "show", id});
  EXPECT_TRUE(has(free, "task       " + id + "\nstate      waiting\n"));
  EXPECT_TRUE(has(free, "queue      default, partition 0, prio 1\ntype       mail.send\ndue "));
  EXPECT_TRUE(has(free, "leased by  no worker\n"));
  EXPECT_TRUE(has(free, "payload    11 bytes: hello\\n\\x1b[31m\n"));
  EXPECT_TRUE(json::parse(must({"task", "show", id, "--json"}))["leased_by"].is_null());
  lease();
  const queue::Holder& holder = leases_.holder();
  const std::string name = holder.host + "/" + std::to_string(holder.pid);
  EXPECT_TRUE(has(must({"task", "show", id}), "leased by  " + name + "\n"));
  EXPECT_EQ(json::parse(must({"task", "show", id, "--json"}))["leased_by"], name);
}

TEST_F(TasksTest, ADetachedTaskRuns) {
  const std::string id = submit("p");
  submit("q");
  auto block = lease();
  const queue::DetachedStore detached(leases_.holder(), leases_.ttl());
  ASSERT_EQ(detached.detach(observer_, queue::fence(block.lease, block.tasks.at(0)), 1, {}),
            queue::Fenced::kWritten);
  const queue::Holder& holder = leases_.holder();
  const std::string name = holder.host + "/" + std::to_string(holder.pid);
  const std::string shown = must({"task", "show", id});
  EXPECT_TRUE(has(shown, "state      running\n")) << shown;
  EXPECT_TRUE(has(shown, "running on " + name + "\n")) << shown;
  EXPECT_FALSE(has(shown, "leased by")) << shown;
  const json view = json::parse(must({"task", "show", id, "--json"}));
  EXPECT_EQ(view["state"], "running");
  EXPECT_EQ(view["running_on"], name);
  EXPECT_TRUE(view["leased_by"].is_null());
  EXPECT_TRUE(has(must({"tasks"}), "running on " + name + "\n"));
  const json list = json::parse(must({"tasks", "--json"}));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["task"], id);
  EXPECT_EQ(list[0]["state"], "running");
  EXPECT_EQ(list[1]["state"], "waiting");
  EXPECT_EQ(json::parse(must({"tasks", "--limit", "1", "--json"})).size(), 1U);
}

// Error of the last failed attempt, and in the same way of a dead task.
TEST_F(TasksTest, ShowPrintsAllOfAnErrorWithItsLineBreaks) {
  const std::string id = submit("p");
  const queue::Verdict verdict{"retry",
                               "KeyError: 'ada'",
                               {},
                               "Traceback\n\tline \x1b[31m1\nKeyError: 'ada'",
                               "KeyError in send (app/mail.py)"};
  auto block = lease();
  ASSERT_EQ(store_.retry(observer_, queue::fence(block.lease, block.tasks.at(0)), 1,
                         std::chrono::microseconds(0), verdict, queue::Then::kRelease),
            queue::Fenced::kWritten);
  const std::string whole =
      "retry: KeyError: 'ada'\n\nTraceback\n\tline \\x1b[31m1\nKeyError: 'ada'\n";
  EXPECT_TRUE(has(must({"task", "show", id}), whole)) << must({"task", "show", id});
  block = lease();
  ASSERT_EQ(store_.bury(observer_, queue::fence(block.lease, block.tasks.at(0)), 2, verdict),
            queue::Fenced::kWritten);
  const std::string text = must({"task", "show", id});
  EXPECT_TRUE(has(text, whole)) << text;
  EXPECT_TRUE(has(text, "\nfault      KeyError in send (app/mail.py)\n")) << text;
  const json shown = json::parse(must({"task", "show", id, "--json"}));
  EXPECT_EQ(shown["detail"], verdict.detail);
  EXPECT_EQ(shown["fault"], verdict.fault);
  EXPECT_EQ(shown["attempts"][1]["detail"], verdict.detail);
  const std::string list = must({"dead", "list"});
  EXPECT_TRUE(has(list, "retry: KeyError: 'ada'\n")) << list;
  EXPECT_FALSE(json::parse(must({"dead", "list", "--json"}))[0].contains("detail"));
}

TEST_F(TasksTest, ShowListsTheFailedAttempts) {
  const std::string id = submit("p");
  auto block = lease();
  ASSERT_EQ(store_.retry(observer_, queue::fence(block.lease, block.tasks.at(0)), 1,
                         std::chrono::hours(1),
                         {"exception", "cannot\nconnect to größe", {1'500'000, 250'000, 20'480}},
                         queue::Then::kRelease),
            queue::Fenced::kWritten);
  const std::string text = must({"task", "show", id});
  EXPECT_TRUE(has(text, "attempts   1\n"));
  EXPECT_TRUE(has(text, "exception: cannot\\nconnect to größe\n"));
  EXPECT_TRUE(has(text, "1.500 s  0.250 s  20 MiB"));
  const json shown = json::parse(must({"task", "show", id, "--json"}));
  EXPECT_EQ(shown["attempts"][0]["runtime_us"], 1'500'000);
  EXPECT_EQ(shown["attempts"][0]["cpu_us"], 250'000);
  EXPECT_EQ(shown["attempts"][0]["max_rss_kib"], 20'480);
  EXPECT_EQ(shown["attempts_charged"], 1);
  ASSERT_EQ(shown["attempts"].size(), 1U);
  EXPECT_EQ(shown["attempts"][0]["attempt"], 1);
  EXPECT_EQ(shown["attempts"][0]["cause"], "exception");
  EXPECT_EQ(shown["attempts"][0]["error"], "cannot\nconnect to größe");
  EXPECT_EQ(must({"task", "show", id, "--payload"}), "p");
}

TEST_F(TasksTest, AnAnnouncedAttemptRunsUntilItsLeaseIsGone) {
  const std::string id = submit("p");
  auto block = lease();
  ASSERT_EQ(store_.announce(observer_, queue::fence(block.lease, block.tasks.at(0)), 1),
            queue::Fenced::kWritten);
  const auto cause = [&] {
    return json::parse(must({"task", "show", id, "--json"}))["attempts"].at(0)["cause"];
  };
  EXPECT_EQ(cause(), "running");
  ASSERT_TRUE(leases_.release(observer_, block.lease));
  EXPECT_EQ(cause(), "lost");
}

TEST_F(TasksTest, DeadOnesWithTheirCause) {
  const std::string id = submit(std::string("\0\xff", 2));
  auto block = lease();
  ASSERT_EQ(store_.bury(observer_, queue::fence(block.lease, block.tasks.at(0)), 1,
                        {"failed", "no such user"}),
            queue::Fenced::kWritten);
  EXPECT_TRUE(has(must({"dead", "list"}), "failed: no such user\n"));
  const json list = json::parse(must({"dead", "list", "--json"}));
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0]["task"], id);
  EXPECT_EQ(list[0]["state"], "dead");
  EXPECT_EQ(list[0]["cause"], "failed");
  EXPECT_EQ(list[0]["error"], "no such user");
  EXPECT_EQ(json::parse(must({"tasks", "--json"})), json::array());

  const std::string text = must({"task", "show", id});
  EXPECT_TRUE(has(text, "state      dead\n"));
  EXPECT_TRUE(has(text, "why        failed: no such user\n"));
  EXPECT_TRUE(has(text, "payload    2 bytes: \\x00\\xff\n"));
  EXPECT_EQ(must({"task", "show", id, "--payload"}), std::string("\0\xff", 2));
  // The bytes are not UTF-8, but the output is still JSON; --payload prints the bytes.
  const json shown = json::parse(must({"task", "show", id, "--json"}));
  EXPECT_EQ(shown["payload"], std::string("\0\xef\xbf\xbd", 4));
  EXPECT_EQ(shown["payload_truncated"], false);
}

TEST_F(TasksTest, ALongPayloadIsCutInWords) {
  const std::string id = submit(std::string(10'000, 'x'));
  const json shown = json::parse(must({"task", "show", id, "--json"}));
  EXPECT_EQ(shown["payload"], std::string(4096, 'x'));
  EXPECT_EQ(shown["payload_truncated"], true);
  EXPECT_EQ(shown["payload_size"], 10'000);
  EXPECT_LT(must({"task", "show", id}).size(), 1000U);
}

TEST_F(TasksTest, AFinishedTaskIsGone) {
  const std::string id = submit("x");
  auto block = lease();
  queue::ack(observer_, partition(), std::vector{queue::finished(block.tasks.at(0))});
  for (const Words& words : {Words{"task", "show", id}, Words{"task", "show", id, "--json"},
                             Words{"task", "show", id, "--payload"},
                             Words{"task", "show", queue::TaskId{{77, 3}, 1, 99}.text()}}) {
    const auto done = allot(words);
    EXPECT_EQ(done.status.code, kExitFailure);
    EXPECT_EQ(done.out, "");
    EXPECT_TRUE(has(done.err, "it finished, or never existed"));
  }
}

}  // namespace
}  // namespace allot::cli
