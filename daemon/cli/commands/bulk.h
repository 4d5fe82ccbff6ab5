// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/remote/operations.h"

namespace allot::cli {

struct BulkOptions {
  std::string ndjson;  // a file or "-"; empty: no bulk submission
  std::uint32_t batch = 1000;
  std::uint64_t from_line = 1;
  bool ids = false;
  bool json = false;  // reports the submitted lines and how to continue, also after a failure
};

// allot submit --ndjson FILE submits one task per line; each batch is all or nothing.
int submit_lines(const Operations& allot, const BulkOptions& options);

}  // namespace allot::cli
