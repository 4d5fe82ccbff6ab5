// SPDX-License-Identifier: Apache-2.0
// Rule: S24.
#include "host/instance_view.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/fixed_text.h"
#include "base/unique_fd.h"
#include "config/settings.h"
#include "ipc/slot.h"
#include "peer/lock_mark.h"
#include "peer/slot_file.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"

namespace allot::host {
namespace {

bool lives(std::uint32_t pid) {
  return pid != 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

// The file may outlive its writer, and the pid may belong to another process.
bool is_allotd(std::uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  return std::getline(file, name) && name == "allotd";
}

// Uses pread instead of mmap: a mapping allocates pages that were never written, and raises SIGBUS
// if they do not fit on the disk or the file is truncated.
bool read_at(const UniqueFd& file, std::size_t offset, void* to, std::size_t size) {
  return pread(file.get(), to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

// False: no worker in this slot. Reads the first page first, because most slots are unused.
bool read_slot(const UniqueFd& file, std::uint32_t index, ipc::Slot& slot) {
  const std::size_t offset = ipc::slot_offset(index);
  if (!read_at(file, offset, static_cast<void*>(&slot), ipc::kPage)) return false;
  const bool blank = slot.state.load() == static_cast<std::uint32_t>(ipc::WorkerState::kBlank);
  if (slot.generation == 0 || blank) return false;
  return read_at(file, offset, static_cast<void*>(&slot), sizeof slot);
}

// Word for an ipc::WorkerState.
const char* name_of(std::uint32_t state) {
  constexpr std::array kNames = {"blank", "connecting", "idle", "leasing", "running", "stopping"};
  return state < kNames.size() ? kNames.at(state) : "unknown";
}

// Empty while the worker updates it. The cast is for atomic_ref, which only reads.
queue::Progress progress_of(const ipc::RunRecord& run) {
  const auto percent = [&run] {
    return std::atomic_ref(const_cast<std::uint8_t&>(run.progress)).load();
  };
  const std::uint8_t before = percent();
  std::string word = text_of(run.progress_text);
  if (before > 100 || percent() != before) return {};
  return {before, std::move(word)};
}

WorkerView read_worker(const ipc::Slot& slot, std::uint32_t index) {
  WorkerView view;
  view.slot = index;
  view.pid = slot.pid;
  view.pool = text_of(slot.pool_name);
  view.state = name_of(slot.state.load());
  view.config_mark = slot.config_mark;
  view.config_place = slot.config_place;
  view.database_unreachable = slot.database_unreachable.load() != 0;
  view.leases = slot.lease_held.load() != 0;
  view.queue = text_of(slot.queue_name);
  view.queue_id = slot.queue_id;
  view.partition = slot.partition_no;
  const Nanos now = boot_ns();
  for (std::size_t i = 0; i < ipc::kMaxRunning; ++i) {
    const ipc::RunState state = slot.run_states[i].load();
    if (!ipc::at_work(state)) continue;
    const ipc::RunRecord& task = slot.runs[i];
    const queue::TaskId id{{task.queue_id, task.partition_no}, task.prio, task.first_key};
    view.running.push_back({id.text(), text_of(task.type), text_of(task.queue_name), task.attempt,
                            now > task.started_ns ? (now - task.started_ns) / kMilli : 0,
                            peer::is_detached(state), progress_of(task)});
  }
  view.done = slot.tasks_done;
  view.retried = slot.tasks_retried;
  view.dead = slot.tasks_dead;
  view.deferred = slot.tasks_deferred;
  view.takeovers = slot.takeovers;
  view.leases_lost = slot.leases_lost;
  view.deadlocks = slot.deadlocks;
  view.lock_waits = slot.lock_waits;
  return view;
}

std::string how_it_ended(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "exit code " + std::to_string(WEXITSTATUS(wait_status));
  const int number = WTERMSIG(wait_status);
  const char* name = sigdescr_np(number);
  return "signal " + std::to_string(number) +
         (name == nullptr ? "" : " (" + std::string(name) + ")");
}

template <typename Fits>
bool any_process(const InstanceView& view, const Fits& fits) {
  return std::any_of(view.workers.begin(), view.workers.end(), fits) ||
         std::any_of(view.stewards.begin(), view.stewards.end(), fits);
}

}  // namespace

bool runs_configuration(const InstanceView& view, const config::Files& files) {
  const std::uint64_t mark = files.mark();
  return !any_process(view, [&](const WorkerView& one) { return one.config_mark != mark; });
}

bool runs_former_configuration(const InstanceView& view, const config::Files& files) {
  const auto former = [mark = files.mark(), place = files.place()](const WorkerView& one) {
    return one.config_place == place && one.config_mark != mark;
  };
  return any_process(view, former);
}

InstanceView read_instance(const std::string& runtime_dir) {
  InstanceView view;
  view.runtime_dir = runtime_dir;
  const std::string path = runtime_dir + "/slots";
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid()) {
    if (errno != ENOENT) view.trouble = path + ": " + std::strerror(errno);
    return view;
  }
  char first_page[ipc::kPage];
  ipc::SlotFileHeader header{};
  const bool whole = read_at(file, 0, first_page, sizeof first_page);
  if (whole) std::memcpy(&header, first_page, sizeof header);
  if (whole && header.magic[0] == '\0') return view;  // still being created
  const char* trouble = whole ? peer::trouble_with(header) : "not a slot file";
  if (trouble != nullptr) {
    view.trouble = path + ": " + trouble;
    return view;
  }
  view.supervisor_pid = header.supervisor_pid;
  view.running = is_allotd(header.supervisor_pid);
  if (!view.running) return view;
  view.reloads = header.reloads;
  for (const ipc::StartFailures& pool : header.start_failures) {
    if (pool.count == 0) continue;
    view.failing.push_back({text_of(pool.pool), pool.count, how_it_ended(pool.wait_status)});
  }
  const auto copy = std::make_unique<ipc::Slot>();
  const ipc::Slot& slot = *copy;
  for (std::uint32_t i = 0; i < std::min(header.slot_count, ipc::kMaxSlots); ++i) {
    if (!read_slot(file, i, *copy)) continue;
    if (lives(slot.pid)) {
      WorkerView worker = read_worker(slot, i);
      auto& list = worker.pool == config::kStewardPool ? view.stewards : view.workers;
      list.push_back(std::move(worker));
    } else if (ipc::needs_settling(slot)) {
      ++view.unsettled;
    }
  }
  return view;
}

LocalProcesses::LocalProcesses(const std::string& instance, std::string runtime_dir)
    : runtime_dir_(std::move(runtime_dir)) {
  if (runtime_dir_.empty()) return;
  const UniqueFd lock(open((runtime_dir_ + "/lock").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  const std::uint64_t mark = lock.valid() ? peer::lock_mark(lock.get()) : 0;
  origin_ = queue::make_holder(instance, runtime_dir_, mark).origin;
}

std::vector<WorkerView> LocalProcesses::workers() const {
  return runtime_dir_.empty() ? std::vector<WorkerView>() : read_instance(runtime_dir_).workers;
}

bool LocalProcesses::gone(std::uint64_t origin, std::uint32_t pid) const {
  return !runtime_dir_.empty() && origin == origin_ && pid != 0 &&
         kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace allot::host
