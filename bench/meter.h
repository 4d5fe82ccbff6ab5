// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "db/connection.h"

namespace allot::bench {

// Counts deleted rows with the server's counter (Handler_delete), so that the measured programs
// cannot influence the figure.
class Meter {
 public:
  explicit Meter(const db::ConnectOptions& options) : db_(options) { reset(); }

  // Starts counting from 0.
  void reset() { zero_ = deleted(); }

  // Waits until `rows` rows are deleted. Returns rows per second between the last poll that found
  // none deleted and the first that found all deleted. Each poll calls `alive`; if it returns
  // false, or a minute passes without progress, rate() throws Error.
  double rate(std::uint64_t rows, const std::function<bool()>& alive);
  // The same from the first poll that found any deleted, for the rows left then: for rows deleted
  // in large blocks, whose first block takes time before its first row is deleted.
  double rate_once_begun(std::uint64_t rows, const std::function<bool()>& alive);

 private:
  double rate(std::uint64_t rows, const std::function<bool()>& alive, bool once_begun);
  std::uint64_t deleted();

  db::Connection db_;
  std::uint64_t zero_ = 0;
};

}  // namespace allot::bench
