// SPDX-License-Identifier: Apache-2.0
//
// The test kit: runs a handler over the same C ABI as a worker, without daemon and database. For
// any test framework; with GoogleTest:
//
//   #include <allot/testing.hpp>
//
//   TEST(Hello, GreetsByName) {
//     allot::test::Handler hello("hello", {{"greeting", "good day"}});
//     const auto ran = hello.run("world");
//     EXPECT_EQ(ran.outcome, allot::success());
//     EXPECT_EQ(ran.log, "info good day, world\n");
//   }
//
// The test program is compiled from the source files of the plugin and the test; alternatively it
// opens the finished .so, with allot::test::open(path).
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <ostream>
#include <stdexcept>

#include "allot/plugin.hpp"

namespace ALLOT_HIDDEN_ allot {

inline bool operator==(const Outcome& a, const Outcome& b) {
  return a.kind == b.kind && a.delay == b.delay && a.reason == b.reason && a.detail == b.detail;
}

// For GoogleTest: "retry(connection refused) after 5000 ms".
inline void PrintTo(const Outcome& outcome, std::ostream* out) {
  const char* const names[] = {"success", "retry",     "fail",       "snooze",
                               "release", "exception", "not_started"};
  const bool known = outcome.kind >= ALLOT_SUCCESS && outcome.kind <= ALLOT_NOT_STARTED;
  *out << (known ? names[outcome.kind] : "unknown outcome") << "(" << outcome.reason << ")";
  if (!outcome.detail.empty()) *out << " with the detail " << outcome.detail;
  if (outcome.delay) *out << " after " << outcome.delay->count() << " ms";
}

namespace test {

// The section [plugins.NAME]. Every value is text; a list repeats its key; a key of a nested
// section has a joined name: {"deeper.key", "value"}, {"\"with.dot\".key", "value"}.
using Settings = std::multimap<std::string, std::string>;

// Replaces the database: answers a statement and its values with rows of text, "NULL" for NULL. It
// may throw allot::CallError like the database: {ALLOT_DATABASE_ERROR, 1062, "..."}.
using Sql =
    std::function<SqlResult(const std::string& statement, const std::vector<std::string>& values)>;

// The task given to the handler. Unset fields have a harmless value.
struct Task {
  std::string payload{};
  std::string id = "0840dqg2v5n80r00";
  std::string queue = "test";
  std::uint32_t attempt = 1;
  std::uint32_t max_attempts = 10;
  // Time until stop_requested() becomes true by itself; nullopt: no limit.
  std::optional<std::chrono::milliseconds> time_left{};
  Sql sql{};                // none: every statement changes one row and returns none
  bool lease_lost = false;  // each call that writes throws LeaseLost
  std::string traceparent{};
  std::string tracestate{};
};

// The result of one run().
struct Ran {
  Outcome outcome;
  std::string log;  // the handler's lines: "warn the text\n"
  int heartbeats = 0;
  int stops_asked = 0;  // number of stop_requested() calls
  std::vector<std::pair<std::uint32_t, std::string>> progress{};
  // Writes of the handler. A worker keeps replaced_with and statements only if the outcome is
  // success.
  std::vector<std::string> checkpoints{};
  std::vector<Submission> submitted{};  // their ids are "id-1", "id-2" ...
  std::vector<Submission> replaced_with{};
  std::vector<std::string> statements{};  // each with its values: "DELETE FROM a WHERE b = ? [1]"
};

// The result of one run_many().
struct RanMany {
  std::vector<Ran> each;             // one per task; without outcomes if `error` is set
  std::optional<std::string> error;  // the call failed: a worker now calls run() for each
};

// Opens a finished plugin and never closes it. Throws std::runtime_error with the linker's message.
inline const allot_plugin& open(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : ::dlsym(library, ALLOT_DESCRIBE_SYMBOL);
  if (symbol == nullptr) throw std::runtime_error(::dlerror());
  return *reinterpret_cast<allot_describe_function>(symbol)();
}

// One handler of a plugin, created as a worker creates it at its start, and destroyed with this
// object. Any thread may call request_stop(); only one thread may call the other functions.
class Handler {
 public:
  // Creates a handler of the plugin that is linked into this program. Throws std::runtime_error
  // with the handler's message if it cannot be created, std::invalid_argument if none offers the
  // type.
  explicit Handler(const std::string& type, const Settings& settings = {})
      : Handler(*::allot_plugin_describe(), type, settings) {}

