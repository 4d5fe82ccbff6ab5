// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "queue/schedules/schedule.h"
#include "schedule/expression.h"
#include "schedule/system_zone.h"

namespace allot::cli {

// When a schedule runs. It computes here, because a command has one thread; the C library knows one
// zone at a time, so that of two calendars only the last one made is right.
class Calendar {
 public:
  // Throws Error(kExitBadInput) that names the field.
  Calendar(const std::string& expression, const std::string& zone);

  // The first run after that, in whole seconds; nothing: none will ever come.
  [[nodiscard]] std::optional<queue::Moment> next(queue::Moment after) const;
  // "2026-11-24 03:15:00 +01:00", the time there.
  [[nodiscard]] std::string local(queue::Moment at) const;

 private:
  schedule::Expression expression_;
  schedule::SystemZone zone_;
};

}  // namespace allot::cli
