// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/objects.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "config/number.h"
#include "gateway/fireworq/json_text.h"
#include "json/queue_json.h"
#include "queue/fireworq/jobs.h"

namespace allot::gateway::fireworq {
namespace {

std::string double_text(double number) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

// Adds the fields common to all jobs, dead or not. A payload that is not JSON, or is empty, becomes
// a string.
void add_request(Object& object, const StoredJob& job) {
  object.text("category", job.fields.category).text("url", job.fields.url);
  if (is_json(job.payload)) {
    object.json("payload", job.payload);
  } else {
    object.text("payload", job.payload);
  }
}

std::string created_at(const queue::Job& job, const JobFields& fields) {
  return time_text(queue::pushed_ms(job.id.first_key, fields.run_after));
}

std::uint32_t fail_count_of(const queue::Job& job) {
  return job.headers.verdicts_of(job.attempts).value_or(job.attempts);
}

}  // namespace

std::string time_text(std::int64_t ms) {
  std::string text = as_json::moment_text(queue::Moment(std::chrono::milliseconds(ms)));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of("0Z") + 1);
  return text + "Z";
}

Object& Object::json(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ",";
  members_.append(json_string(name)).append(":").append(value);
  return *this;
}
Object& Object::text(std::string_view name, std::string_view value) {
  return json(name, json_string(value));
}
Object& Object::number(std::string_view name, std::uint64_t value) {
  return json(name, std::to_string(value));
}

std::string queue_object(const queue::FireworqQueue& queue) {
  Object object;
  object.text("name", queue.name);
  if (queue.polling_interval != 0) object.number("polling_interval", queue.polling_interval);
  object.number("max_workers", queue.max_workers);
  if (queue.burst != 0) {
    object.json("max_dispatches_per_second", double_text(queue.per_second));
    object.number("max_burst_size", queue.burst);
  }
  return object.done();
}

std::string routing_object(const queue::Routing& routing) {
  Object object;
  object.text("queue_name", routing.queue).text("job_category", routing.category);
  return object.done();
}

std::string pushed_object(std::uint64_t number, std::string_view queue, const PushedJob& job) {
  const JobFields& fields = job.fields;
  Object object;
  object.number("id", number)
      .text("queue_name", queue)
      .text("category", fields.category)
      .text("url", fields.url)
      .json("payload", job.shown)
      .number("run_after", fields.run_after)
      .number("timeout", fields.timeout)
      .number("retry_delay", fields.retry_delay)
      .number("max_retries", fields.max_retries);
  return object.done();
}

std::string job_object(const queue::Job& job) {
  const StoredJob stored = read_stored(job.payload);
  Object object;
  object.number("id", job.number);
  add_request(object, stored);
  object.text("status", job.grabbed ? "grabbed" : "claimed")
      .text("created_at", created_at(job, stored.fields))
      .text("next_try", time_text(queue::due_ms(job.run_key)))
      .number("timeout", stored.fields.timeout)
      .number("fail_count", fail_count_of(job))
      .number("max_retries", stored.fields.max_retries)
      .number("retry_delay", stored.fields.retry_delay);
  return object.done();
}

std::string failed_object(const queue::Job& job) {
  const StoredJob stored = read_stored(job.payload);
  const Result said = result_of(job.error);
  Object result;
  result.text("status", said.status).number("code", said.code).text("message", said.message);
  Object object;
  object.number("id", job.number).number("job_id", job.number);
  add_request(object, stored);
  object.json("result", result.done())
      .number("fail_count", fail_count_of(job))
      .text("failed_at", time_text(job.died_ms))
      .text("created_at", created_at(job, stored.fields));
  return object.done();
}

Result result_of(std::string_view error) {
  const Result other{"internal-failure", 0, error};
  constexpr std::array<std::string_view, 3> kWords = {"failure", "internal-failure",
                                                      "permanent-failure"};
  const std::size_t space = error.find(' ');
  const std::size_t colon = error.find(": ");
  if (space == std::string_view::npos || colon == std::string_view::npos || colon < space) {
    return other;
  }
  const std::string_view word = error.substr(0, space);
  const auto* const known = std::find(kWords.begin(), kWords.end(), word);
  const auto code = config::whole_number<std::uint32_t>(error.substr(space + 1, colon - space - 1));
  if (known == kWords.end() || !code) return other;
  return {*known, *code, error.substr(colon + 2)};
}

std::string stats_object(const QueueStats& stats) {
  Object object;
  object.number("total_pushes", stats.pushes)
      .number("total_pops", stats.pops)
      .number("total_successes", stats.successes)
      .number("total_failures", stats.failures)
      .number("total_permanent_failures", stats.permanent_failures)
      .number("total_completes", stats.successes + stats.permanent_failures)
      .number("total_elapsed", stats.elapsed_ms)
      .number("pushes_per_second", stats.pushes_per_second)
      .number("pops_per_second", stats.pops_per_second)
      .number("outstanding_jobs", stats.outstanding)
      .number("total_workers", stats.workers)
      .number("idle_workers", stats.idle)
      .number("active_nodes", stats.active);
  return object.done();
}

}  // namespace allot::gateway::fireworq
