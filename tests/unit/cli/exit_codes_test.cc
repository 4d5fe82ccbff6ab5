// SPDX-License-Identifier: Apache-2.0
// docs/exit-codes.md, --help and base/exit_codes.h have the same list, and these tests provoke each
// code, except the one for a lost reply, which needs a database: tests/db/cli.
// Rule: S24.
#include "base/exit_codes.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <regex>
#include <set>

#include "base/unique_fd.h"
#include "ipc/slot.h"
#include "support/process.h"

namespace allot::cli {
namespace {

std::set<int> numbers_in(const std::string& text, const std::regex& pattern) {
  std::set<int> numbers;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    numbers.insert(std::stoi((*at)[1]));
  }
  return numbers;
}

TEST(ExitCodes, AreDocumentedAsTheyAre) {
  const std::string source = ALLOT_SOURCE_DIR;
  const std::set<int> codes = numbers_in(support::read_file(source + "/daemon/base/exit_codes.h"),
                                         std::regex(R"(kExit\w+ = (\d+),)"));
  EXPECT_EQ(codes.size(), 10U);
  EXPECT_EQ(numbers_in(support::read_file(source + "/docs/exit-codes.md"),
                       std::regex(R"(\n\| (\d+) \|)")),
            codes);
  const std::string help = support::run_program({ALLOT_PROGRAM, "--help"}).out;
  ASSERT_NE(help.find("Exit codes:"), std::string::npos);
  EXPECT_EQ(numbers_in(help.substr(help.find("Exit codes:")), std::regex(R"((?:: |; |\n)(\d+) )")),
            codes);
}

class ExitCodeTest : public testing::Test {
 protected:
  ExitCodeTest()
      : config_(folder_.write("allot.toml", "[database]\nsocket = \"" + (folder_ / "none") +
                                                "\"\nconnect_timeout = \"1s\"\n")) {}

  [[nodiscard]] int code(std::vector<std::string> words,
                         const support::ProcessOptions& options = {}) const {
    words.insert(words.begin(), {ALLOT_PROGRAM, "--config", config_});
    const auto done = support::run_program(words, options);
    EXPECT_EQ(done.status.signal, 0);
    return done.status.code;
  }

  support::TempDir folder_;
  std::string config_;
};

TEST_F(ExitCodeTest, UsageErrorIs64) {
  EXPECT_EQ(code({"--version"}), kExitOk);
  EXPECT_EQ(code({"config"}), kExitOk);
  EXPECT_EQ(code({"plugins"}, {.environment = {"ALLOT_LIBEXEC=/nonexistent"}}), kExitFailure);
  EXPECT_EQ(code({"stauts"}), kExitUsage);
  const std::string large = folder_.write("large", "");
  std::filesystem::resize_file(large, std::size_t{16} << 20);
  EXPECT_EQ(code({"submit", "q", "t", "--file", large}), kExitBadInput);
  EXPECT_EQ(code({"submit", "q", "no type"}), kExitBadInput);
  EXPECT_EQ(code({"submit", "q", "t", "--file", folder_ / "none"}), kExitNoInput);
  EXPECT_EQ(code({"submit", "q", "t"}), kExitUnavailable);
  EXPECT_EQ(code({"status"}), kExitUnavailable);
  EXPECT_EQ(code({"plugin", "new", "x", "--dir", folder_.path()}), kExitCannotCreate);
  (void)folder_.write("allot.toml", "[database]\nhots = \"x\"\n");
  EXPECT_EQ(code({"config"}), kExitConfig);
  EXPECT_EQ(code({"check"}), kExitConfig);
}

// Impossible without a defect of Allot: here the slot is not a slot file.
TEST_F(ExitCodeTest, DefectIs70) {
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto done =
      support::run_program({ALLOT_WORKER, "--run", "--slot", "0", "--config", config_},
                           {.descriptors = {{nothing.get(), ipc::kSlotFd}}});
  EXPECT_EQ(done.status, (support::ExitStatus{kExitSoftware, 0})) << done.err;
}

// Under a supervisor of another version.
TEST_F(ExitCodeTest, SlotsOfAnotherVersion) {
  const auto refusal = [&](const char* magic, std::uint32_t version) {
    ipc::SlotFileHeader header{};
    std::memcpy(header.magic, magic, sizeof header.magic);
    header.version = version;
    header.slot_size = sizeof(ipc::Slot);
    std::string bytes(ipc::slot_offset(1), '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    const UniqueFd slots(open(folder_.write("slots", bytes).c_str(), O_RDWR | O_CLOEXEC));
    const auto done =
        support::run_program({ALLOT_WORKER, "--run", "--slot", "0", "--config", config_},
                             {.descriptors = {{slots.get(), ipc::kSlotFd}}});
    EXPECT_EQ(done.status, (support::ExitStatus{kExitConfig, 0})) << done.err;
    return done.err;
  };
  EXPECT_NE(refusal("allotslt", 6)
                .find("slot file: from a pre-release Allot; stop that allotd and "
                      "start this one"),
            std::string::npos);
  EXPECT_NE(refusal(ipc::kSlotMagic, ipc::kSlotVersion + 1).find("slot file: from another version"),
            std::string::npos);
}

TEST_F(ExitCodeTest, BoardOfAnotherVersion) {
  const std::string bytes = std::string("allotbrd\6\0\0\0", 12) + std::string(ipc::kPage, '\0');
  const UniqueFd board(open(folder_.write("board", bytes).c_str(), O_RDWR | O_CLOEXEC));
  const auto done =
      support::run_program({ALLOT_WORKER, "--run", "--slot", "0", "--config", config_},
                           {.descriptors = {{board.get(), ipc::kBoardFd}}});
  EXPECT_EQ(done.status, (support::ExitStatus{kExitConfig, 0})) << done.err;
  EXPECT_NE(done.err.find("board: from a pre-release Allot; stop that allotd and start this one"),
            std::string::npos)
      << done.err;
}

}  // namespace
}  // namespace allot::cli
