// SPDX-License-Identifier: Apache-2.0
//
// pipe: passes tasks to long-running programs. Each thread that runs tasks has one process per
// program, started with the worker. A task is a line of JSON on the program's descriptor 3, its
// verdict a line on descriptor 4, so that a stray print does no harm. docs/pipe-workers.md
// describes the lines.
//
//   [plugins.pipe.programs.shop]
//   command = ["/usr/bin/python3", "/usr/local/lib/shop/worker.py"]
//   types = ["shop.*"]
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/mutant.h"
#include "pipe/child.h"
#include "pipe/conversation.h"
#include "pipe/lines.h"
#include "pipe/settings.h"
#include "programs/section.h"

namespace pipe_plugin {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
namespace mutant = allot::mutant;

constexpr std::size_t kMaxLogged = 4096;
constexpr milliseconds kDying{1000};  // time between the end of its pipes and its exit

// The process of one program in one thread; restarts it after its exit.
class Place {
 public:
  explicit Place(const Settings& settings) : settings_(settings) {}

  // Does not wait for the hello. A task that finds no process reports the cause.
  void start_early() {
    try {
      start();
    } catch (const std::system_error&) {
    }
  }

  allot::Outcome run(const allot::Context& ctx) {
    try {
      if (auto trouble = make_ready(ctx)) return std::move(*trouble);
      return talk(ctx);
    } catch (const Stopped&) {
      end(milliseconds(0));
      return allot::retry("it was asked to stop", soon(ctx));
    } catch (const BadLine& bad) {
      return lost(ALLOT_RETRY, "it wrote an invalid line: " + std::string(bad.what()));
    } catch (const Broken& broken) {
      return lost(ALLOT_RETRY, broken.what(), ctx.stop_requested() ? soon(ctx) : std::nullopt);
    } catch (const std::system_error& error) {
      return allot::not_started(error.what());  // being replaced, or process table full
    } catch (...) {
      if (child_) end(milliseconds(0));  // the state of the program is unknown
      throw;
    }
  }

  // Asks the program to exit; end() kills it after kill_after.
  void let_go() {
    if (!child_ || leaves_since_) return;
    child_->close_input();
    leaves_since_ = Clock::now();
  }
  void end() {
    if (!child_) return;
    let_go();
    const auto left = *leaves_since_ + settings_.kill_after - Clock::now();
    end(std::chrono::ceil<milliseconds>(left));
  }

 private:
  void start() {
    child_ = std::make_unique<Child>(settings_.program);
    started_ = Clock::now();
    said_hello_ = false;
    tasks_ = 0;
  }

  // The reason why the program cannot take the task; the program has not received it.
  std::optional<allot::Outcome> make_ready(const allot::Context& ctx) {
    if (child_ && is_used_up()) let_go();
    if (leaves_since_) end();
    if (child_) drop_if_broken(ctx);
    if (!child_) start();
    if (said_hello_) return std::nullopt;
    try {
      await_hello(settings_, *child_, ctx);
      said_hello_ = true;
      return std::nullopt;
    } catch (const BadLine& bad) {
      return lost(ALLOT_NOT_STARTED, "it wrote an invalid line: " + std::string(bad.what()));
    } catch (const Broken& broken) {
      return lost(ALLOT_NOT_STARTED, broken.what());
    }
  }

  // Input before the task is unexpected: the program must not be used for this task.
  void drop_if_broken(const allot::Context& ctx) {
    child_->poll();
    const bool unasked = said_hello_ && child_->out_of_step();
    if (!child_->gone() && !unasked) return;
    ctx.info("the program '" + settings_.name + "' is started again; it had " +
             (child_->gone() ? "ended" : "written unexpectedly") +
             (said_hello_ ? " between two tasks" : " before its first task"));
    end(milliseconds(0));
  }

  allot::Outcome talk(const allot::Context& ctx) {
    child_->output().forget();
    Conversation conversation(settings_, *child_, ctx);
    allot::Outcome verdict = conversation.run();
    const std::string said = child_->output().last(kMaxLogged);
    if (!said.empty()) ctx.info(said);
    ++tasks_;
    if (conversation.was_last() || is_used_up()) let_go();
    return verdict;
  }

