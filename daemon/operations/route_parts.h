// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operations/route.h"

// Parameters and kinds of routes that several entries of the table share. For table.cc only.
namespace allot::operations {

inline constexpr std::uint64_t kMostListed = 1'000;
inline constexpr std::uint64_t kMostPartitions = 4'096;
inline constexpr std::uint64_t kMostSlots = 1'024;
inline constexpr std::uint64_t kMostMinutes = 10'080;  // a week
inline constexpr std::uint64_t kMostStep = 1'440;      // a day
inline constexpr std::string_view kTypeOfRoute =
    "The type; `mail.*` matches all types with this prefix, `*` matches any type";
inline constexpr std::string_view kFromOfRoute =
    "Queue that the tasks are submitted to; default: any queue or none (with `*`: none only)";
inline constexpr std::string_view kConfirmOfRoute =
    "Change the route even if waiting tasks have unique keys, which tasks of another queue may "
    "then take, too";

inline constexpr std::string_view kMoveOfQueue =
    "Moves waiting tasks of a queue to another one. One request examines up to 10,000 tasks; "
    "`next` is the cursor with which the following request continues. `leased` tasks stay, because "
    "workers hold their partitions: pause the queue, or repeat the request. Needs the role for "
    "both queues.";
inline constexpr std::string_view kMoveOfRoute =
    "Also move the tasks that wait in `from`. One request examines up to 10,000 tasks; `waiting` "
    "has the result, and its `next` is the cursor with which the following request continues. "
    "`leased` tasks stay, because workers hold their partitions. Tasks submitted within a second "
    "may still reach `from`: repeat the request";

// Optional parameters, and required ones.
constexpr Parameter text(In in, std::string_view name, std::string_view what,
                         std::string_view example) {
  return {in, name, what, example};
}
constexpr Parameter needed(In in, std::string_view name, std::string_view what,
                           std::string_view example) {
  return {in, name, what, example, Kind::kText, true};
}
constexpr Parameter flag(In in, std::string_view name, std::string_view what) {
  return {in, name, what, "false", Kind::kFlag};
}
constexpr Parameter number(In in, std::string_view name, std::string_view what,
                           std::string_view example, std::uint64_t least, std::uint64_t most) {
  return {in, name, what, example, Kind::kNumber, false, least, most};
}
constexpr Parameter needed_number(In in, std::string_view name, std::string_view what,
                                  std::string_view example, std::uint64_t least,
                                  std::uint64_t most) {
  return {in, name, what, example, Kind::kNumber, true, least, most};
}

inline constexpr Parameter kTraceParent{
    In::kHeader, "traceparent",
    "W3C trace context of all tasks of the request without their own; an invalid one is ignored",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
inline constexpr Parameter kTraceState{In::kHeader, "tracestate",
                                       "Vendor part of the W3C trace context", "vendor=1"};
inline constexpr Parameter kId = needed(In::kPath, "id", "The task's id", "0840dqg2v5n80r00");
inline constexpr Parameter kQueue = needed(In::kPath, "queue", "The queue's name", "mail");
inline constexpr Parameter kSchedule =
    needed(In::kPath, "schedule", "The schedule's name", "nightly");
inline constexpr Parameter kLock = needed(In::kPath, "lock", "The lock's name", "billing");
inline constexpr Parameter kAction =
    needed_number(In::kPath, "action", "The bulk action's number", "7", 1, 4'294'967'295);
inline constexpr Parameter kAtMost =
    number(In::kQuery, "limit", "Maximum number of entries; default: 50", "20", 1, kMostListed);
inline constexpr Parameter kCursor{
    In::kQuery, "cursor", "Cursor from `next` of the previous page; default: the first page", ""};
inline constexpr Parameter kType{In::kQuery, "type",
                                 "Only tasks of this type. One request examines at most 10,000 "
                                 "tasks, so a page may be short or empty and still have a `next`",
                                 "mail.send"};
// Uses an index in lists that begin with the newest; other lists are scanned as for a type.
inline constexpr Parameter kSince{
    In::kQuery, "since", "Only tasks whose time in the list (due, died, ended) is at or after this",
    "2026-11-28T00:00:00Z"};
inline constexpr Parameter kUntil{In::kQuery, "until",
                                  "Only tasks whose time in the list is before this",
                                  "2100-01-01T00:00:00Z"};
inline constexpr Parameter kOnlyQueue =
    text(In::kQuery, "queue", "Only this queue; default: all", "mail");
inline constexpr std::string_view kOfGroup = "Only dead tasks of this group";
inline constexpr std::string_view kReason = "reason";

// A read, for a caller with the role read.
inline Route get(std::string_view path, std::string_view name, std::string_view summary,
                 std::vector<Parameter> parameters, Answer answer, Verb verb) {
  return {"GET",
          path,
          name,
          gateway::access::Role::kRead,
          false,
          summary,
          std::move(parameters),
          Body::kNone,
          {answer},
          path.find('{') == std::string_view::npos ? std::vector<unsigned>{}
                                                   : std::vector<unsigned>{404},
          Executor::kThreadPool,
          verb,
          {}};
}

// A read with an optional queue, which must exist.
inline Route get_if_known(std::string_view path, std::string_view name, std::string_view summary,
                          std::vector<Parameter> parameters, Answer answer, Verb verb) {
  Route route = get(path, name, summary, std::move(parameters), answer, verb);
  route.refusals = {404};
  return route;
}

// A list of tasks of a queue, by page.
inline Route task_list(std::string_view path, std::string_view name, std::string_view summary,
                       const std::vector<Parameter>& more, Verb verb) {
  std::vector<Parameter> parameters{kQueue, kAtMost, kCursor, kType, kSince, kUntil};
  parameters.insert(parameters.end(), more.begin(), more.end());
  return get(path, name, summary, std::move(parameters), {200, "ListedTasks", "one page"}, verb);
}

// A change, for a caller with the role operate. It is recorded, with the reason if given (S89).
inline Route change(std::string_view method, std::string_view path, std::string_view name,
                    std::string_view summary, std::vector<Parameter> parameters, Answer answer,
                    std::vector<unsigned> refusals, Verb verb) {
  const bool has_body = method != "DELETE";
  parameters.push_back({has_body ? In::kBody : In::kQuery, kReason,
                        "Reason, shown to other operators; at most 255 bytes", "maintenance"});
  return {method,
          path,
          name,
          gateway::access::Role::kOperate,
          false,
          summary,
          std::move(parameters),
          has_body ? Body::kOptions : Body::kNone,
          {answer},
          std::move(refusals),
          Executor::kThreadPool,
          verb,
          {}};
}

// The route of an object without a queue.
inline Route everywhere(Route route) {
  route.everywhere = true;
  return route;
}

// A read open to all, without a token.
inline Route open(std::string_view path, std::string_view name, std::string_view summary,
                  Answer answer, Executor executor, Verb verb) {
  return {"GET", path, name, {}, false, summary, {}, Body::kNone, {answer}, {}, executor, verb, {}};
}

}  // namespace allot::operations
