// SPDX-License-Identifier: Apache-2.0
#include "queue/look/dead_letter.h"

#include <gtest/gtest.h>

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

TEST(Fault, OfAnErrorWithoutOneIsItsPattern) {
  EXPECT_EQ(fault_of("user 1 is gone\nat mail.cc:3", ""), "user # is gone");
  EXPECT_EQ(fault_of("KeyError: 1", "KeyError in send (app/mail.py)"),
            "KeyError in send (app/mail.py)");
}

DeadLetter letter_of(const TaskId& id, const std::string& error, const std::string& died_at) {
  return {id, "mail.send", "retry", error, fault_of(error, ""), died_at};
}

TEST(DeadGroup, IsWhatTypeCauseAndFaultHaveInCommon) {
  const DeadLetter one = letter_of({}, "user 1 is gone", "");
  const DeadLetter same = letter_of({{7, 3}, 2, 9}, "user 22 is gone", "now");
  const std::string group = dead_group("mail", one);
  EXPECT_EQ(group, dead_group("mail", same));
  EXPECT_EQ(group, "af67e836cfe4") << "a group that somebody wrote down is the same tomorrow";
  DeadLetter other = one;
  other.type = "mail.sen";
  other.cause = "dretry";  // the same bytes, one after the other
  EXPECT_NE(group, dead_group("mail", other));
  other = one;
  other.fault = "user # is here";
  EXPECT_NE(group, dead_group("mail", other));
  EXPECT_NE(group, dead_group("post", one));
}

}  // namespace
}  // namespace allot::queue
