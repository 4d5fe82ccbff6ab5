// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gateway/work/crew.h"
#include "queue/submit/address.h"
#include "queue/submit/owners.h"
#include "queue/submit/submit.h"
#include "thread/mutex.h"

namespace allot::gateway::work {

// A task as a client wants it. Its queue is found right before it is submitted, because a route may
// be set meanwhile; see queue::Addresses for how long what was found is remembered.
struct Wanted {
  std::string queue;  // its name; empty: a route says which
  queue::Submission task;
};

// Throws what is answered if the client may not submit to the queue of that name.
using Permit = std::function<void(const std::string& queue)>;

// Finds the queue of a task. Where there is none of its name, the permit for that name is asked
// first: so a client is told the same of a queue of others and of one that does not exist.
void find_queue_of(db::Connection& db, queue::Addresses& addresses, Wanted& wanted,
                   const Permit& permit);

// What became of an order: the tasks in its order, or the error why none was submitted. After
// queue::OutcomeUnknown they exist all or none.
struct Outcome {
  std::vector<queue::Submitted> made{};
  std::vector<queue::Owner> owners{};
  std::exception_ptr error{};
  std::vector<std::uint64_t> numbers{};  // of the tasks, where Surroundings::number gives them
};

// Tasks of one client, of which all are submitted or none.
struct Order {
  std::vector<Wanted> tasks;
  Permit permit;
  // Called once, in a thread of the crew, after the commit. It throws nothing.
  std::function<void(Outcome)> done;
};

// How the tasks of orders find their queues, and who is told of them.
struct Surroundings {
  // A queue by its name; throws Error(kExitBadInput) when there is none.
  queue::Addresses::Find find_queue;
  // Fills in what a submission leaves out and the configuration says of its queue.
  std::function<void(const std::string& queue, queue::SubmitOptions& options)> complete;
  std::string runtime_dir{};  // of an instance of this host; empty: nobody is rung
  // Gives the tasks of a transaction numbers, within it; empty: they need none.
  std::function<queue::Beside(std::vector<std::uint64_t>& numbers)> number{};
};

// Submits what clients order. Single tasks without a unique key and without a partition key, which
// go to spread queues, share transactions: what comes while one commits goes into the next. One
// that comes alone waits for nothing. All others are submitted one by one and side by side, with a
// part of the crew's threads: a transaction of somebody else may have a key locked, and then only
// such orders wait for it.
//
// When a shared transaction is refused, each order is tried alone, so that nobody pays for what
// somebody else sent. When its reply was lost, nothing is sent again.
class Combiner {
 public:
  // The crew outlives the combiner, and is ended before it: see Application.
  Combiner(Crew& crew, Surroundings surroundings);
  Combiner(const Combiner&) = delete;
  Combiner& operator=(const Combiner&) = delete;
  ~Combiner() = default;

  // False: too much waits already, and nothing was taken. Any thread.
  [[nodiscard]] bool submit(Order order) ALLOT_EXCLUDES(mutex_);

 private:
  using Orders = std::deque<Order>;
  using State = Crew::Connection;
  enum Which : std::size_t { kShared, kAlone };
  struct Lane {
    Orders waiting{};
    std::size_t running = 0;  // jobs of the crew that work it off
  };

  [[nodiscard]] bool post(Which which);
  State work_off(Which which, db::Connection* db, const std::exception_ptr& unavailable)
      ALLOT_EXCLUDES(mutex_);
  // Those of a job before: one that comes alone pays for no look at its queue, either.
  queue::Addresses take_addresses() ALLOT_EXCLUDES(mutex_);
  // What is submitted together; empty: nothing waits, and the job ends.
  Orders next(Which which) ALLOT_EXCLUDES(mutex_);
  // Ends this job, and begins another one with another connection for what waits.
  void hand_on(Which which) ALLOT_EXCLUDES(mutex_);
  // Ends this job, and all that waits if no other one works it off.
  void give_up(Which which, const std::exception_ptr& error) ALLOT_EXCLUDES(mutex_);

  State submit(db::Connection& db, queue::Addresses& addresses, Orders orders) const;
  State submit_together(db::Connection& db, Orders& orders) const;
  State submit_singly(db::Connection& db, Orders& orders) const;
  State submit_one(db::Connection& db, Order& order) const;
  // Finds the queues of its tasks and checks them; throws what is wrong.
  void make_ready(db::Connection& db, queue::Addresses& addresses, Order& order) const;
  // Submits all or none, and numbers them.
  [[nodiscard]] Outcome made_of(db::Connection& db,
                                const std::vector<queue::Submission>& tasks) const;
  void ring(const std::vector<queue::Submitted>& made) const;

  Crew& crew_;
  const Surroundings surroundings_;
  const std::size_t most_alone_;
  Mutex mutex_;
  std::array<Lane, 2> lanes_ ALLOT_GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ ALLOT_GUARDED_BY(mutex_) = 0;
  std::vector<queue::Addresses> addresses_ ALLOT_GUARDED_BY(mutex_){};  // that no job uses now
};

}  // namespace allot::gateway::work
