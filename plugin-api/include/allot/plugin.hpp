// SPDX-License-Identifier: Apache-2.0
//
// The C++20 SDK for Allot plugins: header only, over the C ABI in allot/plugin.h.
//
//   #include <allot/plugin.hpp>
//
//   class Hello : public allot::Handler {
//    public:
//     allot::Outcome run(allot::Context& ctx) override {
//       ctx.info("hello, " + std::string(ctx.payload()));
//       return allot::success();
//     }
//   };
//   ALLOT_HANDLER("hello", Hello)
//
// An exception that leaves run() is a retry with its class and message.
#pragma once

#include <cxxabi.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "allot/calls.hpp"
#include "allot/plugin.h"

namespace ALLOT_HIDDEN_ allot {

// The verdict on a task. Create it with success(), retry(), fail(), snooze(), release() or
// not_started().
struct Outcome {
  std::int32_t kind = ALLOT_SUCCESS;
  std::optional<std::chrono::milliseconds> delay;
  std::string reason;
  // Output or stack trace of a failed attempt (allot_outcome in plugin.h).
  std::string detail{};
};

// The task is done and is acknowledged.
inline Outcome success() {
  return {};
}
// The attempt failed: the next one follows after `delay`, or as the policy of the type or queue
// says.
inline Outcome retry(std::string reason,
                     std::optional<std::chrono::milliseconds> delay = std::nullopt) {
  return {ALLOT_RETRY, delay, std::move(reason)};
}
// The task can never succeed: it is dead, with this reason.
inline Outcome fail(std::string reason) {
  return {ALLOT_FAIL, std::nullopt, std::move(reason)};
}
// Not now: the task runs again after `delay`. Not a failure; charges no attempt.
inline Outcome snooze(std::chrono::milliseconds delay, std::string reason = {}) {
  return {ALLOT_SNOOZE, std::max(delay, std::chrono::milliseconds(0)), std::move(reason)};
}
// Not here: the worker gives the task back. It runs again at once, behind the tasks already due,
// and no attempt is charged. To wait for something, use snooze().
inline Outcome release(std::string reason = {}) {
  return {ALLOT_RELEASE, std::nullopt, std::move(reason)};
}

// The work could not start, through no fault of the task: its program cannot be started, or its
// server is full. A retry that charges no attempt, up to 100 times for one task.
inline Outcome not_started(std::string reason,
                           std::optional<std::chrono::milliseconds> delay = std::nullopt) {
  return {ALLOT_NOT_STARTED, delay, std::move(reason)};
}

// The section [plugins.NAME] of the configuration, or a nested section. Every value is text. Valid
// only during the call that received it.
class Config {
 public:
  Config(const allot_pair* pairs, std::size_t count, std::string prefix = {})
      : pairs_(pairs), count_(count), prefix_(std::move(prefix)) {}

  // The value of `key`, the first element of a list, or `fallback` if the key is not set.
  [[nodiscard]] std::string get(std::string_view key, std::string_view fallback = {}) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (is(pairs_[i], key)) return value_of(pairs_[i]);
    }
    return std::string(fallback);
  }
  // The elements of a list, or the only value; empty if the key is not set.
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count_; ++i) {
      if (is(pairs_[i], key)) values.push_back(value_of(pairs_[i]));
    }
    return values;
  }
  // The nested section `name`; empty if it does not exist.
  [[nodiscard]] Config section(std::string_view name) const {
    return {pairs_, count_, prefix_ + quoted(name) + "."};
  }
  // All keys and nested sections, each once.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::string_view key(pairs_[i].key.data, pairs_[i].key.size);
      if (key.substr(0, prefix_.size()) != prefix_) continue;
      const std::string name = first_part(key.substr(prefix_.size()));
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    }
    return found;
  }

 private:
  static std::string value_of(const allot_pair& pair) { return {pair.value.data, pair.value.size}; }
  [[nodiscard]] bool is(const allot_pair& pair, std::string_view key) const {
    const std::string_view whole(pair.key.data, pair.key.size);
    if (whole.substr(0, prefix_.size()) != prefix_) return false;
    return whole.substr(prefix_.size()) == quoted(key);
  }
  // Quotes a name as one part of a joined key.
  static std::string quoted(std::string_view name) {
    if (!name.empty() && name.find_first_of(".\"\\") == std::string_view::npos) {
      return std::string(name);
    }
    std::string text = "\"";
    for (const char c : name) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    return text + '"';
  }
  static std::string first_part(std::string_view key) {
    if (key.substr(0, 1) != "\"") return std::string(key.substr(0, key.find('.')));
    std::string name;
    for (std::size_t i = 1; i < key.size() && key[i] != '"'; ++i) {
      if (key[i] == '\\' && i + 1 < key.size()) ++i;
      name += key[i];
    }
    return name;
  }

  const allot_pair* pairs_;
  std::size_t count_;
  std::string prefix_;
};