  [[nodiscard]] bool is_used_up() const {
    const bool served = settings_.max_tasks > 0 && !mutant::removed("pipe_max_tasks") &&
                        tasks_ >= settings_.max_tasks;
    const bool grown = settings_.max_memory_mib > 0 && !mutant::removed("pipe_max_memory") &&
                       child_->resident_mib().value_or(0) >= settings_.max_memory_mib;
    const bool old = settings_.max_age && !mutant::removed("pipe_max_age") &&
                     Clock::now() - started_ >= *settings_.max_age;
    return served || grown || old;
  }

  // Ends the program. A failure after it has received the task is charged to the task, like a crash
  // of a handler. If it exited by itself, its output is the detail.
  allot::Outcome lost(std::int32_t kind, std::string why,
                      std::optional<milliseconds> delay = std::nullopt) {
    const bool by_itself = child_->gone();
    why += "; " + child_->end(by_itself ? kDying : milliseconds(0));
    allot::Outcome outcome{kind, delay, std::move(why)};
    if (by_itself) {
      outcome.detail = child_->output().all();
    } else {
      outcome.reason = child_->output().behind(std::move(outcome.reason));
    }
    forget();
    return outcome;
  }
  // Retry delay of a task stopped because its worker exits. A task that needs more than its time
  // limit is retried with growing delays.
  static std::optional<milliseconds> soon(const allot::Context& ctx) {
    return ctx.time_left().count() > 0 ? std::optional(milliseconds(0)) : std::nullopt;
  }

  void end(milliseconds patience) {
    (void)child_->end(patience);
    forget();
  }
  void forget() {
    child_.reset();
    leaves_since_.reset();
  }

  const Settings& settings_;
  std::unique_ptr<Child> child_;
  Clock::time_point started_;
  bool said_hello_ = false;
  std::optional<Clock::time_point> leaves_since_;
  std::uint64_t tasks_ = 0;
};

// The processes of one thread.
class Places {
 public:
  explicit Places(const std::vector<Settings>& programs) {
    for (const Settings& settings : programs) {
      Place* const place = places_.emplace_back(std::make_unique<Place>(settings)).get();
      for (const std::string& type : settings.types) by_type_.emplace(type, place);
    }
  }
  void start_early() {
    for (const auto& place : places_) place->start_early();
  }
  // A handler is called only for the types that it listed.
  Place& of(std::string_view type) { return **programs::find_by_type(by_type_, type); }
  // Ends all processes in parallel.
  void end() {
    for (const auto& place : places_) place->let_go();
    for (const auto& place : places_) place->end();
  }

 private:
  std::vector<std::unique_ptr<Place>> places_;
  std::map<std::string, Place*> by_type_;  // by type or prefix
};

// The places of a thread, by handler. A thread ends its processes in an orderly way before it ends;
// otherwise the kernel would kill them with it, because a thread of a pool with `concurrency` ends
// before the handler is destroyed.
class ThreadPlaces {
 public:
  ThreadPlaces() = default;
  ThreadPlaces(const ThreadPlaces&) = delete;
  ThreadPlaces& operator=(const ThreadPlaces&) = delete;
  ~ThreadPlaces() {
    for (const auto& [handler, weak] : places_) {
      if (const auto places = weak.lock()) places->end();
    }
  }
  std::weak_ptr<Places>& of(const void* handler) { return places_[handler]; }

 private:
  std::map<const void*, std::weak_ptr<Places>> places_;
};

class Pipe : public allot::Handler {
 public:
  static constexpr bool kConcurrent = true;

  static std::vector<std::string> types(const allot::Config& config) {
    std::vector<std::string> types;
    for (const Settings& settings : read_settings(config)) {
      types.insert(types.end(), settings.types.begin(), settings.types.end());
    }
    return types;
  }

  explicit Pipe(const allot::Config& config) : programs_(read_settings(config)) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() override {
    for (const auto& places : places_) places->end();
  }

  void begin_thread() override { mine().start_early(); }

  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.stop_requested()) return allot::retry("it was asked to stop", milliseconds(0));
    return mine().of(ctx.type()).run(ctx);
  }

 private:
  Places& mine() {
    thread_local ThreadPlaces places_of_thread;
    std::weak_ptr<Places>& known = places_of_thread.of(this);
    if (const auto places = known.lock()) return *places;
    const auto places = std::make_shared<Places>(programs_);
    known = places;
    const std::lock_guard held(mutex_);
    places_.push_back(places);
    return *places;
  }

  const std::vector<Settings> programs_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Places>> places_;  // of all threads; guarded by mutex_
};

ALLOT_CONFIGURED_HANDLER(Pipe)
ALLOT_PLUGIN("pipe", "0.1.0")

}  // namespace
}  // namespace pipe_plugin
