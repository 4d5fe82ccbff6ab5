// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "db/verbs.h"
#include "queue/model/catalog.h"
#include "queue/verbs/detached_store.h"
#include "queue/verbs/lease_store.h"
#include "support/process.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class WhyTest : public CliTest {
 protected:
  WhyTest() { must({"migrate"}); }

  std::string submit(const std::string& queue = "default") {
    std::string id = must({"submit", queue, "mail.send", "p"});
    id.pop_back();
    return id;
  }
  queue::Block lease() {
    auto block =
        leases_.lease(observer_, {queue::find_queue(observer_, "default")->queue_id, 0}, {});
    if (!block) throw std::runtime_error("the partition is not free");
    return std::move(*block);
  }
  [[nodiscard]] std::string me() const {
    return leases_.holder().host + "/" + std::to_string(leases_.holder().pid);
  }
  // The codes of the reasons, one after the other.
  std::string reasons(const std::string& id) {
    std::string words;
    const json told = json::parse(must({"why", id, "--json"}));
    for (const json& reason : told.at("reasons")) {
      words += (words.empty() ? "" : " ") + reason.at("reason").get<std::string>();
    }
    return words;
  }

  queue::LeaseStore leases_{queue::make_holder("test", "/run/test"), std::chrono::seconds(30)};
  queue::Verbs store_{leases_.holder()};
};

TEST_F(WhyTest, WaitingTask) {
  const std::string first = submit();
  const std::string second = submit();
  EXPECT_EQ(reasons(first), "next");
  EXPECT_TRUE(has(must({"why", first}), "it is next: a worker that serves queue default"));
  EXPECT_EQ(reasons(second), "ahead");
  EXPECT_EQ(must({"why", second}), "1 task runs before it in its partition\n");
  const auto block = lease();
  EXPECT_EQ(reasons(second), "leased ahead");
  EXPECT_TRUE(has(must({"why", second}), "its partition 0 is leased by " + me() + " until 20"));
  observer_.execute(
      "UPDATE q_lock_table SET ttl_us = 3600000000, expire_at = UTC_TIMESTAMP(6) + INTERVAL 31 "
      "MINUTE");
  EXPECT_EQ(reasons(second), "leased ahead");
  observer_.execute("UPDATE q_lock_table SET expire_at = UTC_TIMESTAMP(6) + INTERVAL 29 MINUTE");
  EXPECT_EQ(reasons(second), "lost ahead") << "a live holder renews after a third";
  EXPECT_TRUE(has(must({"why", second}), me() + ", which has sent no heartbeat since 20"));
  observer_.execute("UPDATE q_lock_table SET expire_at = '2026-01-01'");
  EXPECT_EQ(reasons(first), "lost");
  EXPECT_TRUE(has(must({"why", first}), "ended at 2026-01-01T00:00:00.000000Z: if it is gone"));
  must({"queue", "pause", "default", "--reason", "test"});
  EXPECT_EQ(reasons(first), "paused lost");
  EXPECT_TRUE(has(must({"why", first}), "queue default is paused since 20"));
}

// The lease has not ended; its process is gone, and this host knows it.
TEST_F(WhyTest, TaskWhoseHolderDiedOnThisHost) {
  support::Process gone({"true"});
  const auto pid = gone.pid();
  ASSERT_TRUE(gone.wait());
  std::filesystem::create_directory(folder_ / "run");
  (void)folder_.write("run/lock", "         1\n00000000000000ff\n");
  const auto here = queue::make_holder("default", folder_ / "run", 0xff);
  const std::string own = " lock_origin = " + std::to_string(here.origin);
  const std::string died = "lock_pid = " + std::to_string(pid);
  const std::string id = submit();
  auto block = lease();
  observer_.execute("UPDATE q_lock_table SET" + own + ", " + died);
  EXPECT_EQ(reasons(id), "lost");
  EXPECT_TRUE(has(must({"why", id}), "/" + std::to_string(pid) + ", which is gone"));
  observer_.execute("UPDATE q_lock_table SET lock_origin = 1");
  EXPECT_EQ(reasons(id), "leased") << "the state of another host is unknown";
  observer_.execute("UPDATE q_lock_table SET" + own + ", lock_pid = " + std::to_string(getpid()));
  EXPECT_EQ(reasons(id), "leased");
  const queue::DetachedStore detached(leases_.holder(), leases_.ttl());
  ASSERT_EQ(detached.detach(observer_, queue::fence(block.lease, block.tasks.at(0)), 1, {}),
            queue::Fenced::kWritten);
  observer_.execute("UPDATE task_running SET" + own + ", " + died);
  EXPECT_EQ(reasons(id), "running lost");
  EXPECT_TRUE(has(must({"why", id}), "/" + std::to_string(pid) + " is gone"));
}

TEST_F(WhyTest, TaskThatIsNotDue) {
  const std::string id = submit();
  auto block = lease();
  ASSERT_EQ(store_.retry(observer_, queue::fence(block.lease, block.tasks.at(0)), 1,
                         std::chrono::hours(1), {"retry", "no"}, queue::Then::kRelease),
            queue::Fenced::kWritten);
  EXPECT_EQ(reasons(id), "delayed failed");
  EXPECT_TRUE(has(must({"why", id}), "1 attempt failed, the next is due at 20"));
  EXPECT_TRUE(has(must({"why", id}), "attempt 1 ended at 20"));
  EXPECT_TRUE(has(must({"why", id}), "Z: retry: no\n"));
}