// The task and its worker, during one run() or run_many(). Any thread may call any function.
class Context {
 public:
  Context(const allot_task& task, const allot_host& host) : task_(task), host_(host) {}

  [[nodiscard]] std::string_view id() const { return view(task_.id); }
  [[nodiscard]] std::string_view queue() const { return view(task_.queue); }
  [[nodiscard]] std::string_view type() const { return view(task_.type); }
  [[nodiscard]] std::string_view payload() const { return view(task_.payload); }
  [[nodiscard]] std::uint32_t attempt() const { return task_.attempt; }  // from 1
  [[nodiscard]] std::uint32_t max_attempts() const { return task_.max_attempts; }
  // The task's trace in W3C Trace Context form, for requests of the handler. Empty: no trace. Tasks
  // that the handler submits belong to this trace automatically.
  [[nodiscard]] std::string_view traceparent() const { return view(task_.traceparent); }
  [[nodiscard]] std::string_view tracestate() const { return view(task_.tracestate); }

  // True if the daemon stops, the time limit is near, or the lease is uncertain: the handler should
  // end soon.
  [[nodiscard]] bool stop_requested() const { return host_.stop_requested(host_.context) != 0; }
  // The reason: ALLOT_STOP_CANCELLED, ALLOT_STOP_TIME_LIMIT, ALLOT_STOP_LEASE or ALLOT_STOP_WORKER;
  // ALLOT_STOP_NONE without a stop.
  [[nodiscard]] std::int32_t stop_reason() const { return host_.stop_reason(host_.context); }
  // Remaining time of the task, at least 0; at 0, stop_requested() is true. Use it as the time
  // limit of services that the handler calls. nanoseconds::max() without a limit.
  [[nodiscard]] std::chrono::nanoseconds time_left() const {
    if (task_.soft_deadline_ns == 0) return std::chrono::nanoseconds::max();
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto now_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                        static_cast<std::uint64_t>(now.tv_nsec);
    if (now_ns >= task_.soft_deadline_ns) return std::chrono::nanoseconds::zero();
    return std::chrono::nanoseconds(task_.soft_deadline_ns - now_ns);
  }
  // Reports progress, as a handler with kProgressEvery (below) must.
  void heartbeat() const { host_.heartbeat(host_.context); }
  // Shows progress to people: 0 to 100, and a word of up to 47 bytes. Counts as a heartbeat.
  void progress(std::uint32_t percent, std::string_view word = {}) const {
    host_.progress(host_.context, percent, {word.data(), word.size()});
  }

