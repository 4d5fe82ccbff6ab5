// SPDX-License-Identifier: Apache-2.0
#include "worker/job/executor.h"

#include <utility>

namespace allot::worker {

void InThisThread::start(Job job, const Need& /*need*/) {
  job.sole = true;
  JobEnd& ended = ended_.emplace_back();
  ended.job = std::move(job);
  ended.tasks = runner_.run(ended.job);
}

}  // namespace allot::worker
