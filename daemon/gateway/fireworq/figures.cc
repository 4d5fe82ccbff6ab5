// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/figures.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "meter/totals.h"
#include "queue/fireworq/jobs.h"

namespace allot::gateway::fireworq {
namespace {

using meter::Count;

template <typename Map>
typename Map::mapped_type value_in(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type{} : found->second;
}

// Counts restart from 0 with allotd.
std::uint64_t since(std::uint64_t now, std::uint64_t before) {
  return now >= before ? now - before : now;
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t threads() {
  std::ifstream file("/proc/self/stat");
  std::string word;
  // The program name has no space.
  for (int i = 0; i < 20 && file >> word; ++i) {
  }
  return std::strtoull(word.c_str(), nullptr, 10);
}

}  // namespace

Figures::Figures(std::string runtime_dir) : runtime_dir_(std::move(runtime_dir)) {
  first_ = read();
  last_ = first_;
  before_ = first_;
}

Figures::Counts Figures::read() const {
  Counts counts;
  if (runtime_dir_.empty()) return counts;
  for (const auto& [names, total] : meter::totals(runtime_dir_).pairs) {
    // Sums all types: jobs are metered by their category, and a full meter has one entry for the
    // rest of a queue.
    Counted& counted = counts[names.first];
    for (std::size_t i = 0; i < static_cast<std::size_t>(Count::kVerdicts); ++i) {
      counted.pops += total.counts[i];
    }
    counted.successes += total.of(Count::kDone);
    counted.permanent_failures += total.of(Count::kDead);
    counted.failures += total.of(Count::kRetried) + total.of(Count::kDead);
    counted.elapsed_ms += total.elapsed_ms;
  }
  return counts;
}

void Figures::pushed(const std::string& queue) {
  const MutexLock held(mutex_);
  ++pushes_[queue];
}

void Figures::turn() {
  Counts now = read();
  const MutexLock held(mutex_);
  before_ = std::exchange(last_, std::move(now));
  pushes_before_ = std::exchange(pushes_last_, pushes_);
}

Figures::Now Figures::now() const {
  if (runtime_dir_.empty()) return {};
  return {read(), host::read_instance(runtime_dir_).workers};
}

QueueStats Figures::of(const Now& all, const queue::FireworqQueue& queue) const {
  const Counted now = value_in(all.counts, queue.info.name);
  const MutexLock held(mutex_);
  const Counted first = value_in(first_, queue.info.name);
  QueueStats stats;
  stats.pushes = value_in(pushes_, queue.name);
  stats.pops = since(now.pops, first.pops);
  stats.successes = since(now.successes, first.successes);
  stats.failures = since(now.failures, first.failures);
  stats.permanent_failures = since(now.permanent_failures, first.permanent_failures);
  stats.elapsed_ms = since(now.elapsed_ms, first.elapsed_ms);
  stats.pushes_per_second =
      value_in(pushes_last_, queue.name) - value_in(pushes_before_, queue.name);
  stats.pops_per_second =
      since(value_in(last_, queue.info.name).pops, value_in(before_, queue.info.name).pops);
  return stats;
}

LocalActivity local_activity(const Figures::Now& now, const queue::FireworqQueue& queue) {
  LocalActivity at_work;
  for (const host::WorkerView& worker : now.workers) {
    if (!worker.leases || worker.queue_id != queue.info.queue_id) continue;
    at_work.partitions.push_back(worker.partition);
    at_work.running += worker.running.size();
  }
  return at_work;
}

std::string process_stats(bool indented) {
  using nlohmann::json;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const struct mallinfo2 heap = ::mallinfo2();
  const unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
  json stats = {{"time", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()},
                {"go_version", ""},
                {"go_os", "linux"},
#ifdef __x86_64__
                {"go_arch", "amd64"},
#else
                {"go_arch", ""},
#endif
                {"cpu_num", cpus},
                {"goroutine_num", threads()},
                {"gomaxprocs", cpus},
                {"memory_alloc", heap.uordblks},
                {"memory_sys", resident_bytes()},
                {"heap_alloc", heap.uordblks},
                {"heap_sys", heap.arena},
                {"heap_idle", heap.fordblks},
                {"heap_inuse", heap.uordblks},
                {"gc_pause", json::array()}};
  for (const char* name :
       {"cgo_call_num", "memory_total_alloc", "memory_lookups", "memory_mallocs", "memory_frees",
        "memory_stack", "heap_released", "heap_objects", "gc_next", "gc_last", "gc_num",
        "gc_per_second", "gc_pause_per_second"}) {
    stats[name] = 0;
  }
  return stats.dump(indented ? 2 : -1);
}

}  // namespace allot::gateway::fireworq
