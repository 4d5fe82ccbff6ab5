// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "db/connection.h"
#include "queue/model/catalog.h"

// Gives a queue another number of partitions (S17, decision 0008), or a limited one another number
// of tasks of a key at a time (S69, decision 0008).
namespace allot::queue {

// From now on new tasks go to this many partitions (S17). New partitions get their lease rows
// first; retired ones keep theirs, and are drained. Programs that know the queue already go on with
// the number that they know. Not for ordered and limited queues.
void resize(db::Connection& db, const QueueInfo& queue, std::uint32_t partitions);

enum class Resized {
  kDone,
  kWaits  // workers end it when the last task of the former layout has run
};

// The same for an ordered or limited queue. Its tasks stay where they are; new ones go to
// partitions of their own, which no worker leases until those of the former layout are empty. Does
// all or nothing; repeating it after a lost reply or a kill does no harm. Throws
// Error(kExitFailure) while another resize of the queue goes on, or while a transaction that
// submitted to it stays open.
Resized resize_layout(db::Connection& db, const QueueInfo& queue, std::uint32_t partitions);

// From now on so many tasks of a key run at a time in a limited queue. As long as tasks are left
// that were submitted before, at most the larger of the two numbers runs. Does all or nothing;
// repeating it does no harm. Throws Error(kExitBadInput) where the queue is not limited or has
// fewer partitions, and Error(kExitFailure) as resize_layout().
void set_max_running(db::Connection& db, const QueueInfo& queue, std::uint32_t max_running);

// Ends the resizes of those queues whose former layout is empty, and returns how many. A look costs
// one row for each queue that is not being resized.
std::size_t lift_layouts(db::Connection& db, std::span<const std::uint32_t> queue_ids);

// When the last waiting task of a queue is due, if that is more than a minute away.
std::optional<std::string> due_late(db::Connection& db, const QueueInfo& queue);

}  // namespace allot::queue
