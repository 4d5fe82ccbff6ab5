// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <utility>

namespace http_plugin {

// Reads the body of an answer up to a size limit. Stricter than the library: a truncated body is an
// error, not a shorter body. `read` returns up to `size` of the next bytes, 0 at the end. Each
// function returns whether the whole body was read, and throws Trouble if it was truncated.
class BodyReader {
 public:
  using Read = std::function<std::size_t(char* to, std::size_t size)>;

  BodyReader(Read read, std::size_t most, std::string& body)
      : read_(std::move(read)), most_(most), body_(body) {}

  bool exactly(unsigned long long length) { return append(length, false); }
  bool to_the_end() { return append(std::numeric_limits<unsigned long long>::max(), true); }
  bool chunks();

 private:
  // Appends `size` bytes, or fewer if the input may end before; false: the limit was reached.
  bool append(unsigned long long size, bool may_end);
  std::string line();

  Read read_;
  std::size_t most_;
  std::string& body_;
};

}  // namespace http_plugin
