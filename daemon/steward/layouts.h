// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "steward/chore.h"
#include "worker/process/session.h"

namespace allot::steward {

// Ends the resize of an ordered or limited queue once the last task of its former layout has run
// (S17): about once a second, where this host serves such a queue at all. Every steward looks;
// whoever is second finds nothing to do.
class Layouts : public Chore {
 public:
  // `queue_ids`: of the ordered and limited queues that this host serves.
  Layouts(worker::Session& session, std::vector<std::uint32_t> queue_ids)
      : session_(session), queue_ids_(std::move(queue_ids)) {}

  void look() override;
  [[nodiscard]] Nanos next_ns() const override;

 private:
  worker::Session& session_;
  std::vector<std::uint32_t> queue_ids_;
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward
