// SPDX-License-Identifier: Apache-2.0
#include "worker/job/runners.h"

#include <algorithm>
#include <utility>

#include "peer/slot_file.h"
#include "worker/process/deaf_thread.h"

namespace allot::worker {

namespace {

// One has 16 MiB at most, but several may wait to be collected. A task that has not ended keeps its
// own.
void drop_payloads(JobEnd& end) {
  for (std::size_t i = 0; i < end.tasks.size(); ++i) {
    if (has_ended(end.tasks[i])) end.job.tasks[i].payload.reset();
  }
}

}  // namespace

Runners::Runners(std::size_t size, const SlotWriter& slot, const MakeSession& make_session,
                 const MakeRunner& make_runner)
    : slot_(slot) {
  const std::size_t entries = ipc::kMaxRunning / size;
  for (std::size_t i = 0; i < size; ++i) {
    auto runner = std::make_unique<Runner>();
    runner->entry = i * entries;
    runner->session = make_session(2 + i);
    runner->jobs = make_runner(*runner->session, {i * entries, entries, true});
    runners_.push_back(std::move(runner));
  }
  for (auto& runner : runners_) {
    runner->thread = deaf_thread([this, one = runner.get()] { work(*one); });
  }
}

Runners::~Runners() {
  {
    const MutexLock held(mutex_);
    stop_ = true;
  }
  for (auto& runner : runners_) runner->wake.notify_one();
  for (auto& runner : runners_) runner->thread.join();
}

std::size_t Runners::max_batch() const {
  return runners_.front()->jobs->max_batch();
}

bool Runners::in_partition(const Runner& runner) const {
  return runner.busy && !peer::is_detached(slot_.state(runner.entry));
}

bool Runners::ready_for(const Need& need) const {
  const MutexLock held(mutex_);
  const auto idle = [](const auto& runner) { return !runner->busy; };
  const auto away = [this](const auto& runner)
                        ALLOT_REQUIRES(mutex_) { return !in_partition(*runner); };
  if (need.worker) return std::all_of(runners_.begin(), runners_.end(), idle);
  if (need.partition && !std::all_of(runners_.begin(), runners_.end(), away)) return false;
  if (need.most != 0 && running_in_partition() >= need.most) return false;
  return need.serial ? idle(runners_.front()) : std::any_of(runners_.begin(), runners_.end(), idle);
}

void Runners::start(Job job, const Need& need) {
  job.alone = need.partition || need.worker;
  if (!job.alone) job.finished = {};
  const MutexLock held(mutex_);
  // Searches from the back, so that the first runner is left for serial handlers.
  const auto idle = std::find_if(runners_.rbegin(), runners_.rend(),
                                 [](const auto& runner) { return !runner->busy; });
  Runner& runner = need.serial ? *runners_.front() : **idle;
  runner.next = std::move(job);
  runner.busy = true;
  runner.wake.notify_one();
}

std::size_t Runners::in_partition() const {
  const MutexLock held(mutex_);
  return running_in_partition();
}

std::size_t Runners::running_in_partition() const {
  return static_cast<std::size_t>(std::count_if(
      runners_.begin(), runners_.end(),
      [this](const auto& runner) ALLOT_REQUIRES(mutex_) { return in_partition(*runner); }));
}

std::vector<JobEnd> Runners::take() {
  const MutexLock held(mutex_);
  return std::exchange(ends_, {});
}

void Runners::wait(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  const MutexLock held(mutex_);
  while (ends_.empty() && ended_.wait_until(mutex_, until)) {
  }
}

void Runners::work(Runner& runner) {
  MutexLock held(mutex_);
  for (;;) {
    while (!stop_ && !runner.next) runner.wake.wait(mutex_);
    if (!runner.next) return;
    Job job = std::move(*runner.next);
    runner.next.reset();
    held.unlock();
    JobEnd end = execute(*runner.jobs, std::move(job));
    held.lock();
    runner.busy = false;
    ends_.push_back(std::move(end));
    ended_.notify_one();
  }
}

JobEnd Runners::execute(JobRunner& jobs, Job job) {
  JobEnd end{.job = std::move(job)};
  try {
    end.tasks = jobs.run(end.job);
  } catch (...) {
    end.error = std::current_exception();
  }
  if (!end.tasks.empty()) drop_payloads(end);
  return end;
}

}  // namespace allot::worker
