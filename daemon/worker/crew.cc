// SPDX-License-Identifier: Apache-2.0
#include "worker/crew.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace allot::worker {

Crew::Crew(std::size_t size, const plugin_host::Registry& registry, const LeaseKeeper& keeper,
           const MakeSession& make_session, const MakeRun& make_run)
    : registry_(registry), keeper_(keeper) {
  for (std::size_t entry = 0; entry < size; ++entry) {
    auto runner = std::make_unique<Runner>();
    runner->session = make_session(2 + entry);
    runner->run = make_run(*runner->session, {entry, true});
    runners_.push_back(std::move(runner));
  }
  sigset_t all;  // the main thread gets the signals, as in LeaseKeeper
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (auto& runner : runners_) {
    runner->thread = std::thread([this, one = runner.get()] { work(*one); });
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Crew::~Crew() {
  {
    const std::lock_guard held(mutex_);
    stop_ = true;
  }
  for (auto& runner : runners_) runner->wake.notify_one();
  for (auto& runner : runners_) runner->thread.join();
}

bool Crew::serial(std::string_view type) const {
  const plugin_host::LoadedHandler* handler = registry_.find(type);
  return handler != nullptr && handler->handler->concurrent == 0;
}

bool Crew::ready_for(const Need& need) const {
  const std::lock_guard held(mutex_);
  const auto idle = [](const auto& runner) { return !runner->busy; };
  if (need.worker) return std::all_of(runners_.begin(), runners_.end(), idle);
  if (need.partition) {
    for (std::size_t entry = 0; entry < runners_.size(); ++entry) {
      if (runners_[entry]->busy && !keeper_.is_detached(entry)) return false;
    }
  }
  return need.serial ? idle(runners_.front()) : std::any_of(runners_.begin(), runners_.end(), idle);
}

void Crew::start(Job job, bool serial) {
  const std::lock_guard held(mutex_);
  // Searches from the back, so that the first runner is left for serial handlers.
  const auto idle = std::find_if(runners_.rbegin(), runners_.rend(),
                                 [](const auto& runner) { return !runner->busy; });
  Runner& runner = serial ? *runners_.front() : **idle;
  runner.job = std::move(job);
  runner.busy = true;
  runner.wake.notify_one();
}

std::size_t Crew::in_partition() const {
  const std::lock_guard held(mutex_);
  std::size_t count = 0;
  for (std::size_t entry = 0; entry < runners_.size(); ++entry) {
    if (runners_[entry]->busy && !keeper_.is_detached(entry)) ++count;
  }
  return count;
}

std::vector<Ended> Crew::take() {
  const std::lock_guard held(mutex_);
  return std::exchange(results_, {});
}

void Crew::wait(std::chrono::milliseconds timeout) {
  std::unique_lock held(mutex_);
  ended_.wait_for(held, timeout, [this] { return !results_.empty(); });
}

Ended Crew::take_one(const queue::Lease& lease, const queue::TaskKey& key) {
  std::unique_lock held(mutex_);
  for (;;) {
    const auto one = std::find_if(results_.begin(), results_.end(), [&](const Ended& ended) {
      const Job& job = ended.job;
      return job.task.key == key && job.lease.partition == lease.partition &&
             job.lease.epoch == lease.epoch;
    });
    if (one != results_.end()) {
      Ended ended = std::move(*one);
      results_.erase(one);
      return ended;
    }
    ended_.wait(held);
  }
}

void Crew::work(Runner& runner) {
  std::unique_lock held(mutex_);
  for (;;) {
    runner.wake.wait(held, [&] { return stop_ || runner.job; });
    if (!runner.job) return;
    Job job = std::move(*runner.job);
    runner.job.reset();
    held.unlock();
    Ended ended = execute(runner, std::move(job));
    held.lock();
    runner.busy = false;
    results_.push_back(std::move(ended));
    ended_.notify_one();
  }
}

Ended Crew::execute(Runner& runner, Job job) {
  Ended ended;
  ended.job = std::move(job);
  Job& at = ended.job;
  try {
    ended.result = at.expired ? runner.run->expire(at.lease, *at.queue, at.task)
                              : runner.run->run(at.lease, *at.queue, at.task, at.careful,
                                                at.finished, at.beside);
    ended.held_for = runner.run->held_for();
  } catch (...) {
    ended.error = std::current_exception();
  }
  at.task.payload.reset();
  return ended;
}

}  // namespace allot::worker
