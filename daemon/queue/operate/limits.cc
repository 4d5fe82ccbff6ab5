// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/limits.h"

#include <charconv>
#include <string>

#include "queue/model/audit.h"
#include "queue/model/error_text.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

[[noreturn]] void refuse(std::string_view field, std::string_view value, const std::string& need) {
  throw Error(std::string(field) + " is '" + std::string(value.substr(0, 40)) + "': " + need,
              kExitBadInput);
}

std::string bucket_rows(const QueueInfo& queue, const Rate& rate) {
  return db::joined(buckets_of(rate), [&, bucket_no = 0U](const Bucket& bucket) mutable {
    return "(" + std::to_string(queue.queue_id) + "," + std::to_string(bucket_no++) + "," +
           std::to_string(bucket.interval_us) + "," + std::to_string(bucket.max_lag_us) + "," +
           std::to_string(bucket.max_grant) +
           ",TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)))";
  });
}

}  // namespace

void pause(db::Connection& db, const QueueInfo& queue, std::string_view reason) {
  db::Statement statement(sql::k_pause);
  statement.set("queue_id", queue.queue_id)
      .set("reason", reason == kRatedOnly ? std::string() : error_text(reason));
  act(db, {"pause", "queue", queue.name, found_plain(queue.name)}, {&statement, 1});
}

bool resume(db::Connection& db, const QueueInfo& queue) {
  db::Statement statement(sql::k_resume);
  statement.set("queue_id", queue.queue_id).set("rated_only", kRatedOnly);
  db::Statement paused(sql::k_audit_paused);
  paused.set("of_queue", queue.name).set("queue_id", queue.queue_id);
  const auto results = act(db, {"resume", "queue", queue.name, paused}, {&statement, 1});
  return results.at(0).affected() + results.at(1).affected() > 0;
}

Rate read_rate(std::string_view per_second, std::string_view burst) {
  Rate rate;
  const auto number = parse_per_second(per_second);
  if (!number || *number < kMinRate || *number > kMaxRate) {
    refuse("--per-second", per_second,
           "a number from " + per_second_text(kMinRate) + " to " + per_second_text(kMaxRate) +
               " is expected, with at most six decimals, such as 0.5; --off removes the rate");
  }
  rate.per_million_seconds = *number;
  const char* const end = burst.data() + burst.size();
  const auto read = std::from_chars(burst.data(), end, rate.burst);
  if (read.ec != std::errc() || read.ptr != end || rate.burst < 1 || rate.burst > kMaxBurst) {
    refuse("--burst", burst,
           "a whole number from 1 to " + std::to_string(kMaxBurst) + " is expected");
  }
  return rate;
}

db::Statement set_rate_statement(const QueueInfo& queue, const Rate& rate) {
  db::Statement set(sql::k_set_rate);
  return set.set("queue_id", queue.queue_id)
      .set("rated_only", kRatedOnly)
      .set_raw("per_second", per_second_text(rate.per_million_seconds))
      .set("burst", rate.burst)
      .set_raw("buckets", bucket_rows(queue, rate));
}

db::Statement remove_rate_statement(const QueueInfo& queue) {
  db::Statement remove(sql::k_remove_rate);
  return remove.set("queue_id", queue.queue_id);
}

bool set_rate(db::Connection& db, const QueueInfo& queue, const Rate& rate) {
  if (find_listed(db, queue.queue_id).rate == rate) return false;
  const db::Statement set = set_rate_statement(queue, rate);
  act(db, {"set_rate", "queue", queue.name, found_plain(queue.name), text_of(rate)}, {&set, 1});
  return true;
}

bool remove_rate(db::Connection& db, const QueueInfo& queue) {
  const db::Statement remove = remove_rate_statement(queue);
  db::Statement rated(sql::k_audit_rated);
  rated.set("of_queue", queue.name).set("queue_id", queue.queue_id);
  return act(db, {"remove_rate", "queue", queue.name, rated}, {&remove, 1}).at(1).affected() > 0;
}

void set_cap(db::Connection& db, const QueueInfo& queue, std::uint32_t cap) {
  if (queue.shape.placement != Placement::kSpread) {
    throw Error("queue " + queue.name + " is " + std::string(name_of(queue.shape.placement)) +
                    ": only a spread queue can have a cap",
                kExitBadInput);
  }
  const db::Statement set = set_cap_statement(queue, cap);
  const bool any = cap == 0;
  act(db,
      {any ? "remove_cap" : "set_cap", "queue", queue.name, found_plain(queue.name),
       any ? "" : std::to_string(cap)},
      {&set, 1});
}

db::Statement set_cap_statement(const QueueInfo& queue, std::uint32_t cap) {
  db::Statement set(sql::k_set_cap);
  return set.set("queue_id", queue.queue_id).set("cap", cap);
}

}  // namespace allot::queue
