// SPDX-License-Identifier: Apache-2.0
// Verbs that read the counts of all instances, and the instances (decision 0024).
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "json/minutes_json.h"
#include "operations/verbs.h"
#include "queue/minutes/failures.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute_view.h"
#include "queue/minutes/type_hours.h"

namespace allot::operations {
namespace {

using nlohmann::json;

constexpr std::uint32_t kFailuresSince = 24 * 60;  // minutes

queue::MinutesBy minutes_by(const std::string& word) {
  if (word.empty() || word == "queue") return queue::MinutesBy::kQueue;
  if (word == "type") return queue::MinutesBy::kType;
  if (word == "error") return queue::MinutesBy::kError;
  refuse(400, "by is queue, type or error", "by");
}

}  // namespace

Document list_minutes(Call& call) {
  queue::MinutesWanted wanted;
  wanted.by = minutes_by(call.text("by"));
  wanted.since = std::chrono::minutes(call.number("since", 60));
  wanted.step = call.number("step", 1);
  if (const auto name = call.maybe("queue")) wanted.queue = call.queue(*name).name;
  const std::string key = "minutes " + call.text("by") + " " + std::to_string(wanted.step) + " " +
                          std::to_string(wanted.since.count()) + " " + wanted.queue;
  const auto found = call.shared(key, Call::CacheTime::kFigures,
                                 [&](auto& db) { return queue::list_minutes(db, wanted); });
  json items = json::array();
  for (const queue::MinuteView& view : found->list) {
    if (call.may(view.key.queue)) items.push_back(as_json::minute(view, wanted.by));
  }
  return answer_of({{"items", std::move(items)}, {"truncated", found->more}});
}

Document list_failures(Call& call) {
  std::string queue;
  if (const auto name = call.maybe("queue")) queue = call.queue(*name).name;
  const std::chrono::minutes since(call.number("since", kFailuresSince));
  const std::string key = "failures " + std::to_string(since.count()) + " " + queue;
  const auto found = call.shared(key, Call::CacheTime::kFigures,
                                 [&](auto& db) { return queue::list_failures(db, queue, since); });
  json items = json::array();
  for (const queue::FailureGroup& group : found->list) {
    if (call.may(group.queue)) items.push_back(as_json::failure(group));
  }
  return answer_of({{"items", std::move(items)}, {"truncated", found->more}});
}

Document list_types(Call& call) {
  queue::TypesWanted wanted;
  if (const auto name = call.maybe("queue")) wanted.queue = call.queue(*name).name;
  wanted.type = call.text("type");
  wanted.hours = call.number("hours", wanted.hours);
  wanted.step = call.number("step", wanted.step);
  const std::uint32_t most = call.number("limit", kLimit);
  const std::string key = "types " + std::to_string(wanted.hours) + " " +
                          std::to_string(wanted.step) + " " + wanted.queue + " " + wanted.type;
  const auto found = call.shared(key, Call::CacheTime::kFigures,
                                 [&](auto& db) { return queue::list_types(db, wanted); });
  json items = json::array();
  std::uint32_t omitted = 0;
  for (const queue::TypeView& view : found->list) {
    if (!call.may(view.queue)) continue;
    if (items.size() == most) {
      ++omitted;
    } else {
      items.push_back(as_json::type(view));
    }
  }
  return answer_of({{"items", std::move(items)}, {"omitted", omitted}, {"truncated", found->more}});
}

Document list_deployments(Call& call) {
  const std::uint32_t hours = call.number("hours", queue::kTypeHoursKept);
  const auto found = call.shared("deployments " + std::to_string(hours), Call::CacheTime::kFigures,
                                 [&](auto& db) { return queue::list_deployments(db, hours); });
  return list_of_each(*found, as_json::deployment);
}

Document list_instances(Call& call) {
  const auto found = call.shared("instances", Call::CacheTime::kFigures,
                                 [&](auto& db) { return queue::list_instances(db); });
  return list_of_each(*found, as_json::instance);
}

}  // namespace allot::operations
