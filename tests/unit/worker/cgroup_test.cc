// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup.h"

#include <gtest/gtest.h>

namespace allot::worker {
namespace {

constexpr const char* kUnified =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kHybrid =
    "31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST(CgroupTest, IsBelowItsMount) {
  EXPECT_EQ(process::find_cgroup("0::/system.slice/allotd.service\n", kUnified),
            "/sys/fs/cgroup/system.slice/allotd.service");
}

TEST(CgroupTest, MayBeTheRoot) {
  EXPECT_EQ(process::find_cgroup("0::/\n", kUnified), "/sys/fs/cgroup");
}

TEST(CgroupTest, VersionOneIsIgnored) {
  EXPECT_EQ(process::find_cgroup("4:memory:/m\n1:name=systemd:/s\n0::/u\n", kHybrid),
            "/sys/fs/cgroup/unified/u");
  EXPECT_EQ(process::find_cgroup("4:memory:/m\n1:name=systemd:/s\n", kHybrid), "");
}

TEST(CgroupTest, AMountMayShowAPartOnly) {
  const std::string part = "30 23 0:26 /a/b /mnt rw - cgroup2 none rw\n";
  EXPECT_EQ(process::find_cgroup("0::/a/b\n", part), "/mnt");
  EXPECT_EQ(process::find_cgroup("0::/a/b/c\n", part), "/mnt/c");
  EXPECT_EQ(process::find_cgroup("0::/a/bc\n", part), "");
  EXPECT_EQ(process::find_cgroup("0::/a\n", part), "");
  EXPECT_EQ(process::find_cgroup("0::/a\n", part + kUnified), "/sys/fs/cgroup/a");
}

TEST(CgroupTest, WithoutAMountThereIsNone) {
  EXPECT_EQ(process::find_cgroup("0::/a\n", "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"), "");
  EXPECT_EQ(process::find_cgroup("", kUnified), "");
}

}  // namespace
}  // namespace allot::worker
