// SPDX-License-Identifier: Apache-2.0
// Rules: S11, S24.
#include "supervisor/instance.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "peer/doorbell.h"
#include "support/process.h"
#include "support/small_disk.h"
#include "support/temp_dir.h"

namespace allot::supervisor {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777U;
}

TEST(Instance, MakesItsFilesWithNarrowModes) {
  const support::TempDir dir;
  const std::string& folder = dir.path();
  Instance instance;
  ASSERT_EQ(instance.lock(folder.c_str()), Instance::Lock::kTaken);
  ASSERT_TRUE(instance.make_files(folder.c_str(), "x", 1));
  EXPECT_EQ(mode_of(folder + "/slots"), 0640U);
  EXPECT_EQ(mode_of(folder + "/board"), 0660U);
  EXPECT_NE(peer::map_board(instance.board_fd()), nullptr);
  EXPECT_EQ(std::stoi(support::read_file(folder + "/lock")), getpid());
  const std::string slots = support::read_file(folder + "/slots");
  ipc::SlotFileHeader header{};
  std::memcpy(&header, slots.data(), sizeof header);
  EXPECT_EQ(std::memcmp(header.magic, ipc::kSlotMagic, sizeof header.magic), 0);
  EXPECT_EQ(header.slot_count, ipc::kMaxSlots);
  EXPECT_STREQ(header.instance, "x");
}

TEST(Instance, ANewLifeGetsNewFilesAndTheOldKeepTheirs) {
  const support::TempDir dir;
  Instance first;
  ASSERT_TRUE(first.make_files(dir.path().c_str(), "x", 1));
  first.slot(5).generation = 42;
  Instance second;
  ASSERT_TRUE(second.make_files(dir.path().c_str(), "x", 1));
  EXPECT_EQ(second.slot(5).generation, 0U);
  EXPECT_EQ(first.slot(5).generation, 42U);
}

// A file that only looks large enough kills its first writer by SIGBUS.
TEST(Instance, MappedFileHasItsSpace) {
  const support::SmallDisk disk(1U << 20U);
  if (!disk.trouble().empty()) GTEST_SKIP() << disk.trouble();
  const std::string folder = disk / "";
  Instance instance;
  ASSERT_EQ(instance.lock(folder.c_str()), Instance::Lock::kTaken);
  ASSERT_TRUE(instance.make_files(folder.c_str(), "x", 2));
  disk.leave(0);
  for (const std::uint32_t index : {0U, 1U}) {
    ASSERT_TRUE(instance.make_room(index));
    std::memset(static_cast<void*>(&instance.slot(index)), 1, sizeof(ipc::Slot));
  }
  ipc::Board* board = peer::map_board(instance.board_fd());
  ASSERT_NE(board, nullptr);
  std::memset(static_cast<void*>(board->pools), 1, sizeof board->pools);
  EXPECT_FALSE(instance.make_room(2));
  EXPECT_EQ(errno, ENOSPC);
  disk.leave(sizeof(ipc::Slot));
  EXPECT_TRUE(instance.make_room(2));
}

TEST(Instance, WithoutRoomItIsRefusedAndSaysHowToGoOn) {
  const support::SmallDisk disk(1U << 20U);
  if (!disk.trouble().empty()) GTEST_SKIP() << disk.trouble();
  const std::string folder = disk / "";
  Instance instance;
  ASSERT_EQ(instance.lock(folder.c_str()), Instance::Lock::kTaken);
  for (const std::size_t left :
       {std::size_t{0}, ipc::slot_offset(2) - 1, ipc::slot_offset(2) + sizeof(ipc::Board) / 2}) {
    disk.leave(left);
    testing::internal::CaptureStderr();
    EXPECT_FALSE(instance.make_files(folder.c_str(), "x", 2)) << left;
    EXPECT_NE(testing::internal::GetCapturedStderr().find(
                  "free space there, or set [daemon] runtime_dir to another file system"),
              std::string::npos);
  }
  disk.leave(ipc::slot_offset(2) + 2 * sizeof(ipc::Board));
  EXPECT_TRUE(instance.make_files(folder.c_str(), "x", 2));
}

TEST(Instance, ALockKeepsWhatStandsBehindThePid) {
  const support::TempDir dir;
  const std::string path = dir.write("lock", "123\n");
  std::ofstream(path, std::ios::in).seekp(ipc::kLockPidSize) << "mark";
  Instance instance;
  ASSERT_EQ(instance.lock(dir.path().c_str()), Instance::Lock::kTaken);
  const std::string text = support::read_file(path);
  EXPECT_EQ(std::stoi(text), getpid());
  EXPECT_EQ(text.substr(ipc::kLockPidSize), "mark");
}

TEST(Instance, WaitsForWorkersOfAFormerLife) {
  const support::TempDir dir;
  const std::string path = dir.write("lock", "999999999\n");  // its allotd has ended
  const UniqueFd worker(open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(worker.get(), LOCK_EX), 0);
  Instance instance;
  EXPECT_EQ(instance.lock(dir.path().c_str()), Instance::Lock::kBusy);
  ASSERT_EQ(flock(worker.get(), LOCK_UN), 0);
  EXPECT_EQ(instance.lock(dir.path().c_str()), Instance::Lock::kTaken);
}

// Lock of a killed supervisor that is not reaped yet.
TEST(Instance, ADeadAllotdWhosePidIsStillThereHoldsNothing) {
  const support::TempDir dir;
  const pid_t zombie = fork();
  if (zombie == 0) {
    prctl(PR_SET_NAME, "allotd");
    _exit(0);
  }
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(zombie), &info, WEXITED | WNOWAIT), 0);
  const std::string path = dir.write("lock", std::to_string(zombie) + "\n");
  const UniqueFd worker(open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(worker.get(), LOCK_EX), 0);
  Instance instance;
  EXPECT_EQ(instance.lock(dir.path().c_str()), Instance::Lock::kBusy);
  EXPECT_EQ(waitpid(zombie, nullptr, 0), zombie);
}

TEST(Instance, ALivingAllotdIsNamed) {
  const support::TempDir dir;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t other = fork();
  if (other == 0) {
    prctl(PR_SET_NAME, "allotd");
    write_end.reset(open("/dev/null", O_RDONLY));  // "named", by end of file
    pause();
  }
  write_end.reset();
  char c = 0;
  ASSERT_EQ(read(read_end.get(), &c, 1), 0);
  const std::string path = dir.write("lock", std::to_string(other) + "\n");
  const UniqueFd held(open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(held.get(), LOCK_EX), 0);
  Instance instance;
  testing::internal::CaptureStderr();
  EXPECT_EQ(instance.lock(dir.path().c_str()), Instance::Lock::kRefused);
  EXPECT_NE(
      testing::internal::GetCapturedStderr().find("instance.taken pid=" + std::to_string(other)),
      std::string::npos);
  support::send_signal(other, SIGKILL);
  EXPECT_EQ(waitpid(other, nullptr, 0), other);
}

TEST(Instance, AFolderThatIsNotThereIsRefused) {
  const support::TempDir dir;
  (void)dir.write("file", "");
  Instance instance;
  testing::internal::CaptureStderr();
  EXPECT_EQ(instance.lock((dir / "file/x").c_str()), Instance::Lock::kRefused);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("runtime_dir"), std::string::npos);
}

}  // namespace
}  // namespace allot::supervisor
