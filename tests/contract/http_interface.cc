// SPDX-License-Identifier: Apache-2.0
// The gateway, asked as its server asks it, without a socket.
#include "contract/interface.h"
#include "db/gateway/fixture.h"
#include "json/base64.h"

namespace allot::contract {
namespace {

using gateway::api::Answered;
using gateway::api::Asked;

constexpr const char* kTasks = "/api/v1/tasks";

// %XX for what a path or query may not have.
std::string escaped(const std::string& text) {
  return gateway::api::escaped(text);
}

Kind kind_of_status(const Answered& answered) {
  switch (answered.status()) {
    case 200:
    case 201:
    case 202:
      return Kind::kDone;
    case 400:
    case 413:
    case 415:
      return Kind::kBadInput;
    case 404: {
      // A task that is not there may have been; a name is of nothing.
      const bool task = answered.named() == "id" || answered.named() == "unique_key";
      return task ? Kind::kFailed : Kind::kBadInput;
    }
    case 409:
      return Kind::kFailed;
    case 503:
      return Kind::kUnavailable;
    case 504:
      return Kind::kOutcomeUnknown;
    default:
      return Kind::kOther;
  }
}

class HttpInterface final : public Interface {
 public:
  explicit HttpInterface(World& world) : world_(world) {}

  // As JSON if the payload is text, else as bytes with the options in the query.
  [[nodiscard]] bool takes(const Task& task) const override {
    for (const auto& [name, value] : task.options) {
      if (!is_text(value)) return false;
    }
    return is_text(task.queue) && is_text(task.type);
  }
  [[nodiscard]] bool takes_many(const Task& task) const override {
    return takes(task) && is_text(task.payload);
  }

  Answer submit(const Task& task) override {
    if (is_text(task.payload)) return submitted(send("POST", kTasks, document_of(task)));
    std::string target =
        std::string(kTasks) + "?queue=" + escaped(task.queue) + "&type=" + escaped(task.type);
    for (const auto& [name, value] : task.options) target += "&" + name + "=" + escaped(value);
    return submitted(answer_of({"POST", target, task.payload, "application/octet-stream"}));
  }

  Answer submit_many(const std::vector<Task>& tasks) override {
    json list = json::array();
    for (const Task& each : tasks) list.push_back(document_of(each));
    return submitted(send("POST", kTasks, list));
  }

  Answer state(Text id) override {
    Answer answer = get(std::string(kTasks) + "/" + escaped(id));
    if (answer.kind == Kind::kDone) answer.word = answer.document.at("state");
    return answer;
  }

  Answer payload(Text id) override {
    const Answered answered =
        gateway::api::ask(world_.gateway(), {"GET", std::string(kTasks) + "/" + id + "/payload"});
    return {.kind = kind_of_status(answered), .word = answered.response.body};
  }

  Answer find(Text queue, Text unique_key) override {
    Answer answer = get(queue_path(queue, "/keys/" + escaped(unique_key)));
    if (answer.kind != Kind::kDone) return answer;
    answer.add(answer.document.at("task"), true);
    answer.word = answer.document.at("state");
    return answer;
  }

  Answer cancel(Text id, Text reason, bool as_done) override {
    return with_word_of_cancel(send("POST", std::string(kTasks) + "/" + escaped(id) + "/cancel",
                                    {{"reason", reason}, {"as_done", as_done}}));
  }

  Answer pause_queue(Text queue, Text reason) override {
    return send("POST", queue_path(queue, "/pause"), {{"reason", reason}});
  }
  Answer resume_queue(Text queue) override {
    return send("POST", queue_path(queue, "/resume"), json::object());
  }
  Answer set_rate(Text queue, Text per_second, Text burst) override {
    json body{{"per_second", value_of(per_second)}};
    if (!burst.empty()) body["burst"] = value_of(burst);
    return send("PUT", queue_path(queue, "/rate"), body);
  }
  Answer remove_rate(Text queue) override {
    return answer_of({"DELETE", queue_path(queue, "/rate")});
  }
  Answer resize_queue(Text queue, Text partitions) override {
    return send("POST", queue_path(queue, "/resize"), {{"partitions", value_of(partitions)}});
  }
  Answer set_max_running(Text queue, Text max_running) override {
    return send("PUT", queue_path(queue, "/max_running"), {{"max_running", value_of(max_running)}});
  }
  Answer queues() override { return items(get("/api/v1/queues")); }

