// SPDX-License-Identifier: Apache-2.0
// How a handler of the harness writes down what it does. For its plugins, which link nothing of the
// harness, and for the test.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace allot::fault {

// If a write reaches into a second page of the file, the kernel looks between the two whether its
// process was killed, so that half a line may be left, and a reader may see the first half alone. A
// page has a whole number of these records, so that none reaches into a second one as long as the
// file has nothing else.
inline constexpr std::size_t kRecordBytes = 256;

// `line`, filled up with spaces, and its end. Throws std::length_error if it is too long.
inline std::string record_of(std::string line) {
  if (line.size() >= kRecordBytes) throw std::length_error("too long for a record: " + line);
  line.resize(kRecordBytes - 1, ' ');
  return line + '\n';
}

}  // namespace allot::fault