  // Replaces the task's payload: further attempts start from it. It is stored when the call
  // returns, whatever happens later; payload() of this run does not change. This call and the four
  // below throw CallError or LeaseLost. run_many() may call only submit and submit_many.
  void checkpoint(std::string_view payload) const {
    detail::Answer answer;
    answer.check(host_.checkpoint(host_.context, {payload.data(), payload.size()}, answer.out()));
  }
  // Submits at once, whatever the outcome of this task: a repeated attempt submits again. Returns
  // the id of the new task, or of the task that has its unique key.
  std::string submit(const Submission& task) const { return submit_many({task}).at(0); }
  // Submits all or none.
  std::vector<std::string> submit_many(const std::vector<Submission>& tasks) const {
    std::vector<std::string> ids;
    const detail::Given given(tasks);
    detail::Answer answer;
    answer.check(
        host_.submit(host_.context, given.list.data(), tasks.size(), &take_id, &ids, answer.out()));
    return ids;
  }
  // Submits `tasks` in the transaction that acknowledges this task, if run() ends with success;
  // otherwise never. Tasks of several calls add up.
  void replace_with(const std::vector<Submission>& tasks) const {
    const detail::Given given(tasks);
    detail::Answer answer;
    answer.check(host_.replace_with(host_.context, given.list.data(), tasks.size(), answer.out()));
  }
  // Runs the handler's SQL in the same transaction.
  [[nodiscard]] Transaction transaction() const { return Transaction(host_); }

  void debug(std::string_view text) const { log(ALLOT_LOG_DEBUG, text); }
  void info(std::string_view text) const { log(ALLOT_LOG_INFO, text); }
  void warn(std::string_view text) const { log(ALLOT_LOG_WARN, text); }
  void error(std::string_view text) const { log(ALLOT_LOG_ERROR, text); }
  void log(std::int32_t level, std::string_view text) const {
    host_.log(host_.context, level, {text.data(), text.size()});
  }

 private:
  static void take_id(void* ids, allot_str id) {
    static_cast<std::vector<std::string>*>(ids)->emplace_back(id.data, id.size);
  }
  static std::string_view view(const allot_str& text) { return {text.data, text.size}; }
  const allot_task& task_;
  const allot_host& host_;
};

// A handler of one task type. One object per worker, created once; run() is called for one task at
// a time, unless the class sets kConcurrent. The constructor takes `const allot::Config&` or
// nothing, and may throw: the worker then does not start, and reports the message.
//
// Visible, because g++ warns if a handler class is more visible than its base. It has no data that
// two plugins could share.
class [[gnu::visibility("default")]] Handler {
 public:
  virtual ~Handler() = default;
  virtual Outcome run(Context & ctx) = 0;

  // Called once at worker start by each thread that may call run(). For per-thread resources, such
  // as a connection or a process. Threads of a kConcurrent handler call it at once. An exception is
  // ignored: run() reports the error.
  virtual void begin_thread() {}

  // Runs 2 to kMaxBatch tasks of one type in one call, and returns their outcomes in the same
  // order. Called only if the class sets kMaxBatch. An exception, or a wrong number of outcomes,
  // invalidates the whole call: the worker then calls run() for each task at once, and charges no
  // attempt. Therefore fail in this way only while the work so far may be repeated.
  virtual std::vector<Outcome> run_many([[maybe_unused]] std::span<Context> tasks) {
    return {};
  }

  // A class may override this constant to promise how often its run() calls ctx.heartbeat():
  //   static constexpr std::chrono::seconds kProgressEvery{30};
  // A run() that is silent for longer hangs: its worker is killed, and the attempt is charged. Zero
  // promises nothing.
  ALLOT_HIDDEN_ static constexpr std::chrono::milliseconds kProgressEvery{0};

  // A class may override this constant if several threads may call run() at once, for other tasks,
  // on one object: it must lock its shared data. A pool with `concurrency` makes use of it.
  //   static constexpr bool kConcurrent = true;
  ALLOT_HIDDEN_ static constexpr bool kConcurrent = false;

  // A class may override this constant with the number of tasks that its run_many() takes, at most
  // 64.
  //   static constexpr std::size_t kMaxBatch = 50;
  ALLOT_HIDDEN_ static constexpr std::size_t kMaxBatch = 1;
};

