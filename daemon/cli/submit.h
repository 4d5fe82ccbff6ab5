// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/context.h"
#include "queue/task.h"

namespace allot::cli {

struct SubmitOptions {
  std::string queue;
  std::string type;
  std::optional<std::string> payload;  // "-" = standard input
  std::string file;                    // payload from a file
  std::uint32_t prio = queue::kDefaultPrio;

  std::string ndjson;  // a file or "-"; instead of all of the above
  std::uint64_t batch = 1000;
  std::uint64_t from_line = 1;
  bool ids = false;
};

// allot submit: one task, or one for each line of an NDJSON file.
int submit(const Context& context, const SubmitOptions& options);

}  // namespace allot::cli
