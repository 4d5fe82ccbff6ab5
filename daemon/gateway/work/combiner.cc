// SPDX-License-Identifier: Apache-2.0
#include "gateway/work/combiner.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/mutant.h"

namespace allot::gateway::work {
namespace {

constexpr std::size_t kMostTogether = 1'000;              // limit of orders in a transaction
constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // limit of their payloads
constexpr std::size_t kMostWaiting = 10'000;              // limit of orders in both lanes
constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20;

std::size_t bytes_of(const Order& order) {
  return std::accumulate(
      order.tasks.begin(), order.tasks.end(), std::size_t{0},
      [](std::size_t sum, const queue::Submission& task) { return sum + task.payload.size(); });
}

bool is_plain(const Order& order) {
  if (order.tasks.size() != 1) return false;
  const queue::SubmitOptions& options = order.tasks.front().options;
  return !options.unique_key && !options.partition_key;
}

// Whether the order may be at fault: otherwise an immediate retry would fail as well.
bool is_refusal(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const db::DbError& failed) {
    const db::ErrorClass its_class = failed.error_class();
    return its_class != db::ErrorClass::kRetryable && its_class != db::ErrorClass::kFull;
  } catch (...) {
    return true;
  }
}

// Reports that the task was not submitted, because the server was unreachable before it was sent.
// The database error alone is ambiguous: for another request it may be the lost reply to a change.
std::exception_ptr for_client(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const db::DbError& failed) {
    if (failed.error_class() != db::ErrorClass::kGone) return error;
    if (mutant::removed("gateway_not_sent")) return error;
    return std::make_exception_ptr(
        Error("nothing was submitted; try again " + note_cause(failed), kExitUnavailable));
  } catch (...) {
    return error;
  }
}

void refuse(const Order& order, const std::exception_ptr& error) {
  order.done({{}, for_client(error), {}});
}

template <typename Orders>
void refuse_each(const Orders& orders, const std::exception_ptr& error) {
  for (const Order& order : orders) refuse(order, error);
}

// Moves the tasks out of all orders, to avoid copying payloads. The orders keep their number.
std::vector<queue::Submission> tasks_of(std::vector<Order>& orders) {
  std::vector<queue::Submission> tasks;
  for (Order& order : orders)
    std::move(order.tasks.begin(), order.tasks.end(), std::back_inserter(tasks));
  return tasks;
}