  Answer dead_of_group(Text queue, Text group) override {
    return items(get(queue_path(queue, "/dead?group=" + std::string(group))));
  }
  Answer dead(Text queue) override { return items(get(queue_path(queue, "/dead"))); }
  Answer groups(Text queue) override { return items(get(queue_path(queue, "/dead/groups"))); }
  Answer retry(Text id) override {
    return send("POST", std::string(kTasks) + "/" + escaped(id) + "/retry", json::object());
  }
  Answer discard(Text id) override {
    return send("POST", std::string(kTasks) + "/" + escaped(id) + "/discard", json::object());
  }

  Answer make_schedule(const Schedule& schedule) override {
    json body = fields_of(schedule.options);
    body.update(
        {{"expression", schedule.expression}, {"queue", schedule.queue}, {"type", schedule.type}});
    if (is_text(schedule.payload)) {
      body["payload"] = schedule.payload;
    } else {
      body["payload_base64"] = as_json::to_base64(schedule.payload);
    }
    return send("PUT", schedule_path(schedule.name), body);
  }
  Answer schedule(Text name) override { return get(schedule_path(name)); }
  Answer pause_schedule(Text name, Text reason) override {
    return send("POST", schedule_path(name, "/pause"), {{"reason", reason}});
  }
  Answer resume_schedule(Text name) override {
    return send("POST", schedule_path(name, "/resume"), json::object());
  }
  Answer run_schedule(Text name) override {
    Answer answer = send("POST", schedule_path(name, "/run-now"), json::object());
    if (answer.kind == Kind::kDone) answer.add(answer.document.at("task"));
    return answer;
  }
  Answer remove_schedule(Text name) override { return answer_of({"DELETE", schedule_path(name)}); }

  Answer lock(Text name) override { return get(lock_path(name)); }
  Answer resize_lock(Text name, Text slots) override {
    return send("POST", lock_path(name, "/resize"), {{"slots", value_of(slots)}});
  }
  Answer break_lock(Text name, Text slot) override {
    json body = json::object();
    if (!slot.empty()) body["slot"] = value_of(slot);
    Answer answer = send("POST", lock_path(name, "/break"), body);
    if (answer.kind == Kind::kDone) answer.document = json(answer.document.at("broken"));
    return answer;
  }

 private:
  static std::string queue_path(const std::string& name, const std::string& rest) {
    return "/api/v1/queues/" + escaped(name) + rest;
  }
  static std::string schedule_path(const std::string& name, const std::string& rest = {}) {
    return "/api/v1/schedules/" + escaped(name) + rest;
  }
  static std::string lock_path(const std::string& name, const std::string& rest = {}) {
    return "/api/v1/locks/" + escaped(name) + rest;
  }
  // A number if it is one.
  static json value_of(const std::string& text) {
    const json number = json::parse(text, nullptr, false);
    return number.is_number() ? number : json(text);
  }

  Answer get(const std::string& target) { return answer_of({"GET", target}); }
  Answer send(const std::string& method, const std::string& target, const json& body) {
    return answer_of({method, target, body.dump()});
  }
  Answer answer_of(const Asked& asked) {
    const Answered answered = gateway::api::ask(world_.gateway(), asked);
    Answer answer{kind_of_status(answered)};
    if (answer.kind == Kind::kDone) {
      answer.document = answered.document();
    } else {
      answer.text = answered.named() + ": " + answered.detail();
    }
    return answer;
  }
  static Answer items(Answer answer) {
    if (answer.kind == Kind::kDone) answer.document = json(answer.document.at("items"));
    return answer;
  }
  static Answer submitted(Answer answer) {
    if (answer.kind != Kind::kDone) return answer;
    const json list = answer.document.is_array() ? answer.document : json::array({answer.document});
    for (const json& each : list) answer.add(each.at("id"), each.at("existed"));
    return answer;
  }

  World& world_;
};

}  // namespace

std::unique_ptr<Interface> open_http(World& world) {
  return std::make_unique<HttpInterface>(world);
}

}  // namespace allot::contract
