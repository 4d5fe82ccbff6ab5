// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/verbs/lease_store.h"

namespace allot::bench {

// The floor of a start: a thread that sleeps, and with its own connection finds, leases and fetches
// one task of a queue that no daemon serves. It has no hints, no slot and no handler.
class BareStarter {
 public:
  // `starts_file`: socket for the times of its starts, as from the handler `bench.start`.
  BareStarter(const db::ConnectOptions& connect, const queue::QueueInfo& queue,
              std::string starts_file);
  BareStarter(const BareStarter&) = delete;
  BareStarter& operator=(const BareStarter&) = delete;
  ~BareStarter();

  // Wakes the thread, which starts the task that was just submitted.
  void wake() const { signal(kStart); }

 private:
  enum Signal : std::uint64_t { kStart = 1, kEnd = 1ULL << 32 };

  void signal(Signal what) const;
  void run();
  void start_one();

  db::Connection db_;
  queue::LeaseStore store_;
  std::uint32_t queue_id_;
  std::string starts_file_;
  UniqueFd event_;
  UniqueFd socket_;
  std::thread thread_{};
};

}  // namespace allot::bench
