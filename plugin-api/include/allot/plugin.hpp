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

// The verdict on a task. success(), retry(), fail(), snooze(), release() and
// not_started() make it.
struct Outcome {
  std::int32_t kind = ALLOT_SUCCESS;
  std::optional<std::chrono::milliseconds> delay;
  std::string reason;
  // Of a failed attempt: the output or the stack trace of what failed (allot_outcome in plugin.h).
  std::string detail{};
};

// The task is done and is acknowledged.
inline Outcome success() {
  return {};
}
// The attempt failed: the next one comes after `delay`, or when the policy of the type or queue
// says.
inline Outcome retry(std::string reason,
                     std::optional<std::chrono::milliseconds> delay = std::nullopt) {
  return {ALLOT_RETRY, delay, std::move(reason)};
}
// The task never succeeds: it is dead, with this reason.
inline Outcome fail(std::string reason) {
  return {ALLOT_FAIL, std::nullopt, std::move(reason)};
}
// Not now: the task runs again after `delay`. This is no failure and charges no attempt.
inline Outcome snooze(std::chrono::milliseconds delay, std::string reason = {}) {
  return {ALLOT_SNOOZE, std::max(delay, std::chrono::milliseconds(0)), std::move(reason)};
}
// Not here: the worker gives the task back, to run again at once behind the tasks that are due
// already. No attempt is charged. To wait for something, use snooze() instead.
inline Outcome release(std::string reason = {}) {
  return {ALLOT_RELEASE, std::nullopt, std::move(reason)};
}

// What does the work could not begin, which is not the task's fault: a program that cannot be
// started, a server that takes no more at present. As a retry, but no attempt is charged, up to 100
// times for one task.
inline Outcome not_started(std::string reason,
                           std::optional<std::chrono::milliseconds> delay = std::nullopt) {
  return {ALLOT_NOT_STARTED, delay, std::move(reason)};
}

// The section [plugins.NAME] of the configuration, or a section inside it. Every value is text. It
// is valid during the call that got it.
class Config {
 public:
  Config(const allot_pair* pairs, std::size_t count, std::string prefix = {})
      : pairs_(pairs), count_(count), prefix_(std::move(prefix)) {}

  // The value of `key`, or `fallback` when it is not set; the first element of a list.
  [[nodiscard]] std::string get(std::string_view key, std::string_view fallback = {}) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (is(pairs_[i], key)) return value_of(pairs_[i]);
    }
    return std::string(fallback);
  }
  // The elements of a list, or the only value; empty when the key is not set.
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count_; ++i) {
      if (is(pairs_[i], key)) values.push_back(value_of(pairs_[i]));
    }
    return values;
  }
  // The section `name` inside this one; empty when there is none.
  [[nodiscard]] Config section(std::string_view name) const {
    return {pairs_, count_, prefix_ + quoted(name) + "."};
  }
  // The keys and sections in this one, each once.
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
  // The trace of the task, as W3C Trace Context writes it: for the requests that the handler makes.
  // Empty: it has none. What the handler submits is in this trace without its doing.
  [[nodiscard]] std::string_view traceparent() const { return view(task_.traceparent); }
  [[nodiscard]] std::string_view tracestate() const { return view(task_.tracestate); }

  // True when the daemon stops, the time limit is near, or the lease is in doubt: the handler
  // should end soon.
  [[nodiscard]] bool stop_requested() const { return host_.stop_requested(host_.context) != 0; }
  // Why: ALLOT_STOP_CANCELLED, ALLOT_STOP_TIME_LIMIT, ALLOT_STOP_LEASE or ALLOT_STOP_WORKER;
  // without a stop ALLOT_STOP_NONE.
  [[nodiscard]] std::int32_t stop_reason() const { return host_.stop_reason(host_.context); }
  // What is left of the task's time, at least 0; when nothing is left, stop_requested() is true.
  // Use it as time limit for services that the handler calls. Without a limit it is
  // nanoseconds::max().
  [[nodiscard]] std::chrono::nanoseconds time_left() const {
    if (task_.soft_deadline_ns == 0) return std::chrono::nanoseconds::max();
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto now_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                        static_cast<std::uint64_t>(now.tv_nsec);
    if (now_ns >= task_.soft_deadline_ns) return std::chrono::nanoseconds::zero();
    return std::chrono::nanoseconds(task_.soft_deadline_ns - now_ns);
  }
  // Reports progress, which keeps the promise of a handler with kProgressEvery (below).
  void heartbeat() const { host_.heartbeat(host_.context); }
  // Shows people how far the task is: 0 to 100, and a word of up to 47 bytes. Counts as a
  // heartbeat.
  void progress(std::uint32_t percent, std::string_view word = {}) const {
    host_.progress(host_.context, percent, {word.data(), word.size()});
  }

  // Gives the task this payload from now on: a further attempt starts from it. It is stored when
  // the call returns, whatever happens later; payload() of this run stays as it is. This call and
  // the four below throw CallError or LeaseLost. run_many() may only call submit and submit_many.
  void checkpoint(std::string_view payload) const {
    detail::Answer answer;
    answer.check(host_.checkpoint(host_.context, {payload.data(), payload.size()}, answer.out()));
  }
  // Submits at once, whatever becomes of this task: a repeated attempt submits again. Returns the
  // id of the new task, or of the one that has its unique key.
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
  // else never. Several calls add up.
  void replace_with(const std::vector<Submission>& tasks) const {
    const detail::Given given(tasks);
    detail::Answer answer;
    answer.check(host_.replace_with(host_.context, given.list.data(), tasks.size(), answer.out()));
  }
  // Runs SQL of the handler in that transaction.
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

