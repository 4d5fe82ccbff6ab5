// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "ipc/slot.h"
#include "process/slot_writer.h"
#include "queue/model/task.h"

// Writes runs into a slot like a worker, for tests of its readers. Each run belongs to the lease in
// the slot.
namespace allot::worker {

inline void name_run(process::SlotWriter& slot, const queue::Task& task, std::uint32_t attempt,
                     std::uint32_t most, std::size_t entry) {
  const ipc::Slot& raw = slot.raw();
  slot.name_run(entry, {raw.queue_id, raw.partition_no}, raw.queue_name, task, attempt, most);
}
inline void announce_run(process::SlotWriter& slot, const queue::Task& task, std::uint32_t attempt,
                         std::size_t entry = 0) {
  name_run(slot, task, attempt, 10, entry);
  slot.mark(entry, process::RunEvent::kAnnounce);
}
inline void begin_run(process::SlotWriter& slot, const queue::Task& task, std::uint32_t attempt,
                      std::uint32_t most, Nanos soft_ns, Nanos hard_ns,
                      ipc::Limit limited_by = ipc::Limit::kTime, std::size_t entry = 0) {
  name_run(slot, task, attempt, most, entry);
  slot.set_deadlines(entry, soft_ns, hard_ns, limited_by);
  slot.mark(entry, process::RunEvent::kBegin);
}
// Its handler returns, followed by this event.
inline void return_run(process::SlotWriter& slot, process::RunEvent then, std::size_t entry = 0) {
  slot.mark(entry, process::RunEvent::kReturn);
  slot.mark(entry, then);
}
inline void end_run(process::SlotWriter& slot, std::size_t entry = 0) {
  return_run(slot, process::RunEvent::kEnd, entry);
}

}  // namespace allot::worker
