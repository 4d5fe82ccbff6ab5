// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "ipc/board.h"
#include "peer/poll_page.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "queue/model/expired_holder_watch.h"
#include "queue/verbs/detached_store.h"
#include "queue/verbs/lease_store.h"

namespace allot::steward {

// Polls for all workers of this host, which saves each of them a statement (S77): stalled leases
// and detached tasks (S4), and whether the server is still the writer (S2). It publishes the result
// on a page for them. It has its own thread and connection, so that chores do not delay it.
class HostPoll {
 public:
  struct Queues {
    std::vector<std::uint32_t> ids;  // served by this host
    bool made = false;               // also queues made by programs, whose list changes
  };
  HostPoll(db::ConnectOptions options, process::SlotWriter& slot, ipc::Board& board,
           std::chrono::milliseconds ttl, std::chrono::milliseconds patience, Queues queues,
           const std::string& page);
  HostPoll(const HostPoll&) = delete;
  HostPoll& operator=(const HostPoll&) = delete;
  ~HostPoll() = default;

 private:
  using Leases = queue::ExpiredHolderWatch<queue::Partition, queue::Observation>;
  using Detached = queue::ExpiredHolderWatch<queue::TaskId, queue::DetachedObservation>;

  void run(std::stop_token stop);
  // Polls once. Returns the time of the next poll.
  Nanos poll();
  template <typename Verb>
  auto ask(Verb&& verb);
  [[nodiscard]] std::vector<std::uint32_t> queue_ids();
  void publish(Nanos sent);
  void ring(const peer::Poll& poll);

  process::Session session_;
  ipc::Board& board_;
  const Nanos ttl_ns_;
  const Queues queues_;
  Leases leases_;
  Detached detached_;
  peer::PollWriter page_;
  peer::Poll published_{};  // the last published poll
  std::stop_token stop_;
  std::jthread thread_;  // last: it uses all members above
};

}  // namespace allot::steward
