// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "json/host_json.h"
#include "process/session.h"
#include "queue/model/lease.h"
#include "steward/chore.h"
#include "steward/leadership.h"

namespace allot::steward {

// Writes the state of this host's slots for the pages of all gateways: every 2 s while a viewer is
// active, else once a minute (decision 0030), and once its deployment. Leadership reports viewers.
class Snapshots {
 public:
  Snapshots(process::Session& session, Leadership& leadership, queue::Holder holder,
            std::string runtime_dir, as_json::HostFacts facts);

  [[nodiscard]] Chore chore();
  // Removes the rows of this steward, whose state ends. Tries once.
  void leave();

 private:
  void write();
  process::Session& session_;
  const Leadership& leadership_;
  const queue::Holder holder_;
  const std::string runtime_dir_;
  const as_json::HostFacts facts_;
  Nanos written_ns_ = 0;   // 0: never
  bool deployed_ = false;  // the deployment of this host is written
};

}  // namespace allot::steward
