// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "schedule/computing_process.h"

int main() {
  allot::schedule::answer_all(std::cin, std::cout);
  return 0;
}
