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
// An exception that leaves run() is a retry with its message.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "allot/calls.hpp"
#include "allot/plugin.h"

namespace ALLOT_HIDDEN_ allot {

// What became of a task. Made by success(), retry(), fail(), snooze() and release().
struct Outcome {
  std::int32_t kind = ALLOT_SUCCESS;
  std::optional<std::chrono::milliseconds> delay;
  std::string reason;
};

// Done: the task is acknowledged.
inline Outcome success() {
  return {};
}
// Not this time: another attempt after `delay`, or when the policy of its type or queue says.
inline Outcome retry(std::string reason,
                     std::optional<std::chrono::milliseconds> delay = std::nullopt) {
  return {ALLOT_RETRY, delay, std::move(reason)};
}
// Never: the task goes to the dead tasks with this reason.
inline Outcome fail(std::string reason) {
  return {ALLOT_FAIL, std::nullopt, std::move(reason)};
}
// Not now: run again after `delay`. No failure, and no attempt is charged.
inline Outcome snooze(std::chrono::milliseconds delay, std::string reason = {}) {
  return {ALLOT_SNOOZE, std::max(delay, std::chrono::milliseconds(0)), std::move(reason)};
}
// Not here: given back, to run again at once behind the tasks that are due already. No attempt is
// charged. To wait for something, snooze() instead.
inline Outcome release(std::string reason = {}) {
  return {ALLOT_RELEASE, std::nullopt, std::move(reason)};
}

// The section [plugins.NAME] of the configuration, or a section inside it. Every value is text.
// Valid during the call that it was given to.
class Config {
 public:
  Config(const allot_pair* pairs, std::size_t count, std::string prefix = {})
      : pairs_(pairs), count_(count), prefix_(std::move(prefix)) {}

  // The value of `key`, or `fallback` when it is not set; of a list the first element.
  [[nodiscard]] std::string get(std::string_view key, std::string_view fallback = {}) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (is(pairs_[i], key)) return value_of(pairs_[i]);
    }
    return std::string(fallback);
  }
  // The elements of a list, or the one value; empty when it is not set.
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count_; ++i) {
      if (is(pairs_[i], key)) values.push_back(value_of(pairs_[i]));
    }
    return values;
  }
  // The section `name` inside this one; without a key when there is none.
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
  // As one part of a joined key.
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

// The task and its worker, for the time of one run() or run_many(). Every function may be called
// from any thread.
class Context {
 public:
  Context(const allot_task& task, const allot_host& host) : task_(task), host_(host) {}

  [[nodiscard]] std::string_view id() const { return view(task_.id); }
  [[nodiscard]] std::string_view queue() const { return view(task_.queue); }
  [[nodiscard]] std::string_view type() const { return view(task_.type); }
  [[nodiscard]] std::string_view payload() const { return view(task_.payload); }
  [[nodiscard]] std::uint32_t attempt() const { return task_.attempt; }  // from 1
  [[nodiscard]] std::uint32_t max_attempts() const { return task_.max_attempts; }

  // True when the daemon stops, the time limit is near, or the lease is in doubt: end soon.
  [[nodiscard]] bool stop_requested() const { return host_.stop_requested(host_.context) != 0; }
  // What is left of the task's time, at least 0; stop_requested() is true when nothing is. Good for
  // the time limits of what the handler calls. Without a limit: nanoseconds::max().
  [[nodiscard]] std::chrono::nanoseconds time_left() const {
    if (task_.soft_deadline_ns == 0) return std::chrono::nanoseconds::max();
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto now_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                        static_cast<std::uint64_t>(now.tv_nsec);
    if (now_ns >= task_.soft_deadline_ns) return std::chrono::nanoseconds::zero();
    return std::chrono::nanoseconds(task_.soft_deadline_ns - now_ns);
  }
  // Says that progress was made: keeps the promise of a handler with kProgressEvery (below).
  void heartbeat() const { host_.heartbeat(host_.context); }

