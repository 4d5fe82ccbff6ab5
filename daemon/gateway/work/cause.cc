// SPDX-License-Identifier: Apache-2.0
#include "gateway/work/cause.h"

#include <cstdio>
#include <random>

#include "log/log.h"

namespace allot::gateway::work {

std::string note_cause(const std::exception& error) {
  char reference[9];
  std::snprintf(reference, sizeof reference, "%08x", std::random_device()());
  log::warn("gateway.refused", {{"reference", reference}, {"error", error.what()}});
  return std::string("(gateway.refused, reference ") + reference + ", in the gateway's log)";
}

}  // namespace allot::gateway::work