// A handler of one task type. One object per worker, made once; run() is called for one task at a
// time, unless the class says that it need not be (kConcurrent). The constructor takes `const
// allot::Config&` or nothing, and may throw: the worker then does not start, and says why.
//
// Visible, or every handler class outside an anonymous namespace would be more visible than its
// base, which g++ warns of. It holds no data that two plugins could share.
class [[gnu::visibility("default")]] Handler {
 public:
  virtual ~Handler() = default;
  virtual Outcome run(Context & ctx) = 0;

  // Called once by each thread that may call run(), before its first call: when the worker starts.
  // For what a thread keeps, such as a connection or a process. Threads of a kConcurrent handler
  // call it at once. An exception is ignored: run() says what is wrong.
  virtual void begin_thread() {}

  // Runs 2 to kMaxBatch tasks of one type in one call, and returns the outcome of each, in their
  // order. Workers call it only if the class says how many it takes (kMaxBatch). An exception, or a
  // wrong number of outcomes, counts for none of the tasks: the worker then calls run() for each,
  // at once, and charges no attempt. So end like that only while nothing was done that must not be
  // done twice.
  virtual std::vector<Outcome> run_many([[maybe_unused]] std::span<Context> tasks) {
    return {};
  }

  // A class may promise how often its run() calls ctx.heartbeat(), by a constant of its own:
  //   static constexpr std::chrono::seconds kProgressEvery{30};
  // A run() that is silent for longer hangs: its worker is killed, and the attempt is charged. Zero
  // promises nothing.
  ALLOT_HIDDEN_ static constexpr std::chrono::milliseconds kProgressEvery{0};

  // A class may say, by a constant of its own, that run() may be called by several threads at once,
  // for other tasks, on one object: what it shares it locks. A pool with `concurrency` then does.
  //   static constexpr bool kConcurrent = true;
  ALLOT_HIDDEN_ static constexpr bool kConcurrent = false;

  // A class may say, by a constant of its own, how many tasks its run_many() takes at most; 64 are
  // the most that there ever are.
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
  std::deque<allot_handler> handlers;  // a deque, because what it holds stays where it is
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
    append(*error, "the constructor threw something that is not a std::exception");
  }
  return 1;
}

inline void give(const Outcome& outcome, allot_outcome& result) {
  result.kind = outcome.kind;
  result.delay_ms = outcome.delay ? outcome.delay->count() : ALLOT_DELAY_BY_POLICY;
  append(result.reason, outcome.reason);
  append(result.detail, outcome.detail);
}

// The class of the exception in hand. Allocates nothing once memory is out.
inline void append_class(allot_text& to) noexcept {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return append(to, "exception");
  int status = 0;
  char* const name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  append(to, name != nullptr ? name : type->name());
  std::free(name);
}

// Allocates nothing once the handler has thrown, because it may have thrown for want of memory.
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

// Like run(), it allocates nothing once the handler has thrown.
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
    append(*error, "types() threw something that is not a std::exception");
  }
  return 1;
}

template <typename T>
constexpr std::uint64_t progress_every_ms() {
  constexpr std::chrono::milliseconds kPromised = T::kProgressEvery;
  static_assert(kPromised.count() >= 0, "kProgressEvery must not be negative");
  return static_cast<std::uint64_t>(kPromised.count());
}

// Without this check nobody would notice a class that says how many it takes but has no run_many().
template <typename T>
constexpr std::uint64_t max_batch() {
  static_assert(
      T::kMaxBatch <= 1 || !std::is_same_v<decltype(&T::run_many), decltype(&Handler::run_many)>,
      "kMaxBatch is for a class with a run_many() of its own");
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

// Every file that includes this header emits this function, and the linker merges them. It has
// nothing static: the function is visible, so plugins would share it.
extern "C" ALLOT_EXPORT inline const allot_plugin* allot_plugin_describe(void) {
  return allot::detail::describe();
}

#define ALLOT_JOIN_(a, b) a##b
#define ALLOT_JOIN(a, b) ALLOT_JOIN_(a, b)

// Offers `Class` for tasks of type `type`; at namespace scope, once for each type. A class may
// serve several types, with an object for each.
#define ALLOT_HANDLER(type, Class)                                                         \
  namespace {                                                                              \
  [[maybe_unused]] const bool ALLOT_JOIN(allot_handler_,                                   \
                                         __COUNTER__) = ::allot::detail::add<Class>(type); \
  }

// Offers `Class` for the types that the configuration names: those that its function
//   static std::vector<std::string> types(const allot::Config& config);
// lists, which may throw when the configuration is wrong. One object serves them all, and
// ctx.type() says which it is; there is none when nothing is listed.
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
