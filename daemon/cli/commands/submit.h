// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/sources/context.h"
#include "queue/submit/submit.h"

namespace allot::cli {

struct SubmitWords {
  std::string queue;
  std::string type;
  std::optional<std::string> payload;  // "-" = standard input
  std::optional<std::string> file;     // payload from a file
  queue::SubmitOptions options;
  bool json = false;
};

struct BulkOptions {
  std::string ndjson;  // a file or "-"; empty: no bulk submission
  std::uint64_t batch = 1000;
  std::uint64_t from_line = 1;
  bool ids = false;
  bool json = false;  // says what is in and how to go on, also after a failure
};

// allot submit QUEUE TYPE [PAYLOAD] submits one task and prints its id.
int submit(const Context& context, const SubmitWords& words);

// allot submit --ndjson FILE submits one task for each line, all or nothing for each batch
// (bulk.cc).
int submit_lines(const Context& context, const BulkOptions& options);

// Rings the doorbell of the daemon on this host. Without one, the polling floor finds the tasks.
// `tasks` has how many may start now, by the id of their queue.
void ring_local(const config::Settings& settings,
                const std::map<std::uint32_t, std::size_t>& tasks);

}  // namespace allot::cli
