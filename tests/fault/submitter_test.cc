// SPDX-License-Identifier: Apache-2.0
#include "fault/submitter.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace allot::fault {
namespace {

std::string lines_of(const std::string& report, int exit_code) {
  std::string all;
  for (const Reply& reply : answers_of(report, exit_code, 10, 4, 3, 101))
    all += line_of(reply) + "\n";
  return all;
}

TEST(Answers, ZeroIsAllOfIt) {
  EXPECT_EQ(lines_of("", 0), "3 101 4 acknowledged\n3 105 4 acknowledged\n3 109 2 acknowledged\n");
}

TEST(Answers, ALostReplyIsOneBatch) {
  EXPECT_EQ(lines_of(R"({"next_line": null, "unknown_lines": [5, 8]})", 75),
            "3 101 4 acknowledged\n3 105 4 unknown\n3 109 2 refused\n");
}

TEST(Answers, FromTheNextLineOnAllIsRefused) {
  EXPECT_EQ(lines_of(R"({"next_line": 9, "unknown_lines": null})", 69),
            "3 101 4 acknowledged\n3 105 4 acknowledged\n3 109 2 refused\n");
}

TEST(Answers, UnstartedRequestWasRefused) {
  EXPECT_EQ(lines_of("", 69), "3 101 4 refused\n3 105 4 refused\n3 109 2 refused\n");
}

TEST(Answers, AnythingElseIsAnError) {
  EXPECT_THROW(lines_of("", 70), std::runtime_error);
}

}  // namespace
}  // namespace allot::fault
