// SPDX-License-Identifier: Apache-2.0
// D9, with a folder that is made up to look like a cgroup. With a real cgroup: e2e_cgroup_limit.
#include "process/cgroup_limits.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::worker {
namespace {

class CgroupLimitsTest : public testing::Test {
 protected:
  CgroupLimitsTest() {
    for (const char* name : {"cgroup.procs", "cgroup.subtree_control", "cgroup.type"})
      put(name, "");
    put("cgroup.controllers", "cpu io memory pids\n");
    std::filesystem::create_directory(process::cgroup_leaf(base()));
    put("allot-daemon/cgroup.procs", "");
    settings_.pools.resize(2);
  }
  [[nodiscard]] const std::string& base() const { return folder_.path(); }
  void put(const std::string& name, const std::string& content) const {
    (void)folder_.write(name, content);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    return support::read_file(folder_ / name);
  }
  // Message of a refusal; empty: none.
  [[nodiscard]] std::string refusal() const {
    try {
      process::require_controllers(base(), process::needed_controllers(settings_));
      process::share_out(base(), settings_, ::getpid());
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), kExitConfig);
      return error.what();
    }
    return {};
  }

  support::TempDir folder_;
  config::Settings settings_;
};

TEST_F(CgroupLimitsTest, WorkersAreSiblingsOfTheLeafOfTheDaemon) {
  EXPECT_EQ(process::cgroup_base("/c/allotd.service"), "/c/allotd.service");
  EXPECT_EQ(process::cgroup_base(process::cgroup_leaf("/c/allotd.service")), "/c/allotd.service");
  EXPECT_EQ(process::cgroup_base("/c/my-allot-daemon"), "/c/my-allot-daemon");
  EXPECT_EQ(process::cgroup_base("/c/allotd.service/.control"), "/c/allotd.service")
      << "systemd's reload";
}

TEST_F(CgroupLimitsTest, LimitsAreDistributed) {
  settings_.pools[1].cgroup_memory = 100;
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(read("cgroup.subtree_control"), "+memory");
  settings_.pools[0].cgroup_cpu = 50;
  put("cgroup.subtree_control", "memory\n");
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(read("cgroup.subtree_control").substr(0, 4), "+cpu");
}

// Its counter file shows out-of-memory kills by the kernel.
TEST_F(CgroupLimitsTest, MemoryIsSharedOutWithoutALimitWhereItCanBe) {
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(read("cgroup.subtree_control"), "+memory");
  put("cgroup.subtree_control", "");
  put("cgroup.procs", "1\n");
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(read("cgroup.subtree_control"), "");
  put("cgroup.controllers", "pids\n");
  EXPECT_EQ(refusal(), "");
}

TEST_F(CgroupLimitsTest, AControllerThatIsNotDelegatedIsNamed) {
  settings_.pools[0].cgroup_memory = 100;
  settings_.pools[0].cgroup_cpu = 50;
  put("cgroup.controllers", "memory pids\n");
  const std::string why = refusal();
  EXPECT_NE(why.find(base() + "/cgroup.controllers does not have cpu; "), std::string::npos) << why;
  EXPECT_NE(why.find("Delegate=cpu memory and ProtectControlGroups=no"), std::string::npos) << why;
  EXPECT_EQ(read("cgroup.subtree_control"), "");
}

// In a made-up folder processes stay in the list.
TEST_F(CgroupLimitsTest, OnlyTheDaemonMovesIntoItsLeaf) {
  settings_.pools[0].cgroup_memory = 100;
  const std::string own = std::to_string(::getpid());
  put("cgroup.procs", own + "\n");
  EXPECT_NE(refusal().find("processes stay in " + base()), std::string::npos);
  EXPECT_EQ(read("allot-daemon/cgroup.procs"), own);
  put("cgroup.procs", "1\n");
  EXPECT_NE(refusal().find("a process that is not allotd's (pid 1)"), std::string::npos);
  EXPECT_EQ(read("cgroup.subtree_control"), "");
}

class CgroupLimitTest : public CgroupLimitsTest {
 protected:
  CgroupLimitTest() {
    for (const char* name :
         {"memory.max", "memory.swap.max", "memory.oom.group", "cpu.max", "cpu.weight.nice"}) {
      put(name, "");
    }
  }
  // A made-up file keeps the end of a longer text.
  void limit() const {
    for (const auto& file : std::filesystem::directory_iterator(base())) {
      if (file.is_regular_file()) std::filesystem::resize_file(file, 0);
    }
    process::limit_cgroup(base(), settings_.pools[0]);
  }
};

TEST_F(CgroupLimitTest, AWorkersLimitsAreThoseOfItsPool) {
  settings_.pools[0].cgroup_memory = 100;
  settings_.pools[0].cgroup_cpu = 150;
  settings_.pools[0].nice = 7;
  limit();
  EXPECT_EQ(read("memory.max"), "104857600");
  EXPECT_EQ(read("memory.swap.max"), "0");
  EXPECT_EQ(read("memory.oom.group"), "1");
  EXPECT_EQ(read("cpu.max"), "150000 100000");
  EXPECT_EQ(read("cpu.weight.nice"), "7");
}

TEST_F(CgroupLimitTest, OneThatWasTakenOutIsTakenBack) {
  limit();
  EXPECT_EQ(read("memory.max"), "max");
  EXPECT_EQ(read("memory.swap.max"), "max");
  EXPECT_EQ(read("cpu.max"), "max 100000");
  EXPECT_EQ(read("cpu.weight.nice"), "0");
}

TEST_F(CgroupLimitTest, OneThatCannotBeSetIsRefusedAndOneThatIsNotWantedIsNot) {
  std::filesystem::remove(folder_ / "cpu.max");
  EXPECT_NO_THROW(limit());
  settings_.pools[0].cgroup_cpu = 10;
  EXPECT_THROW(limit(), Error);
}

TEST_F(CgroupLimitTest, TellsWhoseMemoryHadAnEnd) {
  EXPECT_EQ(process::out_of_memory(base()), "") << "the file does not exist";
  put("memory.max", "104857600\n");
  put("memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 0\noom_group_kill 0\n");
  EXPECT_EQ(process::out_of_memory(base()), "") << "nothing was killed";
  put("memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n");
  EXPECT_EQ(process::out_of_memory(base()),
            "out of memory: over the limit of its pool (cgroup_memory = 100)");
  put("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 1\n");
  EXPECT_EQ(process::out_of_memory(base()),
            "out of memory: the host, or a cgroup above the worker's, had none left");
}

}  // namespace
}  // namespace allot::worker
