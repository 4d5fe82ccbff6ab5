// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

namespace allot::schedule {

// What the child process does that computes for a process with threads. A question is a line
// "AFTER ZONE EXPRESSION", its answer one of "next INSTANT", "never" and "error TEXT"; or one of
// those of Calendar, "upcoming AFTER UNTIL MOST ZONE EXPRESSION" and the same with "missed", whose
// answers are "upcoming INSTANT..." and "missed COUNT AT_LEAST NEXT INSTANT..." with 0 or 1 as
// AT_LEAST, and "never" where there is no next one.
std::string answer(const std::string& question);

// Answers one line after the other until the end of `in`.
void answer_all(std::istream& in, std::ostream& out);

}  // namespace allot::schedule
