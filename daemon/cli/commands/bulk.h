// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/remote/session.h"
#include "cli/sources/context.h"

namespace allot::cli {

struct BulkOptions {
  std::string ndjson;  // a file or "-"; empty: no bulk submission
  std::uint64_t batch = 1000;
  std::uint64_t from_line = 1;
  bool ids = false;
  bool json = false;  // says what is in and how to go on, also after a failure
};

// allot submit --ndjson FILE submits one task for each line, all or nothing for each batch.
int submit_lines(const Context& context, const BulkOptions& options);
// The same over a gateway.
int remote_submit_lines(const remote::Session& gateway, const BulkOptions& options);

}  // namespace allot::cli
