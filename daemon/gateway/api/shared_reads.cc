// SPDX-License-Identifier: Apache-2.0
#include "gateway/api/shared_reads.h"

#include <utility>

#include "operations/document.h"

namespace allot::gateway::api {
namespace {

constexpr std::size_t kMostEntries = 1'000;

}  // namespace

SharedReads::SharedReads(db::ConnectOptions database)
    : reader_(std::move(database), 1, kMostEntries) {}

void SharedReads::forget() {
  const MutexLock held(mutex_);
  entries_.clear();
}

SharedReads::Value SharedReads::find(const std::string& key, Nanos keep, const AnyRead& read) {
  const Nanos now = boot_ns();
  const auto fresh = std::make_shared<Entry>();
  fresh->until = now + keep;
  std::shared_ptr<Entry> entry;
  {
    const MutexLock held(mutex_);
    std::erase_if(entries_,
                  [&](const auto& each) { return each.second->done && each.second->until <= now; });
    if (entries_.size() >= kMostEntries) entries_.clear();
    entry = entries_.try_emplace(key, fresh).first->second;
  }
  if (entry == fresh) {
    // `read` outlives the job, because this thread waits for its end.
    const bool taken =
        reader_.post({[this, key, entry, &read](auto& db) { end(key, entry, read(db), nullptr); },
                      [this, key, entry](const std::exception_ptr& error, bool /*begun*/) {
                        end(key, entry, nullptr, error);
                      }});
    if (!taken) {
      end(key, entry, nullptr,
          std::make_exception_ptr(
              Refusal({503, "too many requests are waiting", {}, {{"retry-after", "1"}}})));
    }
  }
  const MutexLock held(mutex_);
  while (!entry->done) done_.wait(mutex_);
  if (entry->error) std::rethrow_exception(entry->error);
  return entry->value;
}

void SharedReads::end(const std::string& key, const std::shared_ptr<Entry>& entry, Value value,
                      std::exception_ptr error) {
  const MutexLock held(mutex_);
  // An error is only for those who wait: the next caller reads again.
  const auto at = entries_.find(key);
  if (error && at != entries_.end() && at->second == entry) entries_.erase(at);
  entry->value = std::move(value);
  entry->error = std::move(error);
  entry->done = true;
  done_.notify_all();
}

}  // namespace allot::gateway::api
