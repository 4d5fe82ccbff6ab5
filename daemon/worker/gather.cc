// SPDX-License-Identifier: Apache-2.0
#include "worker/gather.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "log/log.h"
#include "plugin_host/abi_check.h"
#include "worker/attempt.h"
#include "worker/handler_hooks.h"
#include "worker/run_hooks.h"
#include "worker/usage.h"

namespace allot::worker {
namespace {

// The most bytes of all payloads of one call, once decompressed: as much as one task may have.
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

plugin_host::CallAnswer not_here(const char* what) {
  return {ALLOT_BAD_INPUT, std::string("not in a call with several tasks: ") + what};
}

}  // namespace

// One task of the call.
struct Gather::Member {
  // What its handler may ask of this process while the call runs. It offers nothing that goes with
  // the acknowledgement of one task, because the tasks share one connection.
  class Hooks final : public HandlerHooks {
   public:
    Hooks(Member& member, Call& call)
        : HandlerHooks(member.attempt.id, member.attempt.task.type, member.work->limits.soft_ns,
                       *member.work->mark, member.work->writes),
          call_(call) {}

    void heartbeat() noexcept override;
    plugin_host::CallAnswer submit(std::span<const allot_submission* const> tasks,
                                   std::vector<std::string>& ids) noexcept override;
    plugin_host::CallAnswer checkpoint(std::string_view /*payload*/) noexcept override {
      return not_here("a checkpoint is for a task that runs by itself");
    }
    plugin_host::CallAnswer replace_with(
        std::span<const allot_submission* const> /*tasks*/) noexcept override {
      return not_here("replace_with is for a task that runs by itself; submit does it at once");
    }
    plugin_host::CallAnswer execute(std::string_view /*statement*/,
                                    std::span<const allot_value> /*values*/,
                                    const plugin_host::TakeRow& /*take_row*/) noexcept override {
      return not_here("a transaction is for a task that runs by itself");
    }

   private:
    Call& call_;
  };

  Member(TaskRun::Attempt of, std::size_t at) : attempt(std::move(of)), index(at) {}
  void end() {
    hooks.reset();
    work.reset();
  }

  TaskRun::Attempt attempt;
  const std::size_t index;              // index among the tasks
  std::optional<TaskRun::AtWork> work;  // set from before the call until the verdict is noted
  std::optional<Hooks> hooks;           // set during the call
};

class Gather::Call {
 public:
  // A heartbeat of any task is progress of the call.
  void progress() noexcept {
    const Nanos now = boot_ns();
    for (Member& member : members) member.work->mark->progress(now);
  }

