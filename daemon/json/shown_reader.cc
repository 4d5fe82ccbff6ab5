// SPDX-License-Identifier: Apache-2.0
#include "json/shown_reader.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "json/printable.h"

namespace allot::as_json {
namespace {

using nlohmann::json;

queue::TaskId id_of(const json& document) {
  const auto text = document.at("task").get<std::string>();
  const auto id = queue::TaskId::parse(text);
  if (!id) throw Error("'" + printable(text, 40) + "' is no task id", kExitConfig);
  return *id;
}

// "": null, or left out.
std::string text_of(const json& document, const char* name) {
  const auto at = document.find(name);
  return at == document.end() || at->is_null() ? "" : at->get<std::string>();
}

std::optional<std::uint64_t> number_of(const json& document, const char* name) {
  const json& value = document.at(name);
  return value.is_null() ? std::nullopt : std::optional(value.get<std::uint64_t>());
}

queue::Usage usage_of(const json& document) {
  return {number_of(document, "runtime_us"), number_of(document, "cpu_us"),
          number_of(document, "max_rss_kib")};
}

queue::Done done_of(const json& document) {
  queue::Done done;
  done.id = id_of(document);
  done.type = document.at("type").get<std::string>();
  done.attempt = document.at("attempt").get<std::uint32_t>();
  done.ended_at = document.at("ended_at").get<std::string>();
  done.worker = document.at("worker").get<std::string>();
  done.usage = usage_of(document);
  return done;
}

std::vector<queue::AttemptView> attempts_of(const json& list) {
  std::vector<queue::AttemptView> attempts;
  for (const json& each : list) {
    queue::AttemptView attempt;
    attempt.attempt = each.at("attempt").get<std::uint32_t>();
    attempt.ended_at = each.at("ended_at").get<std::string>();
    attempt.cause = each.at("cause").get<std::string>();
    attempt.error = each.at("error").get<std::string>();
    attempt.worker = each.at("worker").get<std::string>();
    attempt.life = each.at("life").get<std::uint32_t>();
    attempt.usage = usage_of(each);
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

void read_details(Shown& shown, const json& document) {
  queue::TaskView& task = *shown.task;
  task.expires_at = text_of(document, "expires_at");
  if (const auto hash = number_of(document, "partition_key_hash")) {
    task.key_hash = static_cast<std::uint32_t>(*hash);
  }
  task.since = text_of(document, "detached_at");
  if (!task.running) task.holder = text_of(document, "leased_by");
  if (const json& asked = document.at("cancel_asked"); !asked.is_null()) {
    shown.cancel =
        queue::CancelRequest{asked.at("reason").get<std::string>(),
                             asked.at("at").get<std::string>(), asked.at("as_done").get<bool>()};
  }
}

}  // namespace

queue::TaskView task_of(const json& document) {
  queue::TaskView task;
  task.id = id_of(document);
  task.type = document.at("type").get<std::string>();
  task.attempts = document.at("attempts_charged").get<std::uint32_t>();
  task.payload_size = document.at("payload_size").get<std::uint64_t>();
  const auto state = document.at("state").get<std::string>();
  task.dead = state == "dead";
  task.running = state == "running";
  task.at = document.at(task.dead ? "died_at" : "due_at").get<std::string>();
  task.cause = text_of(document, "cause");
  task.error = text_of(document, "error");
  task.holder = text_of(document, "running_on");
  return task;
}

Shown shown_of(const json& document) {
  Shown shown;
  if (document.at("state") == "done") {
    shown.done = done_of(document);
  } else {
    shown.task = task_of(document);
    read_details(shown, document);
  }
  shown.queue = document.at("queue").get<std::string>();
  if (const json& key = document.at("unique_key"); !key.is_null()) {
    shown.unique =
        queue::UniqueKey{key.get<std::string>(), text_of(document, "unique_key_free_at")};
  }
  shown.attempts = attempts_of(document.at("attempts"));
  return shown;
}

queue::Cancelled cancelled_of(const json& document) {
  queue::Cancelled cancelled;
  cancelled.done = document.at("cancelled").get<bool>();
  cancelled.asked = document.at("asked").get<bool>();
  cancelled.may_run = document.at("may_run").get<bool>();
  cancelled.holder = text_of(document, "leased_by");
  return cancelled;
}

}  // namespace allot::as_json