  // Creates a handler of an opened plugin.
  Handler(const allot_plugin& plugin, const std::string& type, const Settings& settings = {})
      : type_(type) {
    std::vector<allot_pair> config;
    for (const auto& [key, value] : settings) {
      config.push_back({detail::text(key), detail::text(value)});
    }
    handler_ = find(plugin, type, config);
    if (handler_->create != nullptr) create(config);
    if (handler_->begin_thread != nullptr) handler_->begin_thread(self_);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  ~Handler() {
    if (handler_->destroy != nullptr) handler_->destroy(self_);
  }

  // Makes stop_requested() true from now on, or from its call number `calls` + 1 on, with this
  // reason.
  void request_stop(int calls = 0, std::int32_t reason = ALLOT_STOP_WORKER) {
    stop_reason_ = reason;
    stop_after_ = calls;
  }

  // Runs one task to its verdict. An exception of the handler is a retry, as in a worker.
  Ran run(const Task& task) {
    Call call(*this, task);
    handler_->run(self_, &call.raw, &call.host, &call.outcome);
    call.read_outcome();
    return std::move(call.ran);
  }
  Ran run(std::string payload) {
    Task task;
    task.payload = std::move(payload);
    return run(task);
  }
  // Runs all tasks in one call of run_many(). As in a worker, such a call may only submit. Throws
  // std::invalid_argument where a worker would not call it: for fewer than 2 tasks, or more than
  // the handler takes.
  RanMany run_many(const std::vector<Task>& tasks) {
    const bool many = handler_->run_many != nullptr;
    if (!many || tasks.size() < 2 || tasks.size() > handler_->max_batch) {
      throw std::invalid_argument("the handler of '" + type_ + "' is not called with " +
                                  std::to_string(tasks.size()) + " tasks at once: it takes " +
                                  (many ? "2 to " + std::to_string(handler_->max_batch) : "one"));
    }
    std::deque<Call> calls;
    std::vector<const allot_task*> raw;
    std::vector<const allot_host*> hosts;
    std::vector<allot_outcome*> outcomes;
    for (const Task& task : tasks) {
      Call& call = calls.emplace_back(*this, task, true);
      raw.push_back(&call.raw);
      hosts.push_back(&call.host);
      outcomes.push_back(&call.outcome);
    }
    std::string words(65536, '\0');
    allot_text error = {words.data(), words.size(), 0};
    RanMany ran;
    if (handler_->run_many(self_, raw.data(), hosts.data(), tasks.size(), outcomes.data(),
                           &error) != 0) {
      ran.error = words.substr(0, error.size);
    }
    for (Call& call : calls) {
      if (!ran.error) call.read_outcome();
      ran.each.push_back(std::move(call.ran));
    }
    return ran;
  }

 private:
  void create(const std::vector<allot_pair>& config) {
    std::string buffer(4096, '\0');
    allot_text error = {buffer.data(), buffer.size(), 0};
    if (handler_->create(config.data(), config.size(), &self_, &error) != 0) {
      throw std::runtime_error(buffer.substr(0, error.size));
    }
  }

  // The host's side of one running task.
  struct Call {
    Call(Handler& of_handler, const Task& of_task, bool one_of_several = false)
        : handler(of_handler),
          task(of_task),
          several(one_of_several),
          deadline_ns(task.time_left ? now_ns() + count_ns(*task.time_left) : 0),
          raw{sizeof(allot_task),
              detail::text(task.id),
              detail::text(task.queue),
              detail::text(handler.type_),
              detail::text(task.payload),
              task.attempt,
              task.max_attempts,
              deadline_ns,
              detail::text(task.traceparent),
              detail::text(task.tracestate)},
          host{sizeof(allot_host), this,         &log,     &stop_requested,
               &heartbeat,         &checkpoint,  &submit,  &replace_with,
               &execute,           &stop_reason, &progress},
          outcome{sizeof(allot_outcome),
                  ALLOT_SUCCESS,
                  ALLOT_DELAY_BY_POLICY,
                  {reason.data(), reason.size(), 0},
                  {detail.data(), detail.size(), 0}} {}
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() = default;

    void read_outcome() {
      const std::int32_t kind = outcome.kind == ALLOT_EXCEPTION ? ALLOT_RETRY : outcome.kind;
      ran.outcome = {kind, std::nullopt, reason.substr(0, outcome.reason.size),
                     detail.substr(0, outcome.detail.size)};
      if (outcome.delay_ms >= 0) ran.outcome.delay = std::chrono::milliseconds(outcome.delay_ms);
    }

    static Call& of(void* context) { return *static_cast<Call*>(context); }
    static void log(void* context, std::int32_t level, allot_str text) {
      const char* const names[] = {"debug", "info", "warn", "error"};
      const std::lock_guard lock(of(context).mutex);
      of(context).ran.log += level >= 0 && level < 4 ? names[level] : "?";
      of(context).ran.log += " " + std::string(text.data, text.size) + "\n";
    }
    static std::int32_t stop_requested(void* context) {
      Call& call = of(context);
      const std::lock_guard lock(call.mutex);
      return call.ran.stops_asked++ >= call.handler.stop_after_ || call.is_late() ? 1 : 0;
    }
    [[nodiscard]] bool is_late() const { return deadline_ns != 0 && now_ns() >= deadline_ns; }
    static std::int32_t stop_reason(void* context) {
      Call& call = of(context);
      const std::lock_guard lock(call.mutex);
      if (call.is_late()) return ALLOT_STOP_TIME_LIMIT;
      const bool stops = call.ran.stops_asked >= call.handler.stop_after_;
      return stops ? call.handler.stop_reason_.load() : ALLOT_STOP_NONE;
    }
    static void progress(void* context, std::uint32_t percent, allot_str word) {
      const std::lock_guard lock(of(context).mutex);
      of(context).ran.progress.emplace_back(percent, text_of(word));
    }
    static void heartbeat(void* context) {
      const std::lock_guard lock(of(context).mutex);
      ++of(context).ran.heartbeats;
    }

    std::int32_t say(allot_result* result, std::int32_t code, std::uint32_t number,
                     std::string_view words) const {
      result->error_number = number;
      detail::append(result->error, words);
      return code;
    }
    std::int32_t done(allot_result* result) const {
      if (!task.lease_lost) return ALLOT_OK;
      return say(result, ALLOT_LEASE_LOST, 0, "the lease is lost");
    }
    std::int32_t not_here(allot_result* result) const {
      return say(result, ALLOT_BAD_INPUT, 0,
                 "not in a call with several tasks: only submit is allowed there");
    }
    static void take(std::vector<Submission>& to, const allot_submission* const* tasks,
                     std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        to.push_back(submission_of(*tasks[i]));
      }
    }
    static std::optional<std::string> maybe(allot_str text) {
      return text.data != nullptr ? std::optional(text_of(text)) : std::nullopt;
    }
    static std::optional<Submission::Moment> moment(std::int64_t us) {
      using std::chrono::microseconds;
      return us != 0 ? std::optional(Submission::Moment(microseconds(us))) : std::nullopt;
    }
    static Submission submission_of(const allot_submission& task) {
      using std::chrono::microseconds;
      return {text_of(task.type),
              text_of(task.payload),
              text_of(task.queue),
              task.prio,
              microseconds(task.delay_us),
              moment(task.run_at_us),
              maybe(task.unique_key),
              microseconds(task.unique_for_us > 0 ? task.unique_for_us : 0),
              maybe(task.partition_key),
              microseconds(task.expires_in_us),
              moment(task.expires_at_us),
              task.max_attempts,
              text_of(task.traceparent),
              text_of(task.tracestate),
              std::chrono::milliseconds(task.time_limit_ms)};
    }
    static std::int32_t checkpoint(void* context, allot_str payload, allot_result* result) {
      Call& call = of(context);
      const std::lock_guard lock(call.mutex);
      if (call.several) return call.not_here(result);
      if (!call.task.lease_lost) call.ran.checkpoints.push_back(text_of(payload));
      return call.done(result);
    }
    static std::int32_t submit(void* context, const allot_submission* const* tasks,
                               std::size_t count, allot_offer_function id, void* id_context,
                               allot_result* result) {
      Call& call = of(context);
      const std::lock_guard lock(call.mutex);
      if (call.task.lease_lost) return call.done(result);
      take(call.ran.submitted, tasks, count);
      for (std::size_t i = call.ran.submitted.size() - count; i < call.ran.submitted.size(); ++i) {
        const std::string name = "id-" + std::to_string(i + 1);
        if (id != nullptr) id(id_context, detail::text(name));
      }
      return ALLOT_OK;
    }
    static std::int32_t replace_with(void* context, const allot_submission* const* tasks,
                                     std::size_t count, allot_result* result) {
      Call& call = of(context);
      const std::lock_guard lock(call.mutex);
      if (call.several) return call.not_here(result);
      if (!call.task.lease_lost) take(call.ran.replaced_with, tasks, count);
      return call.done(result);
    }
    static std::int32_t execute(void* context, allot_str statement, const allot_value* values,
                                std::size_t count, allot_row_function row, void* row_context,
                                allot_result* result) {
      Call& call = of(context);
      const std::lock_guard lock(call.mutex);
      if (call.several) return call.not_here(result);
      if (call.task.lease_lost) return call.done(result);
      std::vector<std::string> texts;
      std::string line = text_of(statement);
      for (std::size_t i = 0; i < count; ++i) {
        texts.push_back(text_of(values[i]));
        line += (i == 0 ? " [" : ", ") + texts.back() + (i + 1 == count ? "]" : "");
      }
      call.ran.statements.push_back(line);
      SqlResult answer;
      answer.affected = 1;
      try {
        if (call.task.sql) answer = call.task.sql(text_of(statement), texts);
      } catch (const CallError& refused) {
        return call.say(result, refused.code(), refused.number(), refused.what());
      }
      result->affected = answer.affected;
      result->insert_id = answer.insert_id;
      for (const SqlResult::Row& one : answer.rows) {
        std::vector<allot_str> fields;
        for (const auto& field : one) {
          fields.push_back(field ? detail::text(*field) : allot_str{nullptr, 0});
        }
        if (row != nullptr) row(row_context, fields.data(), fields.size());
      }
      return ALLOT_OK;
    }

    Handler& handler;
    const Task& task;
    const bool several;  // in one call
    const std::uint64_t deadline_ns;
    std::mutex mutex;
    Ran ran{};
    std::string reason = std::string(65536, '\0');
    std::string detail = std::string(65536, '\0');
    const allot_task raw;
    const allot_host host;
    allot_outcome outcome;
  };

