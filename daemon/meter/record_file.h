// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "meter/record.h"
#include "meter/request_record.h"

// The files of the records: `meters/N` in the runtime folder, one for each slot N that ever had a
// worker, and `meters/gateway`. The supervisor knows nothing of them: whether a file is of this
// life of allotd, its content says.
namespace allot::meter {

// The life of the instance whose slots are behind this descriptor. nullopt: these are no slots.
[[nodiscard]] std::optional<Life> life_of(int slots);
// That of the instance with this runtime folder; the last one, where allotd does not run.
[[nodiscard]] std::optional<Life> life_in(const std::string& runtime_dir);

// Maps the record of a slot for the process that has it, and makes it, or begins it anew, where it
// is not of this life. It stays until the process ends. nullptr: errno says why it cannot be had.
[[nodiscard]] Record* open_record(const std::string& runtime_dir, std::uint32_t slot,
                                  const Life& life);
// The same of the gateway that allotd started, which is one process at a time.
[[nodiscard]] RequestRecord* open_requests(const std::string& runtime_dir, const Life& life);
// The same of a gateway by itself, over an anonymous file that it hands on to its next image.
[[nodiscard]] RequestRecord* open_requests(int file);

// Copies of all records of the present life, or of the last one where allotd does not run. Empty:
// there are none yet. What cannot be read is passed over.
[[nodiscard]] std::vector<std::unique_ptr<Record>> read_records(const std::string& runtime_dir);

}  // namespace allot::meter
