// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "db/connection.h"
#include "gateway/api/route.h"
#include "gateway/work/thread_pool.h"
#include "operations/reads.h"
#include "thread/mutex.h"

namespace allot::gateway::api {

// Results of reads for the pages of the dashboard, shared by all viewers of this gateway: any
// number of them costs the database what one does, and without viewers nothing is sent. A result
// covers all queues; each verb selects what its caller may see (S91). All reads use one connection,
// one after the other: checks of idle connections would be statements too. Any thread may call it.
class SharedReads final : public Reads {
 public:
  explicit SharedReads(db::ConnectOptions database);

  // After a change by an operator, the next page shows it.
  void forget() ALLOT_EXCLUDES(mutex_);

 private:
  struct Entry {
    Value value{};
    std::exception_ptr error{};
    bool done = false;
    Nanos until = 0;
  };
  Value find(const std::string& key, Nanos keep, const AnyRead& read) override
      ALLOT_EXCLUDES(mutex_);
  void end(const std::string& key, const std::shared_ptr<Entry>& entry, Value value,
           std::exception_ptr error) ALLOT_EXCLUDES(mutex_);

  Mutex mutex_;
  CondVar done_;
  std::map<std::string, std::shared_ptr<Entry>> entries_ ALLOT_GUARDED_BY(mutex_);
  work::ThreadPool reader_;  // last: its thread uses the others
};

}  // namespace allot::gateway::api
