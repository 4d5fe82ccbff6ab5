// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/context.h"
#include "queue/submit.h"

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
  std::string ndjson;  // a file or "-"; empty: not bulk
  std::uint64_t batch = 1000;
  std::uint64_t from_line = 1;
  bool ids = false;
  bool json = false;  // what is in and how to go on, also when it fails
};

// allot submit QUEUE TYPE [PAYLOAD]: one task; its id on standard output.
int submit(const Context& context, const SubmitWords& words);

// allot submit --ndjson FILE: one task for each line, all or nothing for each batch (bulk.cc).
int submit_lines(const Context& context, const BulkOptions& options);

// Rings the doorbell of the daemon on this host. Nobody there: the polling floor finds the tasks.
void ring_local(const config::Settings& settings, std::size_t tasks);

}  // namespace allot::cli
