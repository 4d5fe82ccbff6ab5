// SPDX-License-Identifier: Apache-2.0
#include "worker/job/executor.h"

#include <algorithm>
#include <utility>

#include "peer/slot_file.h"
#include "process/stop_request.h"
#include "thread/deaf_thread.h"

namespace allot::worker {

namespace {

constexpr Nanos kLongest = kSecond;  // a longer job counts as this
constexpr Nanos kWeight = 16;        // number of last jobs that determine the typical runtime

}  // namespace

Executor::Executor(const process::SlotWriter& slot, std::deque<JobRunner>& runners, Nanos short_ns)
    : slot_(slot), short_ns_(short_ns), typical_ns_(kLongest), idle_(runners.size()) {
  for (JobRunner& runner : runners) runners_.emplace_back(runner);
  if (runners_.size() == 1) {
    runners_.front().jobs.begin_thread();
    return;
  }
  try {
    for (Runner& runner : runners_) runner.thread = deaf_thread([this, &runner] { work(runner); });
  } catch (...) {
    end();
    throw;
  }
}

Executor::~Executor() {
  end();
}

void Executor::end() {
  {
    const MutexLock held(mutex_);
    stop_ = true;
  }
  for (Runner& runner : runners_) {
    runner.wake.notify_one();
    if (runner.thread.joinable()) runner.thread.join();
  }
}

bool Executor::ready_for(const Need& need) const {
  const MutexLock held(mutex_);
  if (need.worker) return idle_ == runners_.size() && queue_.empty();
  if (need.partition && running_in_partition() + queue_.size() > 0) return false;
  if (need.most != 0 && running_in_partition() + queue_.size() >= need.most) return false;
  if (need.serial) return !runners_.front().busy;
  return idle_ > 0 || may_queue(need);
}

// Jobs outside the partition may run for long.
bool Executor::may_queue(const Need& need) const {
  return need.may_wait && queue_.size() < most_waiting() && running_in_partition() > 0;
}

// With this number of waiting jobs, the last one waits as long as two jobs that are just short.
std::size_t Executor::most_waiting() const {
  if (typical_ns_ >= short_ns_) return 0;
  return runners_.size() *
         static_cast<std::size_t>(2 * short_ns_ / std::max<Nanos>(typical_ns_, kMicro));
}

void Executor::start(Job job, const Need& need) {
  const bool here = runners_.size() == 1;
  job.sole = here || need.partition || need.worker;
  if (here) {
    JobEnd end = execute(runners_.front().jobs, std::move(job));
    const MutexLock held(mutex_);
    ends_.push_back(std::move(end));
    return;
  }
  MutexLock held(mutex_);
  Runner* woken = nullptr;
  if (idle_ == 0 || may_queue(need)) {
    queue_.push_back(std::move(job));
    woken = call_one();
  } else {
    woken = need.serial ? &runners_.front() : last_idle();
    woken->busy = true;
    --idle_;
    if (need.may_wait && !queue_.empty()) {
      take_next(*woken);  // keeps the order of waiting jobs
      queue_.push_back(std::move(job));
    } else {
      woken->next = std::move(job);
    }
  }
  held.unlock();  // or it would wake only to wait for the mutex
  if (woken != nullptr) woken->wake.notify_one();
}

// From the back, so that the first runner is left for serial handlers.
Executor::Runner* Executor::last_idle() {
  return &*std::find_if(runners_.rbegin(), runners_.rend(),
                        [](const Runner& runner) { return !runner.busy; });
}

// The runner to wake for waiting jobs; nullptr while another one is waking. That one calls the
// next, so that the thread that hands out does not have to wake all of them, and no runner wakes in
// vain.
Executor::Runner* Executor::call_one() {
  if (idle_ == 0 || queue_.empty() || called_ != nullptr) return nullptr;
  called_ = last_idle();
  return called_;
}

Executor::Runner* Executor::come(Runner& runner) {
  if (called_ != &runner) return nullptr;
  called_ = nullptr;
  if (!runner.next && !queue_.empty()) {
    take_next(runner);
    runner.busy = true;
    --idle_;
  }
  return call_one();
}

void Executor::take_next(Runner& runner) {
  runner.next = std::move(queue_.front());
  queue_.pop_front();
}

std::size_t Executor::in_partition() const {
  const MutexLock held(mutex_);
  return running_in_partition() + queue_.size();
}

std::size_t Executor::waiting() const {
  const MutexLock held(mutex_);
  return queue_.size();
}

std::size_t Executor::running_in_partition() const {
  return static_cast<std::size_t>(
      std::count_if(runners_.begin(), runners_.end(), [this](const Runner& runner) {
        return runner.busy && !peer::is_detached(slot_.state(runner.jobs.range().entry));
      }));
}

std::vector<JobEnd> Executor::take() {
  const MutexLock held(mutex_);
  // All threads are busy with tasks that have left the partition, perhaps for long.
  if (!queue_.empty() && idle_ == 0 && running_in_partition() == 0) recall_all();
  notified_ = false;
  return std::exchange(ends_, {});
}

bool Executor::quick() const {
  const MutexLock held(mutex_);
  return most_waiting() > 0;
}

void Executor::recall() {
  const MutexLock held(mutex_);
  recall_all();
}

void Executor::recall_all() {
  for (Job& job : queue_) {
    JobEnd& end = ends_.emplace_back();
    end.tasks.resize(job.tasks.size());
    end.job = std::move(job);
  }
  queue_.clear();
}

void Executor::wait(std::chrono::milliseconds timeout, std::optional<std::size_t> left) {
  const MutexLock held(mutex_);
  left_ = left;
  if (left) {
    const auto failed = [](const JobEnd& end) { return end.error != nullptr; };
    notified_ = must_notify() || std::any_of(ends_.begin(), ends_.end(), failed);
  }
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!notified_ && ended_.wait_until(mutex_, until)) {
  }
  left_.reset();
}

