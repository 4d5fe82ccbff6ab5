// SPDX-License-Identifier: Apache-2.0
// D9 in real cgroups: the limits of a pool, and out-of-memory kills that are reported as such. They
// need cgroup v2 with the controllers of cpu and memory below the cgroup of the test, or next to
// it, as root has on a dedicated machine. Made-up folders: unit_worker CgroupLimitsTest.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "base/exit_codes.h"
#include "e2e/cgroups.h"
#include "e2e/daemon.h"

namespace allot::e2e::cgroup_limit_test {
namespace {

using support::eventually;

std::string read_in(const std::string& folder, const std::string& name) {
  std::string text = support::read_file(folder + "/" + name);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

bool has_controllers(const std::string& folder) {
  const std::string all = read_in(folder, "cgroup.controllers");
  return all.find("cpu ") != std::string::npos && all.find("memory") != std::string::npos;
}

void write_in(const std::string& folder, const std::string& name, const std::string& text) {
  std::ofstream file(folder + "/" + name);
  file << text << std::flush;
  EXPECT_TRUE(file.good()) << folder << "/" << name << " " << text;
}

// A cgroup delegated to a daemon; removed with its contents.
class Delegated {
 public:
  Delegated() {
    const std::string own = cgroup_of(::getpid());
    if (own.empty()) return;
    for (const std::string& at : {own, std::filesystem::path(own).parent_path().string()}) {
      path_ = at + "/allot-e2e-" + std::to_string(::getpid());
      if (::mkdir(path_.c_str(), 0755) == 0 && has_controllers(path_)) return;
      ::rmdir(path_.c_str());
    }
    path_.clear();
  }
  Delegated(const Delegated&) = delete;
  Delegated& operator=(const Delegated&) = delete;
  ~Delegated() {
    if (path_.empty()) return;
    write_in(path_, "cgroup.kill", "1");
    EXPECT_TRUE(eventually([&] {
      for (const std::string& worker : of_workers()) ::rmdir(worker.c_str());
      ::rmdir((path_ + "/allot-daemon").c_str());
      return ::rmdir(path_.c_str()) == 0;
    })) << path_;
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  // The cgroups below it, except the daemon's.
  [[nodiscard]] std::vector<std::string> of_workers() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.is_directory() && entry.path().filename() != "allot-daemon") {
        found.push_back(entry.path());
      }
    }
    return found;
  }

 private:
  std::string path_;  // empty: impossible here
};

class CgroupLimit : public testing::Test {
 protected:
  void SetUp() override {
    if (delegated_.path().empty()) {
      GTEST_SKIP() << "no cgroup v2 with the controllers of cpu and memory is delegated here";
    }
    std::cout << "in a real cgroup: " << delegated_.path() << '\n';
  }
  void TearDown() override { daemon_.reset(); }

  Daemon& start(const std::string& pool_keys, unsigned workers = 2) {
    const std::string starter = folder_.write("allotd", "#!/bin/sh\necho $$ >" + delegated_.path() +
                                                            "/cgroup.procs || exit 1\nexec " +
                                                            program("allotd") + " \"$@\"\n");
    ::chmod(starter.c_str(), 0755);
    daemon_.emplace(DaemonOptions{.workers = workers,
                                  .queue_keys = "max_attempts = 1",
                                  .daemon_keys = "cgroup = true",
                                  .pool_keys = pool_keys,
                                  .more = "[plugins.hoard]\noutput = \"" + output_ + "\"\n",
                                  .plugins = ALLOT_HOARD_FOLDER,
                                  .allotd = starter});
    wait_ready(*daemon_, workers);
    return *daemon_;
  }
  [[nodiscard]] std::string death() const {
    return daemon_->value("SELECT CONCAT(cause, ': ', error) FROM task_dead");
  }
  void hoard(const std::string& mib) { (void)daemon_->submit("hoard.keep", mib); }
  // Replaces a text of the configuration, and reloads it.
  void reload(const std::string& from, const std::string& to) {
    daemon_->configure(from, to);
    daemon_->process().signal(SIGHUP);
  }
  void expect_clean_stop() {
    EXPECT_EQ(daemon_->stop(), (support::ExitStatus{0, 0})) << daemon_->log();
    EXPECT_EQ(delegated_.of_workers(), std::vector<std::string>{});
  }