  static std::string text_of(const allot_str& text) { return {text.data, text.size}; }
  static std::string text_of(const allot_value& value) {
    switch (value.kind) {
      case ALLOT_INT:
        return std::to_string(value.int_value);
      case ALLOT_UINT:
        return std::to_string(value.uint_value);
      case ALLOT_DOUBLE:
        return std::to_string(value.double_value);
      case ALLOT_TEXT:
      case ALLOT_BYTES:
        return text_of(value.text);
      default:
        return "NULL";
    }
  }
  static std::uint64_t count_ns(std::chrono::nanoseconds time) {
    return static_cast<std::uint64_t>(time.count());
  }
  static std::uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
  }
  static void collect(void* types, allot_str type) {
    static_cast<std::vector<std::string>*>(types)->emplace_back(type.data, type.size);
  }
  // All types of a handler. Throws if the handler rejects the configuration.
  static std::vector<std::string> types_of(const allot_handler& handler,
                                           const std::vector<allot_pair>& config) {
    std::vector<std::string> types;
    if (handler.type.size > 0) collect(&types, handler.type);
    if (handler.types == nullptr) return types;
    std::string buffer(4096, '\0');
    allot_text error = {buffer.data(), buffer.size(), 0};
    if (handler.types(config.data(), config.size(), &collect, &types, &error) != 0) {
      throw std::runtime_error(buffer.substr(0, error.size));
    }
    return types;
  }
  static const allot_handler* find(const allot_plugin& plugin, const std::string& type,
                                   const std::vector<allot_pair>& config) {
    std::string offered;
    const allot_handler* best = nullptr;
    std::size_t matched = 0;
    for (std::size_t i = 0; i < plugin.handler_count; ++i) {
      for (const std::string& one : types_of(*plugin.handlers[i], config)) {
        if (one == type) return plugin.handlers[i];
        offered += " '" + one + "'";
        if (one.size() < 3 || one.back() != '*' || one.size() <= matched) continue;
        if (type.size() < one.size() || type.compare(0, one.size() - 1, one, 0, one.size() - 1)) {
          continue;
        }
        best = plugin.handlers[i];
        matched = one.size();
      }
    }
    if (best != nullptr) return best;
    throw std::invalid_argument("no handler for '" + type + "'; offered:" + offered);
  }

  std::string type_;
  const allot_handler* handler_ = nullptr;
  void* self_ = nullptr;
  std::atomic<int> stop_after_{INT32_MAX};
  std::atomic<std::int32_t> stop_reason_{ALLOT_STOP_WORKER};
};

}  // namespace test
}  // namespace allot
