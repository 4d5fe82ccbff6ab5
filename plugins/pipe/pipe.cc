// SPDX-License-Identifier: Apache-2.0
//
// pipe: gives the tasks of a type to a program that stays. Each worker has one for each type. A
// task is a line of JSON on the program's descriptor 3, its verdict one on descriptor 4, so that a
// stray print breaks nothing. docs/pipe-workers.md has the lines.
//
//   [plugins.pipe.types."thumbs.make"]
//   command = ["/usr/bin/python3", "/usr/local/lib/thumbs.py"]
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "pipe/child.h"
#include "pipe/conversation.h"
#include "pipe/lines.h"
#include "pipe/settings.h"
#include "programs/mutant.h"
#include "programs/tail.h"

namespace pipe_plugin {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
namespace mutant = programs::mutant;

constexpr std::size_t kMaxLogged = 4096;
constexpr milliseconds kDying{1000};  // between the end of its pipes and its own

// The program of one type, started when a task needs it, and again when it has ended.
class Place {
 public:
  explicit Place(const Settings& settings) : settings_(settings) {}

  allot::Outcome run(const allot::Context& ctx) {
    try {
      if (auto trouble = make_ready(ctx)) return std::move(*trouble);
      return talk(ctx);
    } catch (const Stopped&) {
      end(milliseconds(0));
      return allot::retry("it was asked to stop", soon(ctx));
    } catch (const BadLine& bad) {
      return lost(ALLOT_RETRY, "it wrote a line that is none: " + std::string(bad.what()));
    } catch (const Broken& broken) {
      return lost(ALLOT_RETRY, broken.what(), ctx.stop_requested() ? soon(ctx) : std::nullopt);
    } catch (const std::system_error& error) {
      return allot::not_started(error.what());  // it is being replaced, a full table
    } catch (...) {
      if (child_) end(milliseconds(0));  // nobody knows what it has been told
      throw;
    }
  }

  // It leaves by itself, or is killed once its time is over.
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
  // What keeps it from taking the task, which does not know of it.
  std::optional<allot::Outcome> make_ready(const allot::Context& ctx) {
    if (leaves_since_) end();
    if (child_) {
      child_->look();
      // Nobody has asked it for anything: whatever it has to say, it is not about this task.
      if (child_->gone() || child_->out_of_step()) {
        ctx.info("the program of " + std::string(ctx.type()) + " is started again; it had " +
                 (child_->gone() ? "ended" : "written unasked") + " between two tasks");
        end(milliseconds(0));
      }
    }
    if (child_) return std::nullopt;
    child_ = std::make_unique<Child>(settings_.program);
    tasks_ = 0;
    try {
      await_hello(settings_, *child_, ctx);
      return std::nullopt;
    } catch (const BadLine& bad) {
      return lost(ALLOT_NOT_STARTED, "it wrote a line that is none: " + std::string(bad.what()));
    } catch (const Broken& broken) {
      return lost(ALLOT_NOT_STARTED, broken.what());
    }
  }

  allot::Outcome talk(const allot::Context& ctx) {
    child_->said().clear();
    allot::Outcome verdict = Conversation(settings_, *child_, ctx).run();
    const std::string said = child_->said().last(kMaxLogged);
    if (!said.empty()) ctx.info(said);
    let_go_when_used_up();
    return verdict;
  }

  void let_go_when_used_up() {
    ++tasks_;
    const bool served = settings_.max_tasks > 0 && !mutant::removed("pipe_max_tasks") &&
                        tasks_ >= settings_.max_tasks;
    const bool grown = settings_.max_memory_mib > 0 && !mutant::removed("pipe_max_memory") &&
                       child_->resident_mib().value_or(0) >= settings_.max_memory_mib;
    if (served || grown) let_go();
  }

  // Ends the program. Once it has a task, what it does not do is charged to the task, as a crash of
  // a handler is. If it ended by itself, its output says why.
  allot::Outcome lost(std::int32_t kind, std::string why,
                      std::optional<milliseconds> delay = std::nullopt) {
    const bool by_itself = child_->gone();
    why += "; " + child_->end(by_itself ? kDying : milliseconds(0));
    allot::Outcome outcome{kind, delay, std::move(why)};
    if (by_itself) {
      outcome.detail = child_->said().all();
    } else {
      outcome.reason = programs::with_output(std::move(outcome.reason), child_->said());
    }
    forget();
    return outcome;
  }
  // The pause of a task that was stopped for the worker's sake. For one that needs more time than
  // it gets, the pauses grow.
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

  const Settings settings_;
  std::unique_ptr<Child> child_;
  std::optional<Clock::time_point> leaves_since_;
  std::uint64_t tasks_ = 0;
};

// The programs of a worker.
class Places {
 public:
  explicit Places(const allot::Config& config) {
    for (const auto& [type, settings] : read_settings(config)) places_.try_emplace(type, settings);
  }
  Place& of(std::string_view type) { return places_.at(std::string(type)); }
  // All leave at the same time.
  void end() {
    for (auto& [type, place] : places_) place.let_go();
    for (auto& [type, place] : places_) place.end();
  }

 private:
  std::map<std::string, Place> places_;
};

// A thread that starts programs ends them in order. Without this the kernel would kill them with
// it: in a pool with `concurrency` it is not the one that destroys the handler, and ends before.
class Farewell {
 public:
  Farewell() = default;
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  ~Farewell() {
    if (const auto places = places_.lock()) places->end();
  }
  void to(const std::shared_ptr<Places>& places) { places_ = places; }

 private:
  std::weak_ptr<Places> places_;
};

class Pipe : public allot::Handler {
 public:
  static std::vector<std::string> types(const allot::Config& config) {
    std::vector<std::string> types;
    for (const auto& [type, settings] : read_settings(config)) types.push_back(type);
    return types;
  }

  explicit Pipe(const allot::Config& config) : places_(std::make_shared<Places>(config)) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() override { places_->end(); }

  allot::Outcome run(allot::Context& ctx) override {
    thread_local Farewell farewell;
    farewell.to(places_);
    if (ctx.stop_requested()) return allot::retry("it was asked to stop", milliseconds(0));
    return places_->of(ctx.type()).run(ctx);
  }

 private:
  std::shared_ptr<Places> places_;
};

ALLOT_CONFIGURED_HANDLER(Pipe)
ALLOT_PLUGIN("pipe", "0.1.0")

}  // namespace
}  // namespace pipe_plugin
