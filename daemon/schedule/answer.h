// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

namespace allot::schedule {

// What the child process does that computes for a process with threads. A question is a line
// "AFTER ZONE EXPRESSION", its answer one of "next INSTANT", "never" and "error TEXT".
std::string answer(const std::string& question);

// Answers one line after the other until the end of `in`.
void answer_all(std::istream& in, std::ostream& out);

}  // namespace allot::schedule
