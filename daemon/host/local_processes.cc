// SPDX-License-Identifier: Apache-2.0
#include "host/local_processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <utility>

#include "base/unique_fd.h"
#include "peer/lock_mark.h"
#include "queue/model/lease.h"

namespace allot::host {

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
