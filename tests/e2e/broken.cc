// SPDX-License-Identifier: Apache-2.0
// A program that dies of an exception, for failure_test.cc.
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace {

void handle(const std::string& what) {
  throw std::out_of_range(what == "send" ? "no user ada" : "no invoice of ada");
}

}  // namespace

int main() {  // NOLINT(bugprone-exception-escape): its purpose
  handle({std::istreambuf_iterator<char>(std::cin), {}});
}
