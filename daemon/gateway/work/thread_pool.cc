// SPDX-License-Identifier: Apache-2.0
#include "gateway/work/thread_pool.h"

#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "db/migrate.h"
#include "log/log.h"
#include "thread/deaf_thread.h"

namespace allot::gateway::work {
namespace {

// A connection used within this time is not checked.
constexpr Nanos kFresh = kSecond;
constexpr Nanos kSpared = kSecond / 4;

}  // namespace

bool loses_connection(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const db::DbError& failed) {
    return failed.error_class() == db::ErrorClass::kGone;
  } catch (const Error& failed) {
    return failed.exit_code() == kExitOutcomeUnknown;
  } catch (...) {
    return true;
  }
}

std::string note_cause(const std::exception& error) {
  char reference[9];
  std::snprintf(reference, sizeof reference, "%08x", std::random_device()());
  log::warn("gateway.refused", {{"reference", reference}, {"error", error.what()}});
  return std::string("(gateway.refused, reference ") + reference + ", in the gateway's log)";
}

// Continues with fewer threads if no more can be created. Running threads end only with the object,
// so the constructor throws if there are none. Signals go to the thread that reads them.
ThreadPool::ThreadPool(db::ConnectOptions options, std::size_t threads, std::size_t most_waiting)
    : options_(std::move(options)), most_waiting_(most_waiting) {
  try {
    while (threads_.size() < threads) threads_.push_back(deaf_thread([this] { work(); }));
  } catch (const std::system_error& error) {
    log::warn("gateway.few_threads", {{"threads", threads_.size()},
                                      {"configured", threads},
                                      {"error", error.what()},
                                      {"hint", "raise LimitNPROC or TasksMax"}});
    if (threads_.empty()) throw Error("no thread could be started for the database", kExitFailure);
  }
}

ThreadPool::~ThreadPool() {
  {
    const MutexLock held(mutex_);
    ends_ = true;
  }
  posted_.notify_all();
}

bool ThreadPool::post(Job job) {
  {
    const MutexLock held(mutex_);
    if (ends_ || jobs_.size() >= most_waiting_) return false;
    jobs_.push_back(std::move(job));
  }
  posted_.notify_one();
  return true;
}

void ThreadPool::work() {
  Session session;
  for (;;) {
    Job job;
    {
      const MutexLock held(mutex_);
      while (jobs_.empty() && !ends_) posted_.wait(mutex_);
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    if (job.alone) {
      job.alone();
    } else {
      run(session, job);
    }
  }
}

void ThreadPool::run(Session& session, const Job& job) {
  if (const auto unavailable = make_ready(session)) return job.failed(unavailable, false);
  std::exception_ptr error;
  try {
    job.act(*session.connection);
  } catch (...) {
    error = std::current_exception();
    job.failed(error, true);
  }
  session.used_ns = boot_ns();
  // A job that ends inside a transaction has failed unexpectedly.
  const bool lost = error && loses_connection(error);
  if (lost || session.connection->in_transaction()) session.connection.reset();
}

std::exception_ptr ThreadPool::make_ready(Session& session) {
  if (!session.connection) return connect(session);
  if (boot_ns() - session.used_ns < kFresh) return nullptr;
  try {
    session.connection->require_writer();
    return nullptr;
  } catch (const db::DbError&) {
    session.connection.reset();
    return connect(session);
  }
}

std::exception_ptr ThreadPool::connect(Session& session) {
  {
    const MutexLock held(mutex_);
    if (failure_.error && boot_ns() < failure_.until_ns) return failure_.error;
  }
  Failure failure;
  try {
    auto connection = std::make_unique<db::Connection>(options_);
    // A newer schema works: migrations only add, and a host may be upgraded after its database.
    db::require_schema(*connection, db::Newer::kTaken);
    session.connection = std::move(connection);
  } catch (const db::DbError& error) {
    log::warn("gateway.no_connection", {{"error", error.what()}});
    // Names of accounts, hosts and files belong in the log, not in answers to clients.
    const std::string reason =
        error.is_read_only()
            ? "the database is read-only, and nothing was changed; make it writable, or name the "
              "server that is the writer in [database] (gateway.no_connection)"
            : "the gateway has no database connection, and nothing was changed; see "
              "gateway.no_connection in its log";
    failure.error = std::make_exception_ptr(Error(reason, error.exit_code()));
  } catch (const std::exception& error) {
    log::warn("gateway.no_connection", {{"error", error.what()}});
    failure.error = std::current_exception();
  }
  // A failure suspends connection attempts of all threads for a moment.
  failure.until_ns = boot_ns() + kSpared;
  const MutexLock held(mutex_);
  failure_ = failure;
  return failure.error;
}

}  // namespace allot::gateway::work