  Delegated delegated_;
  support::TempDir folder_;
  std::string output_ = folder_ / "hoard";
  std::optional<Daemon> daemon_;
};

TEST_F(CgroupLimit, EachWorkerHasThoseOfItsPool) {
  Daemon& daemon = start("cgroup_memory = 200\ncgroup_cpu = 150\nnice = 3");
  EXPECT_EQ(cgroup_of(daemon.process().pid()), delegated_.path() + "/allot-daemon");
  for (const pid_t worker : daemon.workers()) {
    const std::string own = cgroup_of(worker);
    EXPECT_EQ(own.rfind(delegated_.path() + "/allot-default-", 0), 0U) << own;
    EXPECT_EQ(read_in(own, "memory.max"), std::to_string(200U << 20U));
    EXPECT_EQ(read_in(own, "memory.oom.group"), "1");
    EXPECT_EQ(read_in(own, "cpu.max"), "150000 100000");
    EXPECT_EQ(read_in(own, "cpu.weight.nice"), "3");
  }
  expect_clean_stop();
}

// The cause comes from the kernel, the limit is reported, and no other task is charged.
TEST_F(CgroupLimit, ATaskThatTakesMoreGetsTheReason) {
  Daemon& daemon = start("cgroup_memory = 128");
  hoard("1024");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  EXPECT_EQ(death(),
            "memory: out of memory: over the limit of its pool (cgroup_memory = 128); killed by the"
            " kernel inside the handler");
  EXPECT_TRUE(daemon.logged("worker.out_of_memory")) << daemon.log();
  hoard("1");
  EXPECT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.times_logged("worker.died"), 1U) << daemon.log();
  expect_clean_stop();
}

// Another kill is not reported as one, not even after one in the same slot.
TEST_F(CgroupLimit, AnotherKillIsNotToldSo) {
  Daemon& daemon = start("cgroup_memory = 128", 1);
  hoard("1024");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.workers().size() == 1; })) << daemon.log();
  hoard("hang");
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();
  support::send_signal(daemon.busy_workers().at(0), SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 2; })) << daemon.log();
  EXPECT_EQ(daemon.value("SELECT COUNT(*) FROM task_dead WHERE cause = 'signal'"), "1");
  expect_clean_stop();
}

// Like MemoryMax= of the service.
TEST_F(CgroupLimit, ALimitOfTheDaemonsCgroupIsAnotherCause) {
  Daemon& daemon = start("");
  write_in(delegated_.path(), "memory.max", std::to_string(256U << 20U));
  write_in(delegated_.path(), "memory.swap.max", "0");
  hoard("1024");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  EXPECT_EQ(
      death(),
      "memory: out of memory: the host, or a cgroup above the worker's, had none left; killed "
      "by the kernel inside the handler");
}

// There is nothing to settle, and so no settler.
TEST_F(CgroupLimit, LimitHitByAnIdleWorkerIsReportedByTheNext) {
  Daemon& daemon = start("cgroup_memory = 128", 1);
  const pid_t worker = daemon.workers().at(0);
  const std::string own = cgroup_of(worker);
  write_in(own, "memory.max", "0");
  EXPECT_TRUE(eventually([&] { return daemon.logged("worker.out_of_memory slot=0 worker="); }))
      << daemon.log();
  ASSERT_TRUE(eventually([&] {
    const auto workers = daemon.workers();
    return workers.size() == 1 && workers[0] != worker && cgroup_of(workers[0]) == own;
  })) << daemon.log();
  EXPECT_EQ(read_in(own, "memory.max"), std::to_string(128U << 20U));
  EXPECT_EQ(read_in(own, "memory.events").find("oom_kill 1"), std::string::npos);
  expect_clean_stop();
}

