// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace programs {

// Keeps the last bytes of an endless output.
class Tail {
 public:
  static constexpr std::size_t kSize = std::size_t{64} << 10;
  void add(const char* data, std::size_t size);
  void clear() { bytes_.clear(); }
  // At most `most` of the last bytes: whole UTF-8 characters, without a final line break.
  [[nodiscard]] std::string last(std::size_t most) const;
  // The guaranteed part of the output.
  [[nodiscard]] std::string all() const { return last(kSize); }

 private:
  std::string bytes_;  // at most twice kSize
};

// The cause with the program's output behind it, limited to the size of a reason. For a program
// that the plugin ended, because its output is not the cause.
[[nodiscard]] std::string with_output(std::string what, const Tail& said);

}  // namespace programs