namespace detail {

inline allot_str text(std::string_view from) {
  return {from.data(), from.size()};
}

inline void append(allot_text& to, std::string_view from) {
  const std::size_t room = to.capacity - to.size;
  const std::size_t size = from.size() < room ? from.size() : room;
  if (size > 0) std::memcpy(to.data + to.size, from.data(), size);
  to.size += size;
}

struct Registry {
  const char* name = "";
  const char* version = "";
  std::deque<allot_handler> handlers;  // a deque, because its elements never move
  std::vector<const allot_handler*> list;
};
inline Registry& registry() {
  static Registry the_one;
  return the_one;
}

template <typename T>
std::int32_t create(const allot_pair* config, std::size_t count, void** self, allot_text* error) {
  static_assert(std::is_base_of_v<Handler, T>,
                "ALLOT_HANDLER: the class must be an allot::Handler");
  try {
    if constexpr (std::is_constructible_v<T, const Config&>) {
      *self = static_cast<Handler*>(std::make_unique<T>(Config(config, count)).release());
    } else {
      *self = static_cast<Handler*>(std::make_unique<T>().release());
    }
    return 0;
  } catch (const std::exception& thrown) {
    append(*error, thrown.what());
  } catch (...) {
    append(*error, "the constructor threw an object that is not a std::exception");
  }
  return 1;
}

inline void give(const Outcome& outcome, allot_outcome& result) {
  result.kind = outcome.kind;
  result.delay_ms = outcome.delay ? outcome.delay->count() : ALLOT_DELAY_BY_POLICY;
  append(result.reason, outcome.reason);
  append(result.detail, outcome.detail);
}

// Appends the class of the current exception. Allocates nothing if memory is exhausted.
inline void append_class(allot_text& to) noexcept {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return append(to, "exception");
  int status = 0;
  char* const name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  append(to, name != nullptr ? name : type->name());
  std::free(name);
}

// Allocates nothing after the handler has thrown, because memory may be exhausted.
inline void run(void* self, const allot_task* task, const allot_host* host,
                allot_outcome* result) noexcept {
  try {
    Context ctx(*task, *host);
    give(static_cast<Handler*>(self)->run(ctx), *result);
    return;
  } catch (const std::exception& thrown) {
    append_class(result->reason);
    append(result->reason, ": ");
    append(result->reason, thrown.what());
  } catch (...) {
    append_class(result->reason);
  }
  result->kind = ALLOT_EXCEPTION;
}

// Like run(), allocates nothing after the handler has thrown.
inline std::int32_t run_many(void* self, const allot_task* const* tasks,
                             const allot_host* const* hosts, std::size_t count,
                             allot_outcome* const* outcomes, allot_text* error) noexcept {
  try {
    std::vector<Context> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(*tasks[i], *hosts[i]);
    const std::vector<Outcome> said = static_cast<Handler*>(self)->run_many(all);
    if (said.size() == count) {
      for (std::size_t i = 0; i < count; ++i) give(said[i], *outcomes[i]);
      return 0;
    }
    append(*error, "run_many returned " + std::to_string(said.size()) + " outcomes for " +
                       std::to_string(count) + " tasks");
  } catch (const std::exception& thrown) {
    append_class(*error);
    append(*error, ": ");
    append(*error, thrown.what());
  } catch (...) {
    append_class(*error);
  }
  return 1;
}

inline void begin_thread(void* self) noexcept {
  try {
    static_cast<Handler*>(self)->begin_thread();
  } catch (...) {
  }
}

inline void destroy(void* self) {
  delete static_cast<Handler*>(self);
}

template <typename T>
std::int32_t types(const allot_pair* config, std::size_t count, allot_offer_function offer,
                   void* context, allot_text* error) {
  try {
    for (const std::string& type : T::types(Config(config, count))) offer(context, text(type));
    return 0;
  } catch (const std::exception& thrown) {
    append(*error, thrown.what());
  } catch (...) {
    append(*error, "types() threw an object that is not a std::exception");
  }
  return 1;
}

template <typename T>
constexpr std::uint64_t progress_every_ms() {
  constexpr std::chrono::milliseconds kPromised = T::kProgressEvery;
  static_assert(kPromised.count() >= 0, "kProgressEvery must not be negative");
  return static_cast<std::uint64_t>(kPromised.count());
}

// Without this check a class with kMaxBatch but without run_many() would compile unnoticed.
template <typename T>
constexpr std::uint64_t max_batch() {
  static_assert(
      T::kMaxBatch <= 1 || !std::is_same_v<decltype(&T::run_many), decltype(&Handler::run_many)>,
      "kMaxBatch requires a class with its own run_many()");
  return T::kMaxBatch;
}

inline bool add(const allot_handler& handler) {
  Registry& all = registry();
  all.list.push_back(&all.handlers.emplace_back(handler));
  return true;
}
template <typename T>
bool add(const char* type) {
  return add({sizeof(allot_handler), text(type), text({}), &create<T>, &run, &destroy, nullptr,
              progress_every_ms<T>(), T::kConcurrent ? 1U : 0U, max_batch<T>(),
              max_batch<T>() > 1 ? &run_many : nullptr, &begin_thread});
}
template <typename T>
bool add_configured() {
  return add({sizeof(allot_handler), text({}), text({}), &create<T>, &run, &destroy, &types<T>,
              progress_every_ms<T>(), T::kConcurrent ? 1U : 0U, max_batch<T>(),
              max_batch<T>() > 1 ? &run_many : nullptr, &begin_thread});
}

inline bool set_name(const char* name, const char* version) {
  registry().name = name;
  registry().version = version;
  return true;
}

inline const allot_plugin* describe() {
  static const allot_plugin plugin = {
      ALLOT_PLUGIN_MAGIC,     ALLOT_ABI_VERSION,        sizeof(allot_plugin),
      text(registry().name),  text(registry().version), registry().list.data(),
      registry().list.size(),
  };
  return &plugin;
}

}  // namespace detail
}  // namespace allot

