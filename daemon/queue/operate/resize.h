// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "db/connection.h"
#include "queue/model/catalog.h"

// Gives a queue another number of partitions (S17, decision 0008), or a limited queue another limit
// of tasks per key (S69, decision 0008).
namespace allot::queue {

// From now on new tasks go to this number of partitions (S17). New partitions get their lease rows
// first; retired ones keep theirs and are drained. Programs that have already read the queue
// continue with the former number. Not for ordered and limited queues.
void resize(db::Connection& db, const QueueInfo& queue, std::uint32_t partitions);

enum class Resized {
  kDone,
  kWaits  // workers end it when the last task of the former layout has run
};

// The same for an ordered or limited queue. Its tasks stay where they are; new ones go to new
// partitions, which no worker leases until the former layout is empty. Atomic; safe to
// repeat after a lost reply or a kill. Throws Error(kExitFailure) while another resize of the queue
// is under way, or while a transaction that submitted to it stays open.
Resized resize_layout(db::Connection& db, const QueueInfo& queue, std::uint32_t partitions);

// From now on this number of tasks of a key may run at a time in a limited queue. While tasks
// submitted before are left, the limit is the larger of the two numbers. Atomic and safe to repeat.
// Throws Error(kExitBadInput) if the queue is not limited or has fewer partitions, and
// Error(kExitFailure) like resize_layout().
void set_max_running(db::Connection& db, const QueueInfo& queue, std::uint32_t max_running);

// Ends the resizes of those queues whose former layout is empty, and returns their number. Costs
// one row for each queue that is not being resized.
std::size_t lift_layouts(db::Connection& db, std::span<const std::uint32_t> queue_ids);

// When the last waiting task of a queue is due, if that is more than a minute ahead.
std::optional<std::string> due_late(db::Connection& db, const QueueInfo& queue);

}  // namespace allot::queue