  // From now on the task has this payload: a further attempt starts from it. It stands when the
  // call returns, whatever happens then; payload() stays as it is. This and the four below throw
  // CallError or LeaseLost. In run_many() only submit and submit_many are allowed.
  void checkpoint(std::string_view payload) const {
    detail::Answer answer;
    answer.check(host_.checkpoint(host_.context, {payload.data(), payload.size()}, answer.out()));
  }
  // Submits at once, whatever becomes of this task: an attempt that is repeated submits again. The
  // id of the new task, or of the one that has its unique key.
  std::string submit(const Submission& task) const { return submit_many({task}).at(0); }
  // All or none.
  std::vector<std::string> submit_many(const std::vector<Submission>& tasks) const {
    std::vector<std::string> ids;
    const detail::Given given(tasks);
    detail::Answer answer;
    answer.check(
        host_.submit(host_.context, given.list.data(), tasks.size(), &take_id, &ids, answer.out()));
    return ids;
  }
  // Submits `tasks` in the transaction that acknowledges this one, if run() ends with success; else
  // never. Several calls add up.
  void replace_with(const std::vector<Submission>& tasks) const {
    const detail::Given given(tasks);
    detail::Answer answer;
    answer.check(host_.replace_with(host_.context, given.list.data(), tasks.size(), answer.out()));
  }
  // For SQL of the handler's own in that transaction.
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

  // Runs 2 to kMost tasks of one type in one call, and says what became of each, in their order.
  // Only of a class that says how many it takes (kMost). An exception, or another number of
  // outcomes, says nothing of any: each of them is then run by itself, with run(), at once and with
  // no attempt charged. So end like that only while nothing is done that must not be done again.
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
  //   static constexpr std::size_t kMost = 50;
  ALLOT_HIDDEN_ static constexpr std::size_t kMost = 1;
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
}

// Allocates nothing once the handler has thrown: it may have been for want of memory.
inline void run(void* self, const allot_task* task, const allot_host* host,
                allot_outcome* result) noexcept {
  try {
    Context ctx(*task, *host);
    give(static_cast<Handler*>(self)->run(ctx), *result);
    return;
  } catch (const std::exception& thrown) {
    append(result->reason, "exception: ");
    append(result->reason, thrown.what());
  } catch (...) {
    append(result->reason, "exception that is not a std::exception");
  }
  result->kind = ALLOT_EXCEPTION;
}

// As run().
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
    append(*error, "exception: ");
    append(*error, thrown.what());
  } catch (...) {
    append(*error, "exception that is not a std::exception");
  }
  return 1;
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

// That a class says how many it takes, and has no run_many() of its own, would be seen nowhere.
template <typename T>
constexpr std::uint64_t most() {
  static_assert(
      T::kMost <= 1 || !std::is_same_v<decltype(&T::run_many), decltype(&Handler::run_many)>,
      "kMost is for a class with a run_many() of its own");
  return T::kMost;
}

inline bool add(const allot_handler& handler) {
  Registry& all = registry();
  all.list.push_back(&all.handlers.emplace_back(handler));
  return true;
}
template <typename T>
bool add(const char* type) {
  return add({sizeof(allot_handler), text(type), text({}), &create<T>, &run, &destroy, nullptr,
              progress_every_ms<T>(), T::kConcurrent ? 1U : 0U, most<T>(),
              most<T>() > 1 ? &run_many : nullptr});
}
template <typename T>
bool add_configured() {
  return add({sizeof(allot_handler), text({}), text({}), &create<T>, &run, &destroy, &types<T>,
              progress_every_ms<T>(), T::kConcurrent ? 1U : 0U, most<T>(),
              most<T>() > 1 ? &run_many : nullptr});
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

// Emitted in every file that includes this header, and merged by the linker. Nothing static in
// here: this function is visible, so it would be shared between plugins.
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
