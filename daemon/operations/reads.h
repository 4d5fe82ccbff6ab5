// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "base/clock.h"
#include "db/connection.h"

namespace allot::operations {

// Results of reads that several requests share. A result covers all queues; each verb selects what
// its caller may see (S91).
class Reads {
 public:
  Reads() = default;
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;
  virtual ~Reads() = default;

  // The result of `read(db)`, at most `keep` old. Callers with the same key wait for one read, and
  // get its result or its exception. The key determines the type of the result, and contains all
  // parameters of the read, which runs in another thread.
  template <typename Read>
  auto get(const std::string& key, Nanos keep, const Read& read) {
    using Result = std::invoke_result_t<Read, db::Connection&>;
    return std::static_pointer_cast<const Result>(find(
        key, keep,
        [&read](db::Connection& db) -> Value { return std::make_shared<const Result>(read(db)); }));
  }

 protected:
  using Value = std::shared_ptr<const void>;
  using AnyRead = std::function<Value(db::Connection& db)>;
  virtual Value find(const std::string& key, Nanos keep, const AnyRead& read) = 0;
};

}  // namespace allot::operations
