// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "gateway/work/thread_pool.h"
#include "queue/submit/submitter.h"
#include "thread/mutex.h"

namespace allot::gateway::work {

// Result of an order: its tasks in order, or the error. After an error nothing was submitted,
// except after queue::OutcomeUnknown: then either all tasks exist or none.
struct Outcome {
  std::vector<queue::Submitted> made{};
  std::exception_ptr error{};
  std::vector<std::uint64_t> numbers{};  // of the tasks, if the combiner numbers them
};

// Tasks of one client, submitted all or none.
struct Order {
  std::vector<queue::Submission> tasks;
  queue::Permit permit;
  // Called once, in a thread of the pool, after the commit. Must not throw.
  std::function<void(Outcome)> done;
};

// Numbers the tasks of a submission within their transaction.
using Number = std::function<queue::ExtraStatements(std::vector<std::uint64_t>& numbers)>;

// Submits the orders of clients. Single tasks without a unique key and without a partition key, for
// spread queues, share transactions: orders that arrive during a commit go into the next one. A
// single order does not wait. All other orders have their own transactions, in parallel, on some of
// the pool's threads: another transaction may have locked a key, and then only such orders wait for
// it.
//
// If a shared transaction is refused, each order is retried on its own, so that one bad order does
// not affect the others. If its reply is lost, nothing is resent.
class Combiner {
 public:
  // The pool must outlive the combiner, and its threads must end first: see Application.
  Combiner(ThreadPool& pool, queue::Submitter::Environment environment, Number number = {});
  Combiner(const Combiner&) = delete;
  Combiner& operator=(const Combiner&) = delete;
  ~Combiner() = default;

  // False: the queue is full, and the order was not taken. Any thread.
  [[nodiscard]] bool submit(Order order) ALLOT_EXCLUDES(mutex_);

 private:
  using Orders = std::deque<Order>;
  enum Which : std::size_t { kShared, kAlone };
  struct Lane {
    Orders waiting{};
    std::size_t running = 0;  // jobs of the pool that serve this lane
  };

  [[nodiscard]] bool post(Which which);
  // This function and those that submit throw the error that made the connection unusable, after
  // they have refused the orders that it concerns.
  void work_off(Which which, db::Connection& db) ALLOT_EXCLUDES(mutex_);
  // Reuses the cache of an earlier job, so that a single order needs no queue lookup either.
  queue::Submitter take_submitter() ALLOT_EXCLUDES(mutex_);
  // The orders of the next transaction; empty: none waits, and the job ends.
  Orders next(Which which) ALLOT_EXCLUDES(mutex_);
  // Ends this job, and starts another one with another connection for the waiting orders.
  void hand_on(Which which) ALLOT_EXCLUDES(mutex_);
  // Ends this job, and refuses the waiting orders unless another job serves them.
  void give_up(Which which, const std::exception_ptr& error) ALLOT_EXCLUDES(mutex_);

  void submit(db::Connection& db, queue::Submitter& submitter, Orders orders) const;
  // In one transaction; if it is refused, one order after the other.
  void submit_orders(db::Connection& db, const queue::Submitter& submitter,
                     std::span<const Order> orders, std::span<const queue::Submission> tasks) const;
  void submit_singly(db::Connection& db, const queue::Submitter& submitter,
                     std::span<const Order> orders, std::span<const queue::Submission> tasks) const;

  ThreadPool& pool_;
  const queue::Submitter::Environment environment_;
  const Number number_;
  const std::size_t most_alone_;
  Mutex mutex_;
  std::array<Lane, 2> lanes_ ALLOT_GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ ALLOT_GUARDED_BY(mutex_) = 0;
  std::vector<queue::Submitter> submitters_ ALLOT_GUARDED_BY(mutex_){};  // not in use by a job
};

}  // namespace allot::gateway::work
