// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "config/settings.h"
#include "process/session.h"
#include "queue/findings/finding.h"
#include "steward/chore.h"

namespace allot::steward {

// Runs the checks of the database once a minute, one per step, and stores the findings (S90): on
// one host for all, within one of its terms. Two hosts at once store the same.
class Findings {
 public:
  Findings(process::Session& session, const config::Settings& settings)
      : session_(session), settings_(settings) {}

  [[nodiscard]] Chore chore();

 private:
  // Runs the next check; after the last one, stores all findings.
  Again check_one();

  process::Session& session_;
  const config::Settings& settings_;
  std::size_t next_check_ = 0;
  queue::Findings found_;
};

}  // namespace allot::steward
