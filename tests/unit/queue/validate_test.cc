// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "queue/submit/submit.h"

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
  return {{1, "q", {4}}, std::move(type), std::string(payload_size, 'x'), {.prio = prio}};
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

TEST(ValidateTest, MaxAttempts) {
  Submission task = submission("t");
  for (const std::uint32_t most : {1U, kMostAttempts}) {
    task.options.max_attempts = most;
    EXPECT_EQ(refusal_of(task), "");
  }
  task.options.max_attempts = 0;
  EXPECT_EQ(refusal_of(task), "max_attempts 0: 1 to 100000 are allowed");
  task.options.max_attempts = kMostAttempts + 1;
  EXPECT_EQ(refusal_of(task), "max_attempts 100001: 1 to 100000 are allowed");
}

TEST(ValidateTest, Due) {
  const auto refusal = [](std::chrono::microseconds delay, std::optional<Moment> run_at) {
    Submission task = submission("t");
    task.options.delay = delay;
    task.options.run_at = run_at;
    return refusal_of(task);
  };
  using std::chrono::microseconds;
  EXPECT_EQ(refusal(kMaxDelay, {}), "");
  EXPECT_NE(refusal(kMaxDelay + microseconds(1), {}).find("delay"), std::string::npos);
  EXPECT_NE(refusal(microseconds(-1), {}).find("delay"), std::string::npos);
  EXPECT_EQ(refusal({}, Moment()), "") << "has passed";
  EXPECT_EQ(refusal({}, kLastRunAt - microseconds(1)), "");
  EXPECT_EQ(refusal({}, kLastRunAt),
            "run_at: the year 2150 or later; the latest time is 2149-12-31T23:59:59.999999Z");
  EXPECT_NE(refusal(microseconds(1), Moment()).find("exclude"), std::string::npos);
}

}  // namespace
}  // namespace allot::queue
