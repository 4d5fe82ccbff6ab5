// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/stage.h"

namespace allot::bench {

struct HttpOptions {
  Place place;
  std::uint32_t rounds = 5;
  std::uint32_t milliseconds = 2'000;  // for each side and round
  std::uint32_t lines = 50'000;        // of NDJSON
  std::uint32_t idle = 5'000;          // open connections of the crowd
  std::uint32_t dripping = 500;
  bool check = false;
  bool json = false;
};

// Submits through a real gateway, and for comparison in another way: the client library, the same
// without TLS, kept connections, the command line. Then the same with a crowd of connections that
// are idle or nearly idle. Prints each ratio with its floor, medians of the rounds. Returns an exit
// code: with `check` a failure if a floor is not reached.
int http(const HttpOptions& options);

}  // namespace allot::bench
