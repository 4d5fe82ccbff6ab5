// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace allot {

// Calls a function at the end of its scope, on each way out.
template <typename Body>
class Finally {
 public:
  explicit Finally(Body body) : body_(std::move(body)) {}
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;
  ~Finally() { body_(); }

 private:
  Body body_;
};

}  // namespace allot
