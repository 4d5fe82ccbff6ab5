// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "db/connection.h"
#include "queue/catalog.h"

// Another number of partitions for an ordered or limited queue (S17, decision 0023). Its tasks stay
// where they are; new ones go to partitions of their own, which nobody leases until those of the
// former layout are empty.
namespace allot::queue {

enum class Resized {
  kDone,
  kWaits  // there are tasks of the former layout: workers end it when the last one has run
};

// All or nothing; again when its reply was lost, or it was killed, does no harm. Throws
// Error(kExitFailure) while another resize of the queue goes on, or a transaction of somebody who
// submitted to it stays open.
Resized resize_layout(db::Connection& db, const QueueInfo& queue, std::uint32_t partitions);

// Ends the resizes of these queues whose former layout is empty. Returns how many; a look costs a
// row for each queue that is not being resized.
std::size_t lift_layouts(db::Connection& db, std::span<const std::uint32_t> queue_ids);

// When the last waiting task of a queue is due, if that is more than a minute ahead.
std::optional<std::string> due_late(db::Connection& db, const QueueInfo& queue);

}  // namespace allot::queue
