// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "ipc/board.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// The queues that a worker serves: the fixed list of its pool, or the answer of a callback each
// time that it asks. Only the worker's main thread uses it.
class ServedQueues {
 public:
  using Queues = std::vector<std::shared_ptr<const ServedQueue>>;
  using Read = std::function<Queues()>;

  explicit ServedQueues(const std::vector<ServedQueue>& queues);
  // Calls `read` at once, and then in refresh().
  explicit ServedQueues(Read read);

  // The board shows from now on which queues the pool serves.
  void show_on(ipc::PoolBoard& pool);
  // Asks again if the answer may change and is older than `age`.
  void refresh(Nanos age);

  // A lease has shown that the queue has this cap now.
  void set_cap(std::uint32_t queue_id, std::uint32_t cap);

  // The queue as it is now; a block in hand keeps its old version. nullptr: not served.
  [[nodiscard]] std::shared_ptr<const ServedQueue> find(std::uint32_t queue_id) const;
  // The same for a queue that another worker may have found, and that this one may not know yet.
  [[nodiscard]] std::shared_ptr<const ServedQueue> find_now(std::uint32_t queue_id);
  [[nodiscard]] const std::vector<std::uint32_t>& ids() const { return ids_; }

 private:
  void take(Queues queues);

  Read read_;
  ipc::PoolBoard* pool_ = nullptr;
  Nanos read_ns_ = 0;
  Queues queues_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace allot::worker