bool Executor::must_notify() const {
  if (!left_) return queue_.size() <= most_waiting() / 2;
  return queue_.size() <= *left_ && queue_.size() + running_in_partition() <= *left_;
}

void Executor::work(Runner& runner) {
  runner.jobs.begin_thread();
  MutexLock held(mutex_);
  for (;;) {
    while (!stop_ && !runner.next && called_ != &runner) runner.wake.wait(mutex_);
    if (stop_ && !runner.next) return;
    Runner* const woken = come(runner);
    if (!runner.next) continue;
    Job job = std::move(*runner.next);
    runner.next.reset();
    held.unlock();
    if (woken != nullptr) woken->wake.notify_one();
    const Nanos began = mono_ns();
    JobEnd end = execute(runner.jobs, std::move(job));
    const Nanos took = mono_ns() - began;
    held.lock();
    if (!ended(runner, std::move(end), took)) continue;
    held.unlock();  // as in start()
    ended_.notify_one();
    held.lock();
  }
}

bool Executor::ended(Runner& runner, JobEnd end, Nanos took) {
  typical_ns_ = typical_ns_ - typical_ns_ / kWeight + std::min(took, kLongest) / kWeight;
  const bool failed = end.error != nullptr;
  ends_.push_back(std::move(end));
  if (queue_.empty() || stop_) {
    runner.busy = false;
    ++idle_;
  } else {
    take_next(runner);
  }
  const bool tell = !notified_ && (failed || must_notify());
  notified_ = notified_ || tell;
  return tell;
}

JobEnd Executor::execute(JobRunner& jobs, Job job) {
  JobEnd end{.job = std::move(job)};
  // The block loop has not checked jobs that waited until now.
  if (process::asked() == process::Asked::kStop) {
    end.tasks.resize(end.job.tasks.size());
    return end;
  }
  try {
    end.tasks = jobs.run(end.job);
  } catch (...) {
    end.error = std::current_exception();
  }
  // One payload has 16 MiB at most, but several may wait to be collected. A task that has not ended
  // keeps its payload.
  using Result = TaskEnd::Result;
  for (std::size_t i = 0; i < end.tasks.size(); ++i) {
    const Result result = end.tasks[i].result;
    if (result != Result::kNothing && result != Result::kByItself) end.job.tasks[i].payload.reset();
  }
  return end;
}

}  // namespace allot::worker
