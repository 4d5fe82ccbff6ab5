// SPDX-License-Identifier: Apache-2.0
// Record format of the harness's handlers. For its plugins, which link nothing of the harness, and
// for the test.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace allot::fault {

// A write that reaches into a second page of the file can be torn: between the two pages the kernel
// checks whether the process was killed, and a reader may see the first half alone. The page size
// is a multiple of this size, so no record reaches into a second page as long as the file contains
// only records.
inline constexpr std::size_t kRecordBytes = 256;

// `line`, padded with spaces, and the line end. Throws std::length_error if it is too long.
inline std::string record_of(std::string line) {
  if (line.size() >= kRecordBytes) throw std::length_error("too long for a record: " + line);
  line.resize(kRecordBytes - 1, ' ');
  return line + '\n';
}

}  // namespace allot::fault
