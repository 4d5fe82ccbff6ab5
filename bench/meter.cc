// SPDX-License-Identifier: Apache-2.0
#include "bench/meter.h"

#include <ctime>

#include "base/clock.h"
#include "base/error.h"

namespace allot::bench {
namespace {

constexpr Nanos kPollInterval = 5 * kMilli;  // each takes the server some 0.2 ms
constexpr Nanos kPatience = 60 * kSecond;

void wait_for_next_poll() {
  const timespec pause{0, static_cast<long>(kPollInterval)};
  nanosleep(&pause, nullptr);
}

}  // namespace

double Meter::rate(std::uint64_t rows, const std::function<bool()>& alive) {
  return rate(rows, alive, false);
}

double Meter::rate_once_begun(std::uint64_t rows, const std::function<bool()>& alive) {
  return rate(rows, alive, true);
}

double Meter::rate(std::uint64_t rows, const std::function<bool()>& alive, bool once_begun) {
  Nanos began = mono_ns();
  std::uint64_t first = 0;
  Nanos progressed = began;
  std::uint64_t before = 0;
  for (;;) {
    const bool going_on = alive();  // first: an ended client has deleted all of its rows
    const std::uint64_t gone = deleted() - zero_;
    const Nanos now = mono_ns();
    if (gone >= rows) {
      return static_cast<double>(rows - first) * 1e9 / static_cast<double>(now - began);
    }
    if (gone == 0 || (once_begun && first == 0)) {
      began = now;
      first = gone;
    }
    if (gone != before) progressed = now;
    if (!going_on || now - progressed > kPatience) {
      throw Error("only " + std::to_string(gone) + " of " + std::to_string(rows) +
                  " tasks were drained");
    }
    before = gone;
    wait_for_next_poll();
  }
}

std::uint64_t Meter::deleted() {
  auto rows = db_.execute("SHOW GLOBAL STATUS LIKE 'Handler_delete'");
  const auto row = rows.at(0).next();
  if (!row) throw Error("the server does not tell Handler_delete");
  return row->u64(1);
}

}  // namespace allot::bench
