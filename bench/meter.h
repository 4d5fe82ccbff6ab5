// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "db/connection.h"

namespace allot::bench {

// Counts deleted rows as the server counts them (Handler_delete), so that what is measured cannot
// also report the figure.
class Meter {
 public:
  explicit Meter(const db::ConnectOptions& options) : db_(options) { reset(); }

  // From now on rows count.
  void reset() { zero_ = deleted(); }

  // Waits until `rows` rows are deleted. Returns rows per second between the last look that found
  // none gone and the first that found all gone. `alive` is asked at each look; false, or no
  // progress for a minute, throws Error.
  double rate(std::uint64_t rows, const std::function<bool()>& alive);

 private:
  std::uint64_t deleted();

  db::Connection db_;
  std::uint64_t zero_ = 0;
};

}  // namespace allot::bench
