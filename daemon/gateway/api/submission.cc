// SPDX-License-Identifier: Apache-2.0
#include "gateway/api/submission.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"
#include "gateway/api/route.h"
#include "log/log.h"
#include "operations/submission.h"

namespace allot::gateway::api {
namespace {

using nlohmann::json;

// Room for a payload of 16 MiB in base64, or as a string without escapes.
constexpr std::size_t kMostJson = std::size_t{32} << 20;
constexpr const char* kKeyField = "idempotency-key";

// The value of the field: a string of RFC 8941, or a bare word.
std::string unquoted(const std::string& value) {
  if (!value.starts_with('"')) return value;
  std::string out;
  for (std::size_t i = 1; i + 1 < value.size(); ++i) {
    if (value[i] == '"') break;
    if (value[i] == '\\' && ++i + 1 >= value.size()) break;
    out += value[i];
    if (i + 2 == value.size() && value.back() == '"') return out;
  }
  if (value == "\"\"") return {};
  refuse(400, "Idempotency-Key begins with a quote but is not one quoted string", kKeyField);
}

// The value of Idempotency-Key; nullopt: missing.
std::optional<std::string> key_of(const http::Head& head) {
  const auto is_it = [](const http::Field& field) { return field.name == kKeyField; };
  if (std::count_if(head.fields.begin(), head.fields.end(), is_it) > 1) {
    refuse(400, "Idempotency-Key occurs twice", kKeyField);
  }
  const std::string* value = head.field(kKeyField);
  if (value == nullptr) return std::nullopt;
  std::string key = unquoted(*value);
  if (key.empty() || key.size() > queue::kMaxUniqueKey) {
    refuse(400, "Idempotency-Key must have 1 to 255 bytes", kKeyField);
  }
  return key;
}

// The values of a repeatable field, joined to a list.
std::string all_of(const http::Head& head, std::string_view name) {
  std::string list;
  for (const http::Field& field : head.fields) {
    if (field.name != name) continue;
    if (!list.empty()) list += ',';
    list += field.value;
  }
  return list;
}

}  // namespace

std::string media_type(const http::Head& head) {
  const std::string* field = head.field("content-type");
  if (field == nullptr) return {};
  std::string type = field->substr(0, field->find(';'));
  type.erase(type.find_last_not_of(" \t") + 1);
  return lower(type);
}

std::size_t most_body(const http::Head& head) {
  const std::string type = media_type(head);
  if (type == operations::kRaw) return queue::kMaxPayload;
  if (type == "application/json") return kMostJson;
  refuse(415,
         "Content-Type must be application/json, application/x-ndjson, or application/octet-stream "
         "with the options in the query",
         "content-type");
}

// Two traceparent fields join to an invalid one, so neither counts.
queue::Trace trace_of(const http::Head& head) {
  return queue::trace_of(all_of(head, "traceparent"), all_of(head, "tracestate"));
}

as_json::TaskBody submission_of(http::Request& request) {
  const auto key = key_of(request.head);
  const queue::Trace trace = trace_of(request.head);
  const Values query = query_of(request.head.query);
  try {
    static_cast<void>(json(query).dump());
  } catch (const json::type_error&) {
    refuse(400, "the query is not UTF-8");
  }
  as_json::TaskBody body =
      operations::read_tasks(media_type(request.head), query, std::move(request.body));
  if (key && body.several) {
    refuse(400, "Idempotency-Key is for one task; give each of several its unique_key", kKeyField);
  }
  for (queue::Submission& task : body.tasks) {
    if (key && task.options.unique_key) {
      refuse(400, "Idempotency-Key and unique_key exclude each other: they mean the same",
             kKeyField);
    }
    if (key) task.options.unique_key = key;
    operations::join_trace(task.options, trace);
  }
  return body;
}

queue::Permit permit_of(const access::Caller& caller) {
  return [caller](const std::string& queue) {
    if (caller.may(access::Role::kSubmit, queue)) return;
    refuse(403, "the task would go to a queue to which you may not submit", "queue");
  };
}

void log_action(const access::Caller& caller, std::string_view what, std::string_view which) {
  log::info("gateway.action", {{"actor", caller.name()}, {"action", what}, {"subject", which}});
}

void log_submission(const access::Caller& caller, const std::vector<queue::Submitted>& made) {
  std::string which;
  std::size_t new_tasks = 0;
  for (const queue::Submitted& task : made) {
    if (!task.existed() && new_tasks++ == 0) which = task.id.text();
  }
  if (new_tasks > 1) which += " and " + std::to_string(new_tasks - 1) + " more";
  if (new_tasks > 0) log_action(caller, "submit", which);
}

}  // namespace allot::gateway::api
