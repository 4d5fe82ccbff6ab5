// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steward/chore.h"
#include "steward/leadership.h"
#include "worker/process/session.h"

namespace allot::steward {

// Ends the resize of an ordered or limited queue once the last task of its former layout has run
// (S17): about once a second, on the host that leads this duty of the queue. The layout is named in
// the statement, so that a second host finds nothing to do (S46).
class Layouts : public Chore {
 public:
  // `queue_ids`: the ordered and limited queues that this host serves.
  Layouts(worker::Session& session, Leadership& leadership, std::vector<std::uint32_t> queue_ids);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override;

 private:
  worker::Session& session_;
  Leadership& leadership_;
  std::vector<std::uint32_t> queue_ids_;
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward
