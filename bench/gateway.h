// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/child.h"
#include "bench/http_load.h"
#include "bench/stage.h"

namespace allot::bench {

// A gateway, and where it is.
struct Gateway {
  Door door;
  std::unique_ptr<Child> process;
};

// Starts one at a free port, to which its token may submit.
[[nodiscard]] Gateway start_gateway(const Stage& stage, bool encrypted);

}  // namespace allot::bench
