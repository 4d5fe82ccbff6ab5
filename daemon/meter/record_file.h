// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "meter/record.h"
#include "meter/request_record.h"

// Files of the records, for workers, the gateway and readers: `meters/N` in the runtime folder, one
// for each slot N that ever had a worker, and `meters/gateway`. The supervisor does not know them:
// the content of a file says whether it belongs to this run of allotd.
namespace allot::meter {

// Run of the instance with the slot file `slots`. nullopt: not a slot file.
[[nodiscard]] std::optional<SupervisorRun> run_of(int slots);
// Run of the instance with this runtime folder; the last run if allotd is down.
[[nodiscard]] std::optional<SupervisorRun> run_in(const std::string& runtime_dir);

// Maps the record of a slot for the process that has it. Creates it, or resets it if it belongs to
// another run. It stays mapped until the process ends. nullptr: errno has the reason.
[[nodiscard]] Record* open_record(const std::string& runtime_dir, std::uint32_t slot,
                                  const SupervisorRun& run);
// The same for the gateway that allotd started, which is one process at a time.
[[nodiscard]] RequestRecord* open_requests(const std::string& runtime_dir,
                                           const SupervisorRun& run);
// The same for a standalone gateway, over an anonymous file that it passes to its next image.
[[nodiscard]] RequestRecord* open_requests(int file);

// Copies of all records of the present run, or of the last one if allotd is down. Empty: there are
// none yet. Unreadable records are skipped.
[[nodiscard]] std::vector<std::unique_ptr<Record>> read_records(const std::string& runtime_dir);

}  // namespace allot::meter