// Emitted by every file that includes this header; the linker merges the copies. It has no static
// data: the function is visible, so plugins would share it.
extern "C" ALLOT_EXPORT inline const allot_plugin* allot_plugin_describe(void) {
  return allot::detail::describe();
}

#define ALLOT_JOIN_(a, b) a##b
#define ALLOT_JOIN(a, b) ALLOT_JOIN_(a, b)

// Offers `Class` for tasks of type `type`. Use it at namespace scope, once for each type. A class
// may serve several types, with one object for each.
#define ALLOT_HANDLER(type, Class)                                                         \
  namespace {                                                                              \
  [[maybe_unused]] const bool ALLOT_JOIN(allot_handler_,                                   \
                                         __COUNTER__) = ::allot::detail::add<Class>(type); \
  }

// Offers `Class` for the types that the configuration names, as listed by its function
//   static std::vector<std::string> types(const allot::Config& config);
// which may throw if the configuration is wrong. One object serves them all, and ctx.type() returns
// the type; no object exists for an empty list.
#define ALLOT_CONFIGURED_HANDLER(Class)                                                           \
  namespace {                                                                                     \
  [[maybe_unused]] const bool ALLOT_JOIN(allot_handler_,                                          \
                                         __COUNTER__) = ::allot::detail::add_configured<Class>(); \
  }

// Optional: the plugin's name (and so its section in the configuration) and version.
#define ALLOT_PLUGIN(name, version)                                                               \
  namespace {                                                                                     \
  [[maybe_unused]] const bool ALLOT_JOIN(allot_plugin_,                                           \
                                         __COUNTER__) = ::allot::detail::set_name(name, version); \
  }
