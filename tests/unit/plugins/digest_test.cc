// SPDX-License-Identifier: Apache-2.0
// Tests the smallest real plugin with the test kit.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <allot/testing.hpp>

#include "support/temp_dir.h"

namespace allot {
namespace {

constexpr const char* kEmptySum =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kAbcSum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
// The digest of a million times 'a', which is more than one chunk (FIPS 180-2).
constexpr const char* kMillionSum =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

class DigestTest : public testing::Test {
 protected:
  [[nodiscard]] test::Ran run(const std::string& payload) const {
    return test::Handler("digest", {{"output", output_}}).run(payload);
  }
  [[nodiscard]] std::string output() const { return support::read_file(folder_ / "sums"); }

  support::TempDir folder_;
  std::string output_ = folder_ / "sums";
};

TEST_F(DigestTest, ReportsSizeAndSum) {
  const std::string path = folder_.write("a file", "abc");
  const auto ran = run(path);
  EXPECT_EQ(ran.outcome, success());
  EXPECT_EQ(ran.log, "info path=" + path + " size=3 sha256=" + kAbcSum + "\n");
  EXPECT_EQ(output(), std::string(kAbcSum) + "  " + path + "\n");
}

TEST_F(DigestTest, AppendsALineForEachFile) {
  const std::string empty = folder_.write("empty", "");
  const std::string large = folder_.write("large", std::string(1'000'000, 'a'));
  EXPECT_EQ(run(empty).outcome, success());
  EXPECT_EQ(run(large).outcome, success());
  EXPECT_EQ(output(),
            std::string(kEmptySum) + "  " + empty + "\n" + kMillionSum + "  " + large + "\n");
}

TEST_F(DigestTest, WithoutOutputItOnlyLogs) {
  output_.clear();
  const auto ran = run(folder_.write("file", "abc"));
  EXPECT_EQ(ran.outcome, success());
  EXPECT_NE(ran.log.find(kAbcSum), std::string::npos) << ran.log;
  EXPECT_EQ(output(), "");
}

TEST_F(DigestTest, MissingFileFailsPermanently) {
  EXPECT_EQ(run(folder_ / "missing").outcome,
            fail((folder_ / "missing") + ": No such file or directory"));
  EXPECT_EQ(run(folder_.path()).outcome, fail(folder_.path() + ": not a regular file"));
  EXPECT_EQ(run("").outcome.kind, ALLOT_FAIL);
  EXPECT_EQ(run(std::string("/dev/null\0x", 11)).outcome, fail("the payload is not a path"));
  EXPECT_EQ(output(), "");
}

// Opening a pipe waits for its other end by default.
TEST_F(DigestTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(run(folder_ / "pipe").outcome.kind, ALLOT_FAIL);
}

TEST_F(DigestTest, StopsHalfWay) {
  test::Handler digest("digest", {{"output", output_}});
  digest.request_stop(1);  // after the first 256 KiB
  const auto ran = digest.run(folder_.write("file", std::string(1'000'000, 'a')));
  EXPECT_EQ(ran.outcome, retry("stopped half way", std::chrono::seconds(0)));
  EXPECT_EQ(ran.stops_asked, 2);
  EXPECT_EQ(output(), "");
}

TEST_F(DigestTest, AnOutputThatCannotBeWrittenIsARetry) {
  output_ = folder_ / "no/such/folder/sums";
  EXPECT_EQ(run(folder_.write("file", "abc")).outcome,
            retry(output_ + ": No such file or directory"));
}

}  // namespace
}  // namespace allot