TEST_F(WhyTest, TaskThatDidNotStart) {
  const std::string id = submit();
  auto block = lease();
  ASSERT_EQ(store_.retry(observer_, queue::fence(block.lease, block.tasks.at(0)), 1,
                         std::chrono::hours(1), {"retry", "no"}, queue::Then::kRelease),
            queue::Fenced::kWritten);
  observer_.execute("UPDATE task SET headers = 'unstarted=3'");
  EXPECT_TRUE(has(must({"why", id}),
                  "1 attempt failed, 3 did not start (task.put_off in the log), the next is due"));
}

TEST_F(WhyTest, TaskWithoutAHandler) {
  const std::string id = submit();
  auto block = lease();
  ASSERT_EQ(queue::defer(observer_, block.lease, {block.tasks.at(0).key}), queue::Fenced::kWritten);
  EXPECT_EQ(reasons(id), "no_handler");
  EXPECT_TRUE(
      has(must({"why", id}), "has a handler for its type 'mail.send'; it is read again at"));
}

TEST_F(WhyTest, DetachedAndDeadTask) {
  const std::string id = submit();
  auto block = lease();
  const queue::DetachedStore detached(leases_.holder(), leases_.ttl());
  ASSERT_EQ(detached.detach(observer_, queue::fence(block.lease, block.tasks.at(0)), 1, {}),
            queue::Fenced::kWritten);
  EXPECT_EQ(reasons(id), "running");
  EXPECT_TRUE(has(must({"why", id}), "runs on " + me() + ", detached from its partition since 20"));
  const json shown = json::parse(must({"task", "show", id, "--json"}));
  EXPECT_EQ(shown.at("detached_at").get<std::string>().substr(0, 2), "20");
  EXPECT_TRUE(has(must({"task", "show", id}), "detached   20"));
  observer_.execute("UPDATE task_running SET expire_at = '2026-01-01' WHERE queue_id = " +
                    value("SELECT queue_id FROM task_running"));
  EXPECT_EQ(reasons(id), "running lost");
  EXPECT_EQ(must({"task", "cancel", id, "--reason", "the user left"}),
            "asked " + me() + " to end " + id + "\n");
  EXPECT_EQ(json::parse(must({"task", "cancel", id, "--json"})), (json{{"task", id},
                                                                       {"cancelled", false},
                                                                       {"as_done", false},
                                                                       {"requested", true},
                                                                       {"may_run", false},
                                                                       {"leased_by", me()}}));
  EXPECT_EQ(reasons(id), "running lost cancel_requested");
  const std::string asked = ": the user left\n";
  EXPECT_TRUE(has(must({"why", id}), "cancellation was requested at 20"));
  EXPECT_TRUE(has(must({"why", id}), asked)) << "the first request stays in effect";
  EXPECT_TRUE(has(must({"task", "show", id}), "cancel     cancellation was requested at 20"));
  const json view = json::parse(must({"task", "show", id, "--json"}));
  EXPECT_EQ(view.at("cancel_requested").at("reason"), "the user left");

  const std::string dead = submit();
  block = lease();
  ASSERT_EQ(
      store_.bury(observer_, queue::fence(block.lease, block.tasks.at(0)), 3, {"fail", "no user"}),
      queue::Fenced::kWritten);
  EXPECT_EQ(reasons(dead), "dead");
  EXPECT_TRUE(has(must({"why", dead}), ", after 3 attempts: fail: no user; allot dead retry "));
}

TEST_F(WhyTest, UnknownTask) {
  const auto unknown = allot({"why", "0840dqg2v5n80r00"});
  EXPECT_EQ(unknown.status.code, kExitFailure);
  EXPECT_TRUE(has(unknown.err, "it finished, or never existed"));
  EXPECT_EQ(allot({"why", "nonsense"}).status.code, kExitUsage);
  EXPECT_EQ(allot({"why"}).status.code, kExitUsage);
  EXPECT_EQ(allot({"task", "cancel", "0840dqg2v5n80r00"}).status.code, kExitFailure);
}

TEST_F(WhyTest, ACancelledWaitingTaskNeverRuns) {
  const std::string id = submit();
  EXPECT_EQ(must({"task", "cancel", id, "--reason", "the user left"}), "cancelled " + id + "\n");
  EXPECT_EQ(reasons(id), "cancelled");
  EXPECT_TRUE(has(must({"why", id}), ", after 0 attempts: cancelled: the user left; allot dead "));
  const auto again = allot({"task", "cancel", id});
  EXPECT_EQ(again.status.code, kExitFailure);
  EXPECT_TRUE(has(again.err, "is dead already: cancelled: the user left"));
  EXPECT_EQ(must({"dead", "retry", id}), "retried 1 dead task\n");
  EXPECT_EQ(reasons(id), "next");
}

TEST_F(WhyTest, AWaitingTaskEndsAsDone) {
  const std::string id = submit();
  EXPECT_EQ(must({"task", "cancel", id, "--as-done"}), "cancelled " + id + ", it is done\n");
  EXPECT_EQ(count("task") + count("task_dead"), 0U);
  const std::string other = submit();
  EXPECT_EQ(json::parse(must({"task", "cancel", other, "--as-done", "--json"}))["as_done"], true);
  EXPECT_EQ(allot({"task", "cancel", other, "--as-done"}).status.code, kExitFailure);
}

TEST_F(WhyTest, ACancelledTaskInABlockMayRun) {
  const std::string id = submit();
  const std::string other = submit();
  const auto block = lease();
  EXPECT_EQ(must({"task", "cancel", id}),
            "cancelled " + id + "\n" + me() +
                " leased its partition in the meantime: it may have run, or may still run\n");
  EXPECT_EQ(json::parse(must({"task", "cancel", other, "--json"})), (json{{"task", other},
                                                                          {"cancelled", true},
                                                                          {"as_done", false},
                                                                          {"requested", false},
                                                                          {"may_run", true},
                                                                          {"leased_by", me()}}));
}

}  // namespace
}  // namespace allot::cli
