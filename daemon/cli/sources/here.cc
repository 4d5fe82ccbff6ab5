// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/here.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "peer/lock_mark.h"
#include "queue/model/lease.h"

namespace allot::cli {

Here::Here(const config::Settings& settings) {
  const std::string folder = config::runtime_dir(settings);
  const UniqueFd lock(open((folder + "/lock").c_str(), O_RDONLY | O_CLOEXEC));
  const std::uint64_t mark = lock.valid() ? peer::lock_mark(lock.get()) : 0;
  origin_ = queue::make_holder(settings.daemon.instance, folder, mark).origin;
}

bool Here::gone(std::uint64_t origin, std::uint32_t pid) const {
  return origin == origin_ && pid != 0 && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace allot::cli
