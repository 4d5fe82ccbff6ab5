// SPDX-License-Identifier: Apache-2.0
#include "json/shown_reader.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "json/fields.h"
#include "json/printable.h"

namespace allot::as_json {
namespace {

using nlohmann::json;

queue::TaskId id_of(const json& document) {
  const auto text = document.at("task").get<std::string>();
  const auto id = queue::TaskId::parse(text);
  if (!id) throw Error("'" + printable(text, 40) + "' is not a task id", kExitConfig);
  return *id;
}

queue::Usage usage_of(const json& document) {
  return {maybe_u64_in(document, "runtime_us"), maybe_u64_in(document, "cpu_us"),
          maybe_u64_in(document, "max_rss_kib")};
}

std::vector<queue::AttemptView> attempts_of(const json& list) {
  std::vector<queue::AttemptView> attempts;
  for (const json& each : list) {
    queue::AttemptView attempt;
    attempt.attempt = each.at("attempt").get<std::uint32_t>();
    attempt.ended_at = each.at("ended_at").get<std::string>();
    attempt.cause = each.at("cause").get<std::string>();
    attempt.error = each.at("error").get<std::string>();
    attempt.detail = text_in(each, "detail");
    attempt.fault = each.at("fault").get<std::string>();
    attempt.log = text_in(each, "log");
    attempt.worker = each.at("worker").get<std::string>();
    attempt.life = each.at("life").get<std::uint32_t>();
    attempt.usage = usage_of(each);
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

queue::Headers headers_of(const json& document) {
  queue::Headers headers{maybe_u32_in(document, "max_attempts").value_or(0),
                         {text_in(document, "traceparent"), text_in(document, "tracestate")}};
  headers.max_losses = maybe_u32_in(document, "max_losses").value_or(0);
  headers.label = text_in(document, "label");
  headers.time_limit =
      std::chrono::milliseconds(maybe_u32_in(document, "time_limit_ms").value_or(0));
  return headers;
}

void read_details(Shown& shown, const json& document) {
  queue::TaskView& task = *shown.task;
  task.expires_at = text_in(document, "expires_at");
  task.key_hash = maybe_u32_in(document, "partition_key_hash");
  task.since = text_in(document, "detached_at");
  if (task.running) {
    task.progress = {maybe_u32_in(document, "progress"), text_in(document, "progress_word")};
  } else {
    task.holder = text_in(document, "leased_by");
  }
  if (const json& asked = document.at("cancel_asked"); !asked.is_null()) {
    shown.cancel =
        queue::CancelRequest{asked.at("reason").get<std::string>(),
                             asked.at("at").get<std::string>(), asked.at("as_done").get<bool>()};
  }
}

}  // namespace

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
  task.cause = text_in(document, "cause");
  task.error = text_in(document, "error");
  task.detail = text_in(document, "detail");
  task.fault = text_in(document, "fault");
  task.holder = text_in(document, "running_on");
  return task;
}

Shown shown_of(const json& document) {
  Shown shown;
  if (document.at("state") == "done") {
    shown.done = done_of(document);
    shown.done->headers = headers_of(document);
  } else {
    shown.task = task_of(document);
    shown.task->headers = headers_of(document);
    read_details(shown, document);
  }
  shown.queue = document.at("queue").get<std::string>();
  if (const json& key = document.at("unique_key"); !key.is_null()) {
    shown.unique =
        queue::UniqueKey{key.get<std::string>(), text_in(document, "unique_key_free_at")};
  }
  shown.attempts = attempts_of(document.at("attempts"));
  return shown;
}

queue::Cancelled cancelled_of(const json& document) {
  queue::Cancelled cancelled;
  cancelled.done = document.at("cancelled").get<bool>();
  cancelled.asked = document.at("asked").get<bool>();
  cancelled.may_run = document.at("may_run").get<bool>();
  cancelled.holder = text_in(document, "leased_by");
  return cancelled;
}

}  // namespace allot::as_json
