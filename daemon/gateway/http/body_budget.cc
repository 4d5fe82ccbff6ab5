// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/body_budget.h"

#include "log/log.h"

namespace allot::gateway::http {

bool BodyBudget::change(std::size_t from, std::size_t to, bool anonymous) {
  const MutexLock held(mutex_);
  const std::size_t most = to <= kSmall ? bytes_ : of_large();
  const bool fits =
      held_ - from + to <= most && (!anonymous || anonymous_ - from + to <= of_anonymous());
  if (to > from && !fits) {
    if (no_room_.is_due(Complaint::Clock::now())) {
      log::warn("gateway.bodies_refused", {{"bytes", held_}, {"body_bytes", to}});
    }
    return false;
  }
  held_ = held_ - from + to;
  if (anonymous) anonymous_ = anonymous_ - from + to;
  return true;
}

}  // namespace allot::gateway::http
