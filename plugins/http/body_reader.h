// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace http_plugin {

// Reads the body of an answer, at most so many bytes of it. Strict where the library is not: a body
// that breaks off is no shorter body. `read` gives up to `size` of the next bytes, 0 at the end.
// Each function returns whether that was all of it, and throws Trouble where it broke off.
class BodyReader {
 public:
  using Read = std::function<std::size_t(char* to, std::size_t size)>;

  BodyReader(Read read, std::size_t most, std::string& body)
      : read_(std::move(read)), most_(most), body_(body) {}

  bool exactly(unsigned long long length);
  bool to_the_end();
  bool chunks();

 private:
  // Up to `size` bytes; false: the bound was met.
  bool append(unsigned long long size);
  std::string line();

  Read read_;
  std::size_t most_;
  std::string& body_;
};

}  // namespace http_plugin
