// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/child.h"
#include "bench/http_load.h"
#include "bench/stage.h"

namespace allot::bench {

// A gateway and its address.
struct Gateway {
  Endpoint endpoint;
  std::unique_ptr<Child> process;
};

// Starts a gateway on a free port, with a token that may submit.
[[nodiscard]] Gateway start_gateway(const Stage& stage, bool encrypted);

}  // namespace allot::bench
