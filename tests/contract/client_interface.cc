// SPDX-License-Identifier: Apache-2.0
// The C++ client library; and the same in a transaction that an application has open.
#include <functional>
#include <optional>

#include "base/error.h"
#include "contract/interface.h"
#include "db/client/fixture.h"
#include "json/fields.h"

namespace allot::contract {
namespace {

Kind kind_of_error(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBadInput:
      return Kind::kBadInput;
    case ErrorKind::kUnavailable:
      return Kind::kUnavailable;
    case ErrorKind::kOutcomeUnknown:
      return Kind::kOutcomeUnknown;
    case ErrorKind::kFailed:
      return Kind::kFailed;
    case ErrorKind::kConfig:
    case ErrorKind::kRolledBack:
      break;
  }
  return Kind::kOther;
}

Answer answered(const std::function<Answer()>& call) {
  try {
    return call();
  } catch (const ClientError& error) {
    return {kind_of_error(error.kind()), error.what()};
  }
}

Answer answer_of(const std::vector<Submitted>& all) {
  Answer answer;
  for (const Submitted& each : all) answer.add(each.id, each.existed);
  return answer;
}

std::uint32_t number_of(const std::string& text) {
  std::size_t end = 0;
  const unsigned long number = std::stoul(text, &end);
  if (end != text.size() || text.front() == '-') throw Error("not a number: " + text);
  return static_cast<std::uint32_t>(number);
}

using Set = void (*)(SubmitOptions&, const std::string&);
const std::map<std::string, Set>& setters() {
  static const std::map<std::string, Set> kAll{
      {"prio", [](SubmitOptions& to, const std::string& text) { to.prio = number_of(text); }},
      {"delay", [](SubmitOptions& to,
                   const std::string& text) { to.delay = as_json::parse_delay("delay", text); }},
      {"run_at",
       [](SubmitOptions& to, const std::string& text) {
         to.run_at = as_json::parse_moment("run_at", text);
       }},
      {"unique_key", [](SubmitOptions& to, const std::string& text) { to.unique_key = text; }},
      {"unique_for",
       [](SubmitOptions& to, const std::string& text) {
         to.unique_for = as_json::parse_delay("unique_for", text);
       }},
      {"partition_key",
       [](SubmitOptions& to, const std::string& text) { to.partition_key = text; }},
      {"expires_in",
       [](SubmitOptions& to, const std::string& text) {
         to.expires_in = as_json::parse_delay("expires_in", text);
       }},
      {"expires_at",
       [](SubmitOptions& to, const std::string& text) {
         to.expires_at = as_json::parse_moment("expires_at", text);
       }},
      {"max_attempts",
       [](SubmitOptions& to, const std::string& text) { to.max_attempts = number_of(text); }},
      {"max_losses",
       [](SubmitOptions& to, const std::string& text) { to.max_losses = number_of(text); }},
      {"label", [](SubmitOptions& to, const std::string& text) { to.label = text; }},
      {"time_limit",
       [](SubmitOptions& to, const std::string& text) {
         to.time_limit = std::chrono::duration_cast<std::chrono::milliseconds>(
             as_json::parse_delay("time_limit", text));
       }},
      {"compress_above",
       [](SubmitOptions& to, const std::string& text) { to.compress_above = number_of(text); }},
      {"traceparent", [](SubmitOptions& to, const std::string& text) { to.traceparent = text; }},
      {"tracestate", [](SubmitOptions& to, const std::string& text) { to.tracestate = text; }}};
  return kAll;
}

// Nullopt: the program would not compile.
std::optional<NewTask> task_of(const Task& task) {
  NewTask made{.queue = task.queue, .type = task.type, .payload = task.payload};
  for (const auto& [name, text] : task.options) {
    const auto set = setters().find(name);
    if (set == setters().end()) return std::nullopt;
    try {
      set->second(made.options, text);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }
  return made;
}

std::vector<NewTask> tasks_of(const std::vector<Task>& tasks) {
  std::vector<NewTask> all;
  for (const Task& each : tasks) all.push_back(task_of(each).value());
  return all;
}

std::string word_of(TaskState state) {
  const bool waits = state == TaskState::kDelayed || state == TaskState::kLeased;
  return waits ? "waiting" : name_of(state);
}

class ClientInterface : public Interface {
 public:
  explicit ClientInterface(World& world) : world_(world) {}

  [[nodiscard]] bool takes(const Task& task) const override { return task_of(task).has_value(); }

  Answer submit(const Task& task) override {
    return answered([&] { return answer_of({world_.client().submit(task_of(task).value())}); });
  }

  Answer submit_many(const std::vector<Task>& tasks) override {
    return answered([&] { return answer_of(world_.client().submit_many(tasks_of(tasks))); });
  }

  Answer state(Text id) override {
    return answered([&]() -> Answer {
      const auto info = world_.client().get(id);
      if (!info) return {.kind = Kind::kFailed, .text = "gone"};
      return {.word = word_of(info->state)};
    });
  }

  Answer payload(Text id) override {
    return answered([&]() -> Answer { return {.word = world_.client().get(id).value().payload}; });
  }

  Answer find(Text queue, Text unique_key) override {
    return answered([&]() -> Answer {
      const auto owner = world_.client().find(queue, unique_key);
      if (!owner) return {.kind = Kind::kFailed, .text = "none"};
      return {.made = {{owner->id, true}}, .word = word_of(owner->state)};
    });
  }

  Answer cancel(Text id, Text reason, bool as_done) override {
    return answered([&]() -> Answer {
      switch (world_.client().cancel(id, reason, {.as_done = as_done})) {
        case CancelResult::kCancelled:
        case CancelResult::kMayRun:
          return {.word = "cancelled"};
        case CancelResult::kRequested:
          return {.word = "requested"};
        case CancelResult::kDead:
          return {.kind = Kind::kFailed, .word = "dead"};
        case CancelResult::kGone:
          return {.kind = Kind::kFailed, .word = "gone"};
        case CancelResult::kConflict:
          break;
      }
      return {.kind = Kind::kFailed, .word = "conflict"};
    });
  }

  Answer take_lock(Text name, Text slots, Text ttl) override {
    return answered([&]() -> Answer {
      LockOptions options;
      if (!slots.empty()) options.slots = number_of(slots);
      if (!ttl.empty()) {
        options.ttl =
            std::chrono::duration_cast<std::chrono::milliseconds>(as_json::parse_delay("ttl", ttl));
      }
      auto lock = world_.client().lock(name, options);
      if (!lock) return {.kind = Kind::kFailed, .text = "held"};
      const std::uint64_t token = lock->token();
      locks_.emplace(token, std::move(*lock));
      return {.number = token};
    });
  }

  Answer release_lock(Text /*name*/, std::uint64_t token) override {
    const auto lock = locks_.find(token);
    if (lock == locks_.end() || !lock->second.release()) return {Kind::kBadInput, "not held"};
    return {};
  }

 protected:
  World& world_;
  std::map<std::uint64_t, Lock> locks_;
};

// The session reads a quote in another way, and has other bytes in its literals.
class TransactionInterface final : public ClientInterface {
 public:
  explicit TransactionInterface(World& world) : ClientInterface(world), app_(world.name()) {
    app_.run("SET NAMES gbk");
    app_.run("SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'");
  }

  Answer submit(const Task& task) override {
    return within([&] {
      return answer_of({world_.client().submit_in(app_.handle(), task_of(task).value())});
    });
  }

  Answer submit_many(const std::vector<Task>& tasks) override {
    return within(
        [&] { return answer_of(world_.client().submit_many_in(app_.handle(), tasks_of(tasks))); });
  }

 private:
  Answer within(const std::function<Answer()>& call) {
    app_.run("BEGIN");
    Answer answer = answered(call);
    app_.run("COMMIT");
    return answer;
  }

  client::Application app_;
};

}  // namespace

std::unique_ptr<Interface> open_client(World& world) {
  return std::make_unique<ClientInterface>(world);
}

std::unique_ptr<Interface> open_transaction(World& world) {
  return std::make_unique<TransactionInterface>(world);
}

}  // namespace allot::contract
