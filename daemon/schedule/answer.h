// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

namespace allot::schedule {

// Answers a question in the child process that computes for a process with threads. A question is a
// line for a call of Calendar, "upcoming AFTER UNTIL MOST ZONE EXPRESSION" or the same with
// "missed". It is answered by "upcoming INSTANT...", by "missed COUNT AT_LEAST NEXT INSTANT..."
// with 0 or 1 as AT_LEAST and "never" for a missing next instant, or by "error TEXT".
std::string answer(const std::string& question);

// Answers each line until the end of `in`.
void answer_all(std::istream& in, std::ostream& out);

}  // namespace allot::schedule
