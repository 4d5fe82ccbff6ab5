// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "db/connection.h"

namespace allot::bench {

// Counts deleted rows as the server counts them (Handler_delete), so that the measured programs
// cannot report the figure themselves.
class Meter {
 public:
  explicit Meter(const db::ConnectOptions& options) : db_(options) { reset(); }

  // Counts rows from now on.
  void reset() { zero_ = deleted(); }

  // Waits until `rows` rows are deleted. Returns rows per second between the last look that found
  // none gone and the first that found all gone. Each look calls `alive`; if it returns false, or a
  // minute passes without progress, rate() throws Error.
  double rate(std::uint64_t rows, const std::function<bool()>& alive);
  // The same from the first look that found any gone, of what was left then: for rows that go in
  // large blocks, whose first one takes its time before the first row of it is gone.
  double rate_once_begun(std::uint64_t rows, const std::function<bool()>& alive);

 private:
  double rate(std::uint64_t rows, const std::function<bool()>& alive, bool once_begun);
  std::uint64_t deleted();

  db::Connection db_;
  std::uint64_t zero_ = 0;
};

}  // namespace allot::bench
