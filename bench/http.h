// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/stage.h"

namespace allot::bench {

struct HttpOptions {
  Place place;
  std::uint32_t rounds = 5;
  std::uint32_t milliseconds = 2'000;  // of each side and round
  std::uint32_t lines = 50'000;        // of NDJSON
  std::uint32_t idle = 5'000;          // connections of the crowd
  std::uint32_t dripping = 500;
  bool check = false;
  bool json = false;
};

// Submits through a real gateway, and beside it the way that is its measure: the client library,
// the same without TLS, kept connections, the command line. Then the same with a crowd of
// connections that ask nothing or nearly nothing. Prints each ratio beside its floor, the medians
// of the rounds. Returns an exit code: with `check` a failure when a floor is not reached.
int http(const HttpOptions& options);

}  // namespace allot::bench
