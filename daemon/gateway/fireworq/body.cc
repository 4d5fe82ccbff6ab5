// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/body.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

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

// Takes the value of a member.
struct Taker {
  std::string_view key;
  std::function<void(std::string_view value)> take;
};
using Takers = std::vector<Taker>;

template <typename Value, typename Read>
Taker taker(const char* key, Value& into, Read read, const char* wanted) {
  return {key, [key, &into, read, wanted](std::string_view value) {
            auto got = read(value);
            if (!got) throw Refused(400, std::string(key) + " must be " + wanted);
            into = std::move(*got);
          }};
}

Taker text(const char* key, std::string& into) {
  return taker(key, into, string_of, "text");
}

Taker count(const char* key, std::uint32_t& into) {
  return taker(key, into, config::whole_number<std::uint32_t>,
               "a whole number from 0 to 4294967295");
}

Takers takers_of(JobFields& fields) {
  return {text("url", fields.url), count("run_after", fields.run_after),
          count("timeout", fields.timeout), count("retry_delay", fields.retry_delay),
          count("max_retries", fields.max_retries)};
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
  std::string ignored;
  takers.push_back(text("category", ignored));
  takers.push_back({kPayload, [&job](std::string_view value) {
                      job.shown = value;
                      auto raw = value == "null" ? std::string() : string_of(value);
                      job.payload = raw ? std::move(*raw) : std::string(value);
                    }});
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
    takers.push_back(text("category", fields.category));
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
  std::string ignored;
  read_members(body, {count("polling_interval", queue.polling_interval),
                      count("max_workers", queue.max_workers),
                      taker("max_dispatches_per_second", queue.per_second, number_of, "a number"),
                      count("max_burst_size", queue.burst), text("name", ignored)});
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
  std::string ignored;
  read_members(body, {text("queue_name", queue), text("job_category", ignored)});
  return queue;
}

}  // namespace allot::gateway::fireworq
