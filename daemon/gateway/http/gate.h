// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "gateway/http/awaitable.h"

namespace allot::gateway::http {

// Blocks a coroutine until open() is called in the same thread. Each open() releases one wait.
class Gate {
 public:
  Awaitable<void> wait();
  void open();

 private:
  Awaitable<void> closed();

  bool open_ = false;
  std::function<void()> waiter_;
};

}  // namespace allot::gateway::http
