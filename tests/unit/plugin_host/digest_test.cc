// SPDX-License-Identifier: Apache-2.0
// The plugin that others copy, called as a worker calls it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "plugin_host/handler_call.h"
#include "support/temp_dir.h"
#include "unit/plugin_host/fixture.h"

namespace allot::plugin_host {
namespace {

constexpr const char* kEmptySum =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kAbcSum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
// Of a million times 'a': more than one chunk (FIPS 180-2).
constexpr const char* kMillionSum =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

class Recorder : public HostHooks {
 public:
  void log(int level, std::string_view text) noexcept override {
    lines += std::to_string(level) + " " + std::string(text) + "\n";
  }
  bool stop_requested() noexcept override { return stop; }
  void heartbeat() noexcept override {}

  std::string lines;
  bool stop = false;
};

class DigestTest : public testing::Test {
 protected:
  CallResult run(std::string_view payload) {
    const Registry registry =
        Registry::load(ALLOT_DIGEST_FOLDER, {{"digest", {{"output", output_}}}});
    return call(*registry.find("digest"), {"id", "files", "digest", payload}, hooks_);
  }
  [[nodiscard]] std::string output() const { return support::read_file(folder_ / "sums"); }

  support::TempDir folder_;
  std::string output_ = folder_ / "sums";
  Recorder hooks_;
};

TEST_F(DigestTest, ReportsSizeAndSum) {
  const std::string path = folder_.write("a file", "abc");
  EXPECT_EQ(run(path).kind, OutcomeKind::kSuccess);
  EXPECT_EQ(hooks_.lines, "1 path=" + path + " size=3 sha256=" + kAbcSum + "\n");
  EXPECT_EQ(output(), std::string(kAbcSum) + "  " + path + "\n");
}

TEST_F(DigestTest, AppendsALineForEachFile) {
  const std::string empty = folder_.write("empty", "");
  const std::string large = folder_.write("large", std::string(1'000'000, 'a'));
  EXPECT_EQ(run(empty).kind, OutcomeKind::kSuccess);
  EXPECT_EQ(run(large).kind, OutcomeKind::kSuccess);
  EXPECT_EQ(output(),
            std::string(kEmptySum) + "  " + empty + "\n" + kMillionSum + "  " + large + "\n");
}

TEST_F(DigestTest, WithoutOutputItOnlyLogs) {
  output_.clear();
  EXPECT_EQ(run(folder_.write("file", "abc")).kind, OutcomeKind::kSuccess);
  EXPECT_NE(hooks_.lines.find(kAbcSum), std::string::npos);
  EXPECT_EQ(output(), "");
}

TEST_F(DigestTest, WhatIsNoFileFailsForGood) {
  const auto missing = run(folder_ / "missing");
  EXPECT_EQ(missing.kind, OutcomeKind::kFail);
  EXPECT_EQ(missing.reason, (folder_ / "missing") + ": No such file or directory");
  const auto folder = run(folder_.path());
  EXPECT_EQ(folder.kind, OutcomeKind::kFail);
  EXPECT_EQ(folder.reason, folder_.path() + ": not a regular file");
  EXPECT_EQ(run("").kind, OutcomeKind::kFail);
  EXPECT_EQ(run(std::string_view("/dev/null\0x", 11)).reason, "the payload is not a path");
  EXPECT_EQ(output(), "");
}

// Opening a pipe waits for its other end, unless told not to.
TEST_F(DigestTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(run(folder_ / "pipe").kind, OutcomeKind::kFail);
}

TEST_F(DigestTest, StopsHalfWay) {
  hooks_.stop = true;
  const auto result = run(folder_.write("file", "abc"));
  EXPECT_EQ(result.kind, OutcomeKind::kRetry);
  EXPECT_EQ(output(), "");
}

TEST_F(DigestTest, AnOutputThatCannotBeWrittenIsARetry) {
  output_ = folder_ / "no/such/folder/sums";
  const auto result = run(folder_.write("file", "abc"));
  EXPECT_EQ(result.kind, OutcomeKind::kRetry);
  EXPECT_NE(result.reason.find("No such file"), std::string::npos) << result.reason;
}

}  // namespace
}  // namespace allot::plugin_host
