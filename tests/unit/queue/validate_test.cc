// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "queue/submit.h"

namespace allot::queue {
namespace {

std::string refusal_of(const Submission& submission) {
  try {
    validate(submission);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitBadInput);
    return error.what();
  }
}

Submission submission(std::string type, std::size_t payload_size = 0, std::uint32_t prio = 1) {
  return {{1, "q", 4}, std::move(type), std::string(payload_size, 'x'), prio};
}

TEST(ValidateTest, Type) {
  EXPECT_EQ(refusal_of(submission("mail.send")), "");
  EXPECT_NE(refusal_of(submission("")).find("type ''"), std::string::npos);
  EXPECT_NE(refusal_of(submission("a b")).find("type 'a b'"), std::string::npos);
}

TEST(ValidateTest, PayloadSize) {
  EXPECT_EQ(refusal_of(submission("t", kMaxPayload)), "");
  const std::string refusal = refusal_of(submission("t", kMaxPayload + 1));
  EXPECT_NE(refusal.find("payload of 16777216 bytes"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("16 MiB - 1"), std::string::npos) << refusal;
}

TEST(ValidateTest, Prio) {
  EXPECT_EQ(refusal_of(submission("t", 0, 0)), "");
  EXPECT_EQ(refusal_of(submission("t", 0, 3)), "");
  EXPECT_NE(refusal_of(submission("t", 0, 4)).find("prio 4"), std::string::npos);
}

}  // namespace
}  // namespace allot::queue