TEST_F(CgroupLimit, AReloadAndALiveUpgradeKeepThem) {
  Daemon& daemon = start("cgroup_memory = 128");
  daemon.process().signal(SIGUSR2);
  ASSERT_TRUE(eventually([&] { return daemon.logged("phase=running"); })) << daemon.log();
  reload("cgroup_memory = 128", "cgroup_memory = 150");
  const auto limits_are = [&](const std::string& bytes) {
    const auto cgroups = delegated_.of_workers();
    return cgroups.size() == 2 && std::all_of(cgroups.begin(), cgroups.end(), [&](const auto& one) {
             return read_in(one, "memory.max") == bytes;
           });
  };
  EXPECT_TRUE(eventually([&] { return limits_are(std::to_string(150U << 20U)); })) << daemon.log();
  hoard("1024");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  EXPECT_NE(death().find("cgroup_memory = 150"), std::string::npos) << death();
  reload("cgroup_memory = 150", "nice = 0");
  EXPECT_TRUE(eventually([&] { return limits_are("max"); })) << daemon.log();
  expect_clean_stop();
}

// Workers that were in the daemon's own cgroup until then.
TEST_F(CgroupLimit, AReloadMayBringTheFirst) {
  Daemon& daemon = start("nice = 0");
  reload("nice = 0", "cgroup_cpu = 100");
  EXPECT_TRUE(eventually([&] {
    const auto cgroups = delegated_.of_workers();
    return cgroups.size() == 2 && read_in(cgroups[0], "cpu.max") == "100000 100000" &&
           read_in(cgroups[1], "cpu.max") == "100000 100000";
  })) << daemon.log();
  EXPECT_FALSE(daemon.logged("worker.died")) << daemon.log();
  expect_clean_stop();
}

// Without controllers: a mount of cgroup v2 that has none, or a made-up folder.
TEST(CgroupLimitSpoilt, AStartWithoutTheControllersIsRefused) {
  const std::string mounted = cgroup_mount_point();
  if (mounted.empty()) GTEST_SKIP() << "cgroup v2 is not mounted";
  const support::TempDir made_up;
  std::filesystem::create_directories(made_up.path() +
                                      cgroup_of(::getpid()).substr(mounted.size()));
  const std::vector<std::string> spoilt{
      "unshare",
      "--mount",
      "sh",
      "-c",
      "mount --bind " + made_up.path() + " " + mounted + " && exec \"$@\"",
      "sh"};
  const auto run = [&](std::vector<std::string> command) {
    command.insert(command.begin(), spoilt.begin(), spoilt.end());
    return support::run_program(std::move(command));
  };
  if (run({"true"}).status.code != 0) GTEST_SKIP() << "cannot unshare mounts";
  std::cout << "in a folder that is made up: " << made_up.path() << '\n';
  const Daemon daemon({.daemon_keys = "cgroup = true",
                       .pool_keys = "cgroup_memory = 100\ncgroup_cpu = 10",
                       .start = false});
  const auto refused = run({program("allotd"), "--config", daemon.config_file()});
  EXPECT_EQ(refused.status.code, kExitConfig) << refused.err;
  EXPECT_NE(refused.err.find("(cgroup_memory, cgroup_cpu) cannot be set: "), std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("/cgroup.controllers does not have cpu memory; under systemd give"),
            std::string::npos)
      << refused.err;
  // A user's shell is in another cgroup than the service.
  const auto warned = run({program("allot"), "--config", daemon.config_file(), "check"});
  EXPECT_EQ(warned.status.code, kExitOk) << warned.err;
  EXPECT_NE(warned.err.find("warning: the limits of pools"), std::string::npos) << warned.err;
}

}  // namespace
}  // namespace allot::e2e::cgroup_limit_test