  std::deque<Member> members;  // a deque: elements stay where they are
  Results results;
  std::mutex submitting;  // all tasks share one connection
};

void Gather::Member::Hooks::heartbeat() noexcept {
  call_.progress();
}

plugin_host::CallAnswer Gather::Member::Hooks::submit(
    std::span<const allot_submission* const> tasks, std::vector<std::string>& ids) noexcept {
  const std::lock_guard held(call_.submitting);
  return HandlerHooks::submit(tasks, ids);
}

std::size_t Gather::most(const ServedQueue& queue, const queue::Task& task) const {
  if (queue.exclusive() || queue.in_order()) return 1;  // one task of a partition at a time (S16)
  const plugin_host::LoadedHandler* handler = runner_.registry_.find(task.type);
  if (handler == nullptr) return 1;
  const auto most = plugin_host::most_in_a_call(*handler->handler);
  return static_cast<std::size_t>(std::min<std::uint64_t>(most, ipc::kMaxRunning));
}

Gather::Results Gather::run(const queue::Lease& lease, const ServedQueue& queue,
                            std::span<queue::Task> tasks,
                            std::span<const queue::Finished> finished) {
  Call call;
  prepare(call, lease, queue, tasks);
  if (call.members.size() == 1) {
    Member& only = call.members.front();
    only.attempt.before = finished;
    call.results[only.index] = runner_.call_handler(only.attempt);
  } else if (call.members.size() > 1) {
    run_call(call);
  }
  return std::move(call.results);
}

// Fills the call. A task that ends without its handler has its result already.
void Gather::prepare(Call& call, const queue::Lease& lease, const ServedQueue& queue,
                     std::span<queue::Task> tasks) {
  const plugin_host::LoadedHandler& handler = *runner_.registry_.find(tasks.front().type);
  std::size_t bytes = 0;
  for (queue::Task& task : tasks) {
    auto& result = call.results.emplace_back(runner_.cancelled_before(lease, queue, task));
    if (!result) {
      Member& member = call.members.emplace_back(
          runner_.attempt_of(lease, queue, task, handler, call.members.size()),
          call.results.size() - 1);
      result = runner_.prepare(member.attempt);
      if (result) call.members.pop_back();
    }
    if (result == TaskRun::Result::kLeaseGone) return call.members.clear();
    if (result) continue;
    bytes += task.payload->size();
    if (bytes <= kMostBytes || call.members.size() == 1) continue;
    call.members.pop_back();
    return call.results.pop_back();
  }
}

// Begins without detachment, because a task can only leave its partition alone.
bool Gather::begin(Call& call) {
  std::vector<TaskAtWork> works;
  for (Member& member : call.members) {
    works.push_back(TaskRun::for_keeper(member.work.emplace(runner_, member.attempt), 0));
  }
  return runner_.keeper_.tasks_begin(works, [this, &call](Nanos now) {
    for (Member& member : call.members) runner_.begin(*member.work, now);
  });
}

void Gather::run_call(Call& call) {
  if (!begin(call)) {  // the lease is in doubt: nothing was noted
    call.results.assign(call.results.size(), TaskRun::Result::kLeaseGone);
    return;
  }
  std::vector<plugin_host::CallInput> inputs;
  std::vector<plugin_host::HostHooks*> hooks;
  for (Member& member : call.members) {
    inputs.push_back(TaskRun::input_of(*member.work));
    hooks.push_back(&member.hooks.emplace(member, call));
  }
  const UsageMeter meter(runner_.seat_.thread);
  plugin_host::ManyResult said;
  {
    const SlotWriter::Guard guard(runner_.slot_);
    said = plugin_host::call_many(*call.members.front().attempt.handler, inputs, hooks);
    for (Member& member : call.members) TaskRun::returned(*member.work);
    for (Member& member : call.members) member.work->place = member.work->mark->handler_returned();
  }
  const queue::Usage usage = meter.until_now(call.members.front().work->began_ns);
  for (Member& member : call.members) member.attempt.usage = usage;
  if (said.each.empty()) return leave_alone(call, said.error);
  take_verdicts(call, said.each);
}

// Successes come first: they need no database, so nothing comes between. Of the others nothing is
// written once the lease is gone.
void Gather::take_verdicts(Call& call, const std::vector<plugin_host::CallResult>& said) {
  for (const bool succeeded : {true, false}) {
    for (std::size_t i = 0; i < said.size(); ++i) {
      if ((said[i].kind == plugin_host::OutcomeKind::kSuccess) != succeeded) continue;
      Member& member = call.members[i];
      call.results[member.index] = runner_.verdict(*member.work, said[i]);
      member.end();
    }
  }
}

// Charges nobody. A task whose end was asked for does not run again.
void Gather::leave_alone(Call& call, const std::string& why) {
  const Member& first = call.members.front();
  log::warn("task.call_failed", {{"type", first.attempt.task.type},
                                 {"tasks", call.members.size()},
                                 {"first", first.attempt.id},
                                 {"reason", why}});
  for (Member& member : call.members) {
    TaskRun::AtWork& work = *member.work;
    if (work.cancel.watched()) member.attempt.task.flags |= queue::kCancelWatchedFlag;
    if (work.cancel.asked()) {
      call.results[member.index] = runner_.cancelled(member.attempt, work.cancel.request());
    }
    member.end();
  }
}

}  // namespace allot::worker
