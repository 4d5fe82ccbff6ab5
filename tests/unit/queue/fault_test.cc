// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "queue/model/error_text.h"

namespace allot::queue {
namespace {

TEST(ErrorPattern, LeavesOutWhatDiffersFromTaskToTask) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"  connection refused\n  at line 3", "connection refused"},
      {"\n\nsecond\r\nthird", "second\r"},
      {"user 4711 not found", "user # not found"},
      {"host db-3.example.org:3306 is down.", "host # is down."},
      {"550e8400-e29b-41d4-a716-446655440000 and 0x7ffe12", "# and #"},
      {"no file 'a b.txt' or \"c\"", "no file '...' or \"...\""},
      {"can't do it, won't do it", "can't do it, won't do it"},
      {"an 'open quote", "an 'open quote"},
      {"größe 5 für straße", "größe # für straße"},
      {"a-b", "a-b"},
      {"99", "#"}};
  for (const auto& [error, pattern] : cases) EXPECT_EQ(error_pattern(error), pattern) << error;
}

TEST(ErrorPattern, IsShortAndNeverCutsACharacter) {
  std::string umlauts = "x";
  for (int i = 0; i < 300; ++i) umlauts += "ä";
  EXPECT_EQ(error_pattern(umlauts), umlauts.substr(0, 199));
  EXPECT_EQ(error_pattern(std::string(500, 'x')), std::string(200, 'x'));
}

TEST(Fault, FaultOfAnUnclassifiedErrorIsItsPattern) {
  EXPECT_EQ(fault_of("user 1 is gone\nat mail.cc:3", ""), "user # is gone");
  EXPECT_EQ(fault_of("KeyError: 1", "KeyError in send (app/mail.py)"),
            "KeyError in send (app/mail.py)");
}

TEST(ErrorGroup, IsWhatQueueTypeCauseAndFaultHaveInCommon) {
  const std::string group = error_group(7, "mail.send", "retry", "user # is gone").group;
  EXPECT_EQ(group, "600836888c14") << "a group has the same id tomorrow";
  EXPECT_NE(group, error_group(8, "mail.send", "retry", "user # is gone").group);
  EXPECT_NE(group, error_group(7, "mail.sen", "dretry", "user # is gone").group);
  EXPECT_NE(group, error_group(7, "mail.send", "fail", "user # is gone").group);
  EXPECT_NE(group, error_group(7, "mail.send", "retry", "user # is here").group);
}

}  // namespace
}  // namespace allot::queue
