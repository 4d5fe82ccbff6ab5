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
  // At most `most` of the last bytes, whole UTF-8 characters, no line break at the end.
  [[nodiscard]] std::string last(std::size_t most) const;
  // As much as it keeps for sure.
  [[nodiscard]] std::string all() const { return last(kSize); }

 private:
  std::string bytes_;  // at most twice kSize
};

// What happened to the program, and its output behind that, shortened to what a reason may have:
// where the plugin ended the program, its output is not what happened.
[[nodiscard]] std::string with_output(std::string what, const Tail& said);

}  // namespace programs
