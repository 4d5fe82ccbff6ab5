// SPDX-License-Identifier: Apache-2.0
// allotd as process 1 of a PID namespace, as in a container (docs/containers.md): the kernel
// withholds signals that process 1 does not handle, and assigns every orphan to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "e2e/daemon.h"

namespace allot::e2e::container_test {
namespace {

using nlohmann::json;
using support::eventually;
using Words = std::vector<std::string>;

class Container : public testing::Test {
 protected:
  void SetUp() override {
    const auto possible =
        support::run_program({"unshare", "--pid", "--fork", "--mount-proc", "true"});
    if (possible.status.code != 0) GTEST_SKIP() << "no PID namespace here: " << possible.err;
  }

  // With --kill-child no process survives a failed test.
  void start() {
    process_ = std::make_unique<support::Process>(
        Words{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child", program("allotd"),
              "--config", daemon_.config_file()});
    ASSERT_TRUE(eventually([&] {
      return process_->err().find("supervisor.start pid=1 ") != std::string::npos;
    })) << story();
    ASSERT_TRUE(eventually([&] { return workers().size() == 2; })) << story();
  }

  // allotd's process number outside of its namespace.
  [[nodiscard]] std::string outside() const {
    const std::string pid = std::to_string(process_->pid());
    std::istringstream children(support::read_file("/proc/" + pid + "/task/" + pid + "/children"));
    std::string first;
    children >> first;
    return first;
  }
  // Like `docker exec`.
  [[nodiscard]] support::Finished inside(Words words) const {
    words.insert(words.begin(), {"nsenter", "--target", outside(), "--pid", "--mount"});
    return support::run_program(words);
  }
  void signal_from_inside(const std::string& name) const {
    const auto sent = inside({"sh", "-c", "kill -" + name + " 1"});
    EXPECT_EQ(sent.status.code, 0) << sent.err;
  }
  // Its slots, with process numbers inside the namespace.
  [[nodiscard]] json slots() const {
    const auto said =
        inside({program("allot"), "--config", daemon_.config_file(), "status", "--json"});
    const json view = json::parse(said.out, nullptr, false);
    return view.is_object() ? view["workers"] : json::array();
  }
  // Ready workers.
  [[nodiscard]] std::vector<int> workers() const {
    std::vector<int> pids;
    for (const auto& worker : slots()) {
      if (worker["state"] != "connecting") pids.push_back(worker["pid"].get<int>());
    }
    return pids;
  }
  [[nodiscard]] std::string story() const { return process_->err() + daemon_.log(); }

  // A running task keeps its lease, however late it is killed.
  Daemon daemon_{{.workers = 2, .queue_keys = "detach_after = \"0s\"", .start = false}};
  std::unique_ptr<support::Process> process_;
};

TEST_F(Container, TermFromInsideDrains) {
  start();
  (void)daemon_.submit("test.gate", "success " + daemon_.gate());
  ASSERT_TRUE(eventually([&] { return slots().dump().find("test.gate") != std::string::npos; }))
      << story();
  signal_from_inside("TERM");
  daemon_.open_gate();
  EXPECT_EQ(process_->wait(), (support::ExitStatus{0, 0})) << story();
  EXPECT_TRUE(daemon_.drained()) << "the task that ran was finished" << story();
  EXPECT_EQ(daemon_.count("task_attempt"), 0U) << story();
}

// As in `docker stop`, the signal comes from the parent namespace.
TEST_F(Container, TermFromOutsideDrains) {
  start();
  daemon_.submit_many("test.write", {"a", "b"});
  ASSERT_TRUE(eventually([&] { return daemon_.written().size() == 2; })) << story();
  ASSERT_EQ(support::send_signal(std::stoi(outside()), SIGTERM), 0);
  EXPECT_EQ(process_->wait(), (support::ExitStatus{0, 0})) << story();
  EXPECT_TRUE(daemon_.logged("supervisor.exit code=0")) << story();
}

TEST_F(Container, HupFromInsideReplacesTheWorkers) {
  start();
  const auto before = workers();
  signal_from_inside("HUP");
  EXPECT_TRUE(eventually([&] {
    const auto now = workers();
    return now.size() == 2 && std::none_of(now.begin(), now.end(), [&](int pid) {
             return std::find(before.begin(), before.end(), pid) != before.end();
           });
  })) << story();
}

// The orphan of a command executed in the container. It ends by itself; once reaped, it has no
// entry in /proc any more.
TEST_F(Container, AnOrphanIsReaped) {
  start();
  const auto said = inside({"sh", "-c", "setsid sleep 0.2 >/dev/null 2>&1 & echo $!"});
  ASSERT_EQ(said.status.code, 0) << said.err;
  const std::string orphan = said.out.substr(0, said.out.find('\n'));
  ASSERT_NE(orphan, "");
  EXPECT_TRUE(eventually([&] {
    return inside({"test", "-e", "/proc/" + orphan}).status.code == 1;
  })) << inside({"cat", "/proc/" + orphan + "/status"}).out
      << story();
}

// When process 1 is killed the kernel kills the rest, without settling. A start as the same
// instance reclaims its leases, and the active task begins again.
TEST_F(Container, AKilledContainerLosesNothing) {
  start();
  (void)daemon_.submit("test.hang_once", "task");
  ASSERT_TRUE(eventually([&] { return daemon_.written().size() == 1; })) << story();
  ASSERT_EQ(support::send_signal(std::stoi(outside()), SIGKILL), 0);
  ASSERT_TRUE(process_->wait()) << story();
  start();
  EXPECT_TRUE(eventually([&] { return daemon_.written().size() == 2; })) << story();
  EXPECT_TRUE(daemon_.logged("lease.reclaimed")) << story();
}

}  // namespace
}  // namespace allot::e2e::container_test
