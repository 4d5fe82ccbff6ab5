// SPDX-License-Identifier: Apache-2.0
#include "json/local_processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "peer/lock_mark.h"
#include "queue/model/lease.h"

namespace allot::as_json {

LocalProcesses::LocalProcesses(const std::string& instance, const std::string& runtime_dir) {
  const UniqueFd lock(open((runtime_dir + "/lock").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  const std::uint64_t mark = lock.valid() ? peer::lock_mark(lock.get()) : 0;
  origin_ = queue::make_holder(instance, runtime_dir, mark).origin;
}

bool LocalProcesses::gone(std::uint64_t origin, std::uint32_t pid) const {
  return origin == origin_ && pid != 0 && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace allot::as_json
