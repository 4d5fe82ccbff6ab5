// SPDX-License-Identifier: Apache-2.0
#include "operations/call.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/names.h"
#include "config/number.h"
#include "config/rows.h"
#include "json/printable.h"
#include "json/strict.h"
#include "json/task_reader.h"
#include "queue/model/audit.h"

namespace allot::operations {
namespace {

using nlohmann::json;

constexpr std::size_t kShown = 60;

std::string in_quotes(std::string_view text) {
  return "'" + as_json::printable(text, kShown) + "'";
}

const Parameter* parameter_of(const Route& route, std::string_view name, In in) {
  const auto at =
      std::find_if(route.parameters.begin(), route.parameters.end(),
                   [&](const Parameter& each) { return each.in == in && each.name == name; });
  return at == route.parameters.end() ? nullptr : &*at;
}

[[noreturn]] void unknown_parameter(const Route& route, const std::string& name, In in) {
  std::vector<std::string> known;
  for (const Parameter& each : route.parameters) {
    if (each.in == in) known.emplace_back(each.name);
  }
  refuse(400,
         "unknown " + std::string(in == In::kQuery ? "parameter " : "field ") + in_quotes(name) +
             config::did_you_mean(name, known),
         as_json::printable(name, kShown));
}

json object_of(const std::string& body) {
  json object;
  try {
    object = as_json::read_strict(body, as_json::kMaxDepth);
  } catch (const as_json::BadJson& error) {
    if (error.field().empty()) refuse(400, "the body is " + std::string(error.what()));
    refuse(400, as_json::printable(error.what(), 200), as_json::printable(error.field(), kShown));
  }
  if (!object.is_object()) refuse(400, "the body is not a JSON object");
  return object;
}

}  // namespace

const config::Queue* configured(const Service& service, const std::string& queue) {
  const auto at = std::find_if(service.queues.begin(), service.queues.end(),
                               [&](const config::Queue& each) { return each.name == queue; });
  return at == service.queues.end() ? nullptr : &*at;
}

Call::Call(const Service& service, const Route& route, gateway::access::Caller caller, Values path,
           std::string_view query, const std::string& body)
    : service_(service), route_(route), caller_(std::move(caller)), values_(std::move(path)) {
  for (auto& [name, value] : query_of(query)) {
    if (parameter_of(route, name, In::kQuery) == nullptr) {
      unknown_parameter(route, name, In::kQuery);
    }
    values_.insert_or_assign(name, value);
  }
  const bool blank = body.find_first_not_of(" \t\r\n") == std::string::npos;
  if (route.body == Body::kOptions && !blank) read_options(body);
  check();
}

void Call::read_options(const std::string& body) {
  const json object = object_of(body);
  for (const auto& [name, value] : object.items()) {
    const Parameter* parameter = parameter_of(route_, name, In::kBody);
    if (parameter == nullptr) unknown_parameter(route_, name, In::kBody);
    if (value.is_null() && !parameter->required) continue;
    const bool fits = parameter->kind == Kind::kText     ? value.is_string()
                      : parameter->kind == Kind::kFlag   ? value.is_boolean()
                      : parameter->kind == Kind::kNumber ? value.is_number_unsigned()
                                                         : value.is_number();
    if (!fits) {
      const char* wanted = parameter->kind == Kind::kText     ? "a string"
                           : parameter->kind == Kind::kFlag   ? "true or false"
                           : parameter->kind == Kind::kNumber ? "a whole number, 0 or more"
                                                              : "a number";
      refuse(400, "'" + name + "' must be " + wanted, name);
    }
    values_.insert_or_assign(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void Call::check() const {
  for (const Parameter& parameter : route_.parameters) {
    const auto at = values_.find(parameter.name);
    if (at != values_.end()) {
      check(parameter, at->second);
    } else if (parameter.required) {
      refuse(400, "'" + std::string(parameter.name) + "' is missing", std::string(parameter.name));
    }
  }
}

void Call::check(const Parameter& parameter, const std::string& value) const {
  const std::string name(parameter.name);
  if (parameter.kind == Kind::kFlag && value != "true" && value != "false") {
    refuse(400, "'" + name + "' must be true or false", name);
  }
  if (parameter.name == "reason" && value.size() > queue::kMaxReason) {
    refuse(400, "'reason' has at most " + std::to_string(queue::kMaxReason) + " bytes", "reason");
  }
  if (parameter.kind != Kind::kNumber) return;
  const auto number = config::whole_number<std::uint64_t>(value);
  if (number && *number >= parameter.least && *number <= parameter.most) return;
  refuse(400,
         "'" + name + "' must be a whole number, " + std::to_string(parameter.least) + " to " +
             std::to_string(parameter.most),
         name);
}

std::optional<db::Actor> Call::actor() const {
  if (!route_.writes() || route_.role != gateway::access::Role::kOperate) return std::nullopt;
  return db::Actor{caller_.name(), service_.source, text("reason")};
}

std::string Call::text(std::string_view name) const {
  return maybe(name).value_or("");
}

std::optional<std::string> Call::maybe(std::string_view name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? std::nullopt : std::optional(at->second);
}

bool Call::flag(std::string_view name) const {
  return text(name) == "true";
}

std::uint32_t Call::number(std::string_view name, std::uint32_t otherwise) const {
  return config::whole_number<std::uint32_t>(text(name)).value_or(otherwise);
}

queue::TaskId Call::id() const {
  const auto id = queue::TaskId::parse(text("id"));
  if (!id) refuse(400, in_quotes(text("id")) + " is not a task id", "id");
  return *id;
}

std::string Call::queue_of(const queue::TaskId& id) const {
  std::string name = queue::queue_name(db(), id.partition.queue_id);
  if (name.empty() || !may(name)) unknown_task(id);
  return name;
}

queue::QueueInfo Call::queue() const {
  return queue(text("queue"));
}

db::Connection& Call::db() const {
  if (db_ == nullptr) throw NoConnection();
  return *db_;
}

std::shared_ptr<const std::vector<queue::QueueInfo>> Call::all_queues() const {
  return shared("queues", CacheTime::kState, [](auto& db) { return queue::list_queues(db); });
}

queue::QueueInfo Call::queue(const std::string& name) const {
  if (reads_ != nullptr && !route_.writes() && may(name)) {
    const auto shared = all_queues();
    for (const queue::QueueInfo& each : *shared) {
      if (each.name == name) return each;
    }
  }
  const config::Queue* keys = may(name) ? configured(service_, name) : nullptr;
  std::vector<std::string> known;
  for (int tries = 0; tries < 2; ++tries) {
    for (queue::QueueInfo& each : queue::list_queues(db())) {
      if (!may(each.name)) continue;
      if (each.name == name) return std::move(each);
      known.push_back(each.name);
    }
    if (keys == nullptr || !route_.writes()) break;
    queue::ensure_queue(db(), name, queue::shape_of(*keys));
  }
  refuse(404, unknown_queue_text(name, std::move(known)), "queue");
}

Document answer_of(const json& value, unsigned status) {
  Document document;
  document.status = status;
  document.text = value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  return document;
}

Document list_of(json items, const std::string& next) {
  return answer_of(
      {{"items", std::move(items)}, {"next", next.empty() ? json(nullptr) : json(next)}});
}

std::string unknown_queue_text(const std::string& name, std::vector<std::string> known) {
  constexpr std::size_t kListed = 10;
  const std::string shown = as_json::printable(name, kMaxQueueName);
  if (!queue::is_name(name)) {
    return "'" + shown + "' is not a queue: names are 1 to 63 of A-Z a-z 0-9 . _ -";
  }
  std::string text = "queue '" + shown + "' does not exist" + config::did_you_mean(name, known);
  if (text.back() != '?') text += ';';
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (std::size_t i = 0; i < std::min(known.size(), kListed); ++i) {
    text += (i == 0 ? " there is " : ", ") + known[i];
  }
  if (known.size() > kListed) text += " and " + std::to_string(known.size() - kListed) + " more";
  if (known.empty()) text += " there is none yet";
  return text + "; a section [queues.\"" + shown + "\"] in the configuration creates it";
}

void unknown_task(const queue::TaskId& id) {
  refuse(404, "no task has the id " + id.text() + ": it finished, or never existed", "id");
}

void Call::did(std::string_view what, std::string_view which) const {
  if (service_.on_change) service_.on_change(caller_, what, which);
}

}  // namespace allot::operations
