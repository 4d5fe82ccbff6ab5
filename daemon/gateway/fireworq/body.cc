// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/body.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>

#include "config/number.h"
#include "gateway/fireworq/answer.h"
#include "gateway/fireworq/json_text.h"
#include "queue/model/task.h"
#include "queue/submit/submit.h"

namespace allot::gateway::fireworq {
namespace {

constexpr std::uint32_t kShownWithRate = 100;  // ms: the polling_interval of a throttled queue
constexpr std::uint32_t kMostWorkers = 65'536;
constexpr std::string_view kPayload = "payload";

using Take = std::function<void(std::string_view value)>;

[[noreturn]] void wrong(const char* name, const char* wanted) {
  throw Refused(400, std::string(name) + " must be " + wanted);
}

Take text(const char* name, std::string& into) {
  return [name, &into](std::string_view value) {
    auto read = string_of(value);
    if (!read) wrong(name, "text");
    into = std::move(*read);
  };
}

Take count(const char* name, std::uint32_t& into) {
  return [name, &into](std::string_view value) {
    const auto read = config::whole_number<std::uint32_t>(value);
    if (!read) wrong(name, "a whole number from 0 to 4294967295");
    into = *read;
  };
}

// Accepts and ignores a text, and refuses other values.
Take unused(const char* name) {
  return [name](std::string_view value) {
    if (!string_of(value)) wrong(name, "text");
  };
}

Take number(const char* name, double& into) {
  return [name, &into](std::string_view value) {
    const auto read = number_of(value);
    if (!read) wrong(name, "a number");
    into = *read;
  };
}

using Takers = std::map<std::string_view, Take>;

Takers takers_of(JobFields& fields) {
  return {{"url", text("url", fields.url)},
          {"run_after", count("run_after", fields.run_after)},
          {"timeout", count("timeout", fields.timeout)},
          {"retry_delay", count("retry_delay", fields.retry_delay)},
          {"max_retries", count("max_retries", fields.max_retries)}};
}

// Passes each member of the body to the taker of its key. A null counts as absent, except as a
// payload.
void read_members(std::string_view body, const Takers& takers) {
  std::string_view object;
  try {
    object = first_value(body);
  } catch (const BadJson& error) {
    throw Refused(400, error.what());
  }
  if (object == "null") return;
  if (!object.starts_with('{')) throw Refused(400, "the body must be a JSON object");
  Members members(object);
  while (members.next()) {
    const bool null = members.value() == "null";
    for (const auto& [key, take] : takers) {
      if (same_key(key, members.key()) && (!null || key == kPayload)) take(members.value());
    }
  }
}

void check_throttle(const queue::FireworqQueue& queue) {
  if (queue.per_second > 0 && queue.burst == 0) {
    throw Refused(400, "Cannot configure MaxDispatchesPerSecond without MaxBurstSize");
  }
  if (queue.per_second < 0) throw Refused(400, "MaxDispatchesPerSecond should be non-negative");
  if (queue.burst != 0 && queue.per_second == 0) {
    throw Refused(400, "Cannot configure MaxBurstSize without MaxDispatchesPerSecond");
  }
}

}  // namespace

PushedJob read_job(std::string_view body, std::string_view category) {
  PushedJob job;
  JobFields& fields = job.fields;
  fields.category = category;
  Takers takers = takers_of(fields);
  takers.emplace("category", unused("category"));
  takers.emplace(kPayload, [&job](std::string_view value) {
    job.shown = value;
    auto raw = value == "null" ? std::string() : string_of(value);
    job.payload = raw ? std::move(*raw) : std::string(value);
  });
  read_members(body, takers);
  if (fields.url.empty()) throw Refused(400, "Missing field: url");
  return job;
}

std::string stored(const PushedJob& job) {
  const JobFields& fields = job.fields;
  const auto run_after =
      std::min(std::chrono::seconds(fields.run_after), std::chrono::seconds(queue::kMaxDelay));
  std::string text = "{\"url\":" + json_string(fields.url) +
                     ",\"category\":" + json_string(fields.category) +
                     ",\"run_after\":" + std::to_string(run_after.count()) +
                     ",\"timeout\":" + std::to_string(fields.timeout) +
                     ",\"retry_delay\":" + std::to_string(fields.retry_delay) +
                     ",\"max_retries\":" + std::to_string(fields.max_retries) + "}\n" + job.payload;
  if (text.size() > queue::kMaxPayload) {
    throw Refused(413, "url, category and payload have more than 16 MiB - 1 together");
  }
  return text;
}

StoredJob read_stored(std::string_view payload) {
  StoredJob job;
  const std::size_t line = payload.find('\n');
  job.payload = line == std::string_view::npos ? payload : payload.substr(line + 1);
  JobFields& fields = job.fields;
  try {
    Takers takers = takers_of(fields);
    takers.emplace("category", text("category", fields.category));
    read_members(payload.substr(0, line), takers);
  } catch (const Refused&) {
    job.payload = payload;
  }
  return job;
}

queue::FireworqQueue read_queue(std::string_view body, std::string_view name,
                                const queue::FireworqQueue& defaults) {
  queue::FireworqQueue queue;
  queue.name = name;
  read_members(
      body, {{"polling_interval", count("polling_interval", queue.polling_interval)},
             {"max_workers", count("max_workers", queue.max_workers)},
             {"max_dispatches_per_second", number("max_dispatches_per_second", queue.per_second)},
             {"max_burst_size", count("max_burst_size", queue.burst)},
             {"name", unused("name")}});
  check_throttle(queue);
  if (queue.max_workers == 0) queue.max_workers = defaults.max_workers;
  if (queue.max_workers > kMostWorkers) {
    throw Refused(400, "max_workers is at most " + std::to_string(kMostWorkers));
  }
  if (queue.polling_interval == 0) queue.polling_interval = defaults.polling_interval;
  if (queue.burst != 0) queue.polling_interval = kShownWithRate;
  return queue;
}

std::string read_routing(std::string_view body) {
  std::string queue;
  read_members(
      body, {{"queue_name", text("queue_name", queue)}, {"job_category", unused("job_category")}});
  return queue;
}

}  // namespace allot::gateway::fireworq