// Gives each order its part of the outcome.
void report(std::span<const Order> orders, const Outcome& all) {
  const auto slice = [](const auto& list, std::size_t from, std::size_t size) {
    using List = std::decay_t<decltype(list)>;
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(from);
    return list.empty() ? List{} : List(begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  std::size_t at = 0;
  for (const Order& order : orders) {
    const std::size_t size = order.tasks.size();
    order.done({slice(all.made, at, size), nullptr, slice(all.numbers, at, size)});
    at += size;
  }
}

}  // namespace

Combiner::Combiner(ThreadPool& pool, queue::Submitter::Environment environment, Number number)
    : pool_(pool),
      environment_(std::move(environment)),
      number_(std::move(number)),
      most_alone_(std::max<std::size_t>(1, pool.threads() / 2)) {}

bool Combiner::submit(Order order) {
  const Which which = is_plain(order) ? kShared : kAlone;
  const std::size_t bytes = bytes_of(order);
  {
    const MutexLock held(mutex_);
    Lane& lane = lanes_[which];
    if (lanes_[kShared].waiting.size() + lanes_[kAlone].waiting.size() >= kMostWaiting ||
        (waiting_bytes_ > 0 && waiting_bytes_ + bytes > kMostWaitingBytes)) {
      return false;
    }
    const bool begins = lane.running < (which == kShared ? 1 : most_alone_);
    // With a full pool, the order may still wait for a running job.
    if (begins && post(which)) {
      ++lane.running;
    } else if (lane.running == 0) {
      return false;
    }
    waiting_bytes_ += bytes;
    lane.waiting.push_back(std::move(order));
  }
  return true;
}

bool Combiner::post(Which which) {
  return pool_.post({[this, which](db::Connection& db) { work_off(which, db); },
                     [this, which](const std::exception_ptr& error, bool begun) {
                       if (begun) return hand_on(which);
                       give_up(which, error);
                     }});
}

void Combiner::work_off(Which which, db::Connection& db) {
  queue::Submitter submitter = take_submitter();
  for (Orders orders = next(which); !orders.empty(); orders = next(which)) {
    submit(db, submitter, std::move(orders));
  }
  const MutexLock held(mutex_);
  submitters_.push_back(std::move(submitter));
}

queue::Submitter Combiner::take_submitter() {
  const MutexLock held(mutex_);
  if (submitters_.empty()) return queue::Submitter(environment_);
  queue::Submitter submitter = std::move(submitters_.back());
  submitters_.pop_back();
  return submitter;
}

Combiner::Orders Combiner::next(Which which) {
  Orders orders;
  const MutexLock held(mutex_);
  Lane& lane = lanes_[which];
  const std::size_t most = which == kShared ? kMostTogether : 1;
  std::size_t bytes = 0;
  while (!lane.waiting.empty() && orders.size() < most) {
    const std::size_t size = bytes_of(lane.waiting.front());
    if (!orders.empty() && bytes + size > kMostBytes) break;
    bytes += size;
    orders.push_back(std::move(lane.waiting.front()));
    lane.waiting.pop_front();
  }
  waiting_bytes_ -= bytes;
  if (orders.empty()) --lane.running;
  return orders;
}

void Combiner::hand_on(Which which) {
  {
    const MutexLock held(mutex_);
    if (lanes_[which].waiting.empty()) {
      --lanes_[which].running;
      return;
    }
    if (post(which)) return;
  }
  give_up(which, std::make_exception_ptr(Error("the database connection was lost, and no thread is "
                                               "free to reconnect; nothing was submitted",
                                               kExitUnavailable)));
}

void Combiner::give_up(Which which, const std::exception_ptr& error) {
  Orders orders;
  {
    const MutexLock held(mutex_);
    Lane& lane = lanes_[which];
    if (--lane.running > 0) return;
    orders.swap(lane.waiting);
    for (const Order& order : orders) waiting_bytes_ -= bytes_of(order);
  }
  refuse_each(orders, error);
}

void Combiner::submit(db::Connection& db, queue::Submitter& submitter, Orders orders) const {
  std::vector<Order> ready;
  std::exception_ptr lost;
  for (Order& order : orders) {
    try {
      submitter.prepare(db, order.tasks, order.permit);
      ready.push_back(std::move(order));
    } catch (...) {
      const std::exception_ptr error = std::current_exception();
      if (loses_connection(error) || db.in_transaction()) lost = error;
      refuse(order, error);
    }
  }
  if (!ready.empty()) return submit_orders(db, submitter, ready, tasks_of(ready));
  if (lost) std::rethrow_exception(lost);
}

void Combiner::submit_orders(db::Connection& db, const queue::Submitter& submitter,
                             std::span<const Order> orders,
                             std::span<const queue::Submission> tasks) const {
  Outcome all;
  try {
    const auto extra = number_ ? number_(all.numbers) : queue::ExtraStatements{};
    all.made = submitter.submit(db, tasks, extra);
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    const bool lost = loses_connection(error);
    if (!lost && orders.size() > 1 && is_refusal(error)) {
      return submit_singly(db, submitter, orders, tasks);
    }
    refuse_each(orders, error);
    if (lost) throw;
    return;
  }
  report(orders, all);
}

void Combiner::submit_singly(db::Connection& db, const queue::Submitter& submitter,
                             std::span<const Order> orders,
                             std::span<const queue::Submission> tasks) const {
  while (!orders.empty()) {
    const auto one = orders.first(1);
    const auto its_tasks = tasks.first(one.front().tasks.size());
    orders = orders.subspan(1);
    tasks = tasks.subspan(its_tasks.size());
    try {
      submit_orders(db, submitter, one, its_tasks);
    } catch (...) {
      refuse_each(
          orders,
          std::make_exception_ptr(Error(
              "the database connection was lost before this task was sent; nothing was submitted",
              kExitUnavailable)));
      throw;
    }
  }
}

}  // namespace allot::gateway::work
