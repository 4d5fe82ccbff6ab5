// SPDX-License-Identifier: Apache-2.0
#include "allot/client.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/names.h"
#include "client/lock.h"
#include "client/sessions.h"
#include "client/settings.h"
#include "client/task_info.h"
#include "config/settings.h"
#include "db/lent_session.h"
#include "peer/doorbell.h"
#include "queue/model/catalog.h"
#include "queue/operate/cancel.h"
#include "queue/submit/address.h"
#include "queue/submit/submit.h"

namespace allot {
namespace {

ErrorKind kind_of(ExitCode code) {
  switch (code) {
    case kExitUsage:
    case kExitBadInput:
      return ErrorKind::kBadInput;
    case kExitNoInput:
    case kExitConfig:
      return ErrorKind::kConfig;
    case kExitUnavailable:
      return ErrorKind::kUnavailable;
    case kExitOutcomeUnknown:
      return ErrorKind::kOutcomeUnknown;
    default:
      return ErrorKind::kFailed;
  }
}

// Converts internal exceptions into ClientError; every public call goes through here.
template <typename Call>
auto translated(Call call) {
  try {
    return call();
  } catch (const Error& error) {
    throw ClientError(kind_of(error.exit_code()), error.what());
  } catch (const ClientError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw ClientError(ErrorKind::kFailed, std::string("defect: ") + error.what());
  }
}

queue::TaskId id_of(std::string_view word) {
  const auto id = queue::TaskId::parse(word);
  if (!id)
    throw Error("id '" + std::string(word.substr(0, 40)) + "': not a task id", kExitBadInput);
  return *id;
}

queue::Submission submission_of(const NewTask& task) {
  queue::Submission submission{{}, task.type, task.payload, task.options};
  if (!task.queue.empty() && !queue::is_name(task.queue)) {
    throw Error("queue '" + task.queue.substr(0, kMaxQueueName) +
                    "': 1 to 63 of A-Z a-z 0-9 . _ - are allowed",
                kExitBadInput);
  }
  queue::validate(task.type, task.payload, task.options);
  return submission;
}

// Calls `act` with each index, and adds the index of the failing task to an error.
template <typename Act>
void each(std::span<const NewTask> tasks, Act act) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    try {
      act(i);
    } catch (const Error& error) {
      if (tasks.size() == 1 || error.exit_code() != kExitBadInput) throw;
      throw Error("task " + std::to_string(i) + ": " + error.what(), kExitBadInput);
    }
  }
}

// Checks all task fields that do not depend on the queue.
std::vector<queue::Submission> submissions_of(std::span<const NewTask> tasks) {
  std::vector<queue::Submission> submissions;
  each(tasks, [&](std::size_t i) { submissions.push_back(submission_of(tasks[i])); });
  return submissions;
}

std::vector<Submitted> answer_of(const std::vector<queue::Submitted>& made) {
  std::vector<Submitted> tasks;
  for (const queue::Submitted& task : made) tasks.push_back({task.id.text(), task.existed});
  return tasks;
}

// Submits all or none in the transaction that is open on `session`.
std::vector<queue::Submitted> submit_lent(db::LentSession& session, const queue::Placer& placer,
                                          std::span<const queue::Submission> submissions) {
  constexpr int kTries = 8;
  for (int tries = 1;; ++tries) {
    try {
      return queue::submit_within(session.connection(), placer, submissions);
    } catch (const db::DbError& error) {
      const bool stands = session.undo();
      if (error.error_class() == db::ErrorClass::kGone) throw;
      if (!stands) {
        throw ClientError(ErrorKind::kRolledBack,
                          std::string("the server rolled the transaction back: ") + error.what());
      }
      if (error.error_class() != db::ErrorClass::kDuplicate || tries == kTries) throw;
    }
  }
}

}  // namespace

ClientError::ClientError(ErrorKind kind, const std::string& message)
    : std::runtime_error(message), kind_(kind) {}
ClientError::~ClientError() = default;

class Client::Impl {
 public:
  explicit Impl(client::Settings settings)
      : settings_(std::move(settings)), sessions_(settings_.connect) {
    sessions_.keep(sessions_.begin([](db::Connection&) { return true; }).first);
  }

  std::vector<Submitted> submit(std::span<const NewTask> tasks) {
    auto submissions = submissions_of(tasks);
    if (submissions.empty()) return {};
    auto [session, ready] = sessions_.begin([&](db::Connection& db) {
      find_queues(db, tasks, submissions);
      return true;
    });
    const auto made = queue::submit(*session, submissions);
    sessions_.keep(std::move(session));
    wake(queue::new_tasks(made));
    return answer_of(made);
  }

  std::vector<Submitted> submit_in(st_mysql* lent, std::span<const NewTask> tasks) {
    if (lent == nullptr) throw Error("session: null", kExitBadInput);
    auto submissions = submissions_of(tasks);
    if (submissions.empty()) return {};
    // Uses a separate connection: on the caller's connection this query would start the snapshot of
    // the caller's transaction, and assigning a partition to a key would keep a lock until the
    // commit.
    auto [session, placer] = sessions_.begin([&](db::Connection& db) {
      find_queues(db, tasks, submissions);
      return queue::Placer(db, submissions);
    });
    sessions_.keep(std::move(session));
    db::LentSession his(*lent, settings_.connect.database);
    return answer_of(submit_lent(his, placer, submissions));
  }

  std::unique_ptr<Lock::Impl> lock(const queue::LockSpec& spec, const LockOptions& options) {
    queue::validate(spec);
    auto bell = std::make_unique<peer::LockBell>(settings_.runtime_dir, spec.name);
    auto held = client::wait_for_lock(settings_.connect, spec, options.wait, token_floor_, *bell);
    if (!held) return nullptr;
    return std::make_unique<Lock::Impl>(settings_.connect, *held, std::move(bell), options.on_lost);
  }

  void wake(const std::map<std::uint32_t, std::size_t>& tasks) const {
    if (settings_.runtime_dir.empty() || tasks.empty()) return;
    peer::ring_at(settings_.runtime_dir.c_str(), tasks);
  }

  std::optional<TaskInfo> get(const queue::TaskId& id) {
    auto [session, info] =
        sessions_.begin([&](db::Connection& db) { return client::task_info(db, id); });
    sessions_.keep(std::move(session));
    return info;
  }

  std::optional<KeyOwner> find(std::string_view queue, std::string_view unique_key) {
    if (unique_key.empty() || unique_key.size() > queue::kMaxUniqueKey) {
      throw Error("unique_key: 1 to 255 bytes are allowed", kExitBadInput);
    }
    auto [session, owner] = sessions_.begin(
        [&](db::Connection& db) { return client::key_owner(db, queue, unique_key); });
    sessions_.keep(std::move(session));
    return owner;
  }

  CancelResult cancel(const queue::TaskId& id, const std::string& reason,
                      const CancelOptions& options) {
    auto [session, end] = sessions_.begin([&](db::Connection& db) {
      db.require_writer();
      std::optional<queue::AsDone> as_done;
      if (options.as_done) as_done = queue::as_done_here(keeps_history(db, id));
      return as_done;
    });
    try {
      const auto cancelled = queue::cancel_task(*session, id, reason, end);
      sessions_.keep(std::move(session));
      return result_of(cancelled);
    } catch (const db::DbError& error) {
      if (!error.outcome_unknown()) throw;
      throw ClientError(ErrorKind::kOutcomeUnknown, "whether task " + id.text() +
                                                        " was cancelled is unknown, because the "
                                                        "reply was lost (" +
                                                        error.what() + ")");
    }
  }

 private:
  static CancelResult result_of(const queue::Cancelled& cancelled) {
    if (cancelled.done) return cancelled.may_run ? CancelResult::kMayRun : CancelResult::kCancelled;
    if (cancelled.conflict) return CancelResult::kConflict;
    if (cancelled.requested) return CancelResult::kRequested;
    return cancelled.task ? CancelResult::kDead : CancelResult::kGone;
  }

  [[nodiscard]] bool keeps_history(db::Connection& db, const queue::TaskId& id) const {
    if (settings_.queues.empty()) return false;
    const auto queue = settings_.queues.find(queue::queue_name(db, id.partition.queue_id));
    return queue != settings_.queues.end() && queue->second.history.count() > 0;
  }

  // Reads the queues at every call, because a queue may grow or shrink between calls.
  void find_queues(db::Connection& db, std::span<const NewTask> tasks,
                   std::vector<queue::Submission>& submissions) const {
    queue::Addresses addresses(
        [this](db::Connection& on, const std::string& name) { return queue_of(on, name); });
    each(tasks, [&](std::size_t i) {
      submissions[i].queue = addresses.find(db, tasks[i].queue, tasks[i].type);
      complete(submissions[i].queue.name, submissions[i].options);
      queue::validate(submissions[i]);
    });
  }

  void complete(const std::string& name, SubmitOptions& options) const {
    const auto configured = settings_.queues.find(name);
    if (configured == settings_.queues.end() || options.compress_above) return;
    options.compress_above = configured->second.compress_above;
  }

  [[nodiscard]] queue::QueueInfo queue_of(db::Connection& db, const std::string& name) const {
    if (auto info = queue::find_queue(db, name)) return std::move(*info);
    const auto configured = settings_.queues.find(name);
    if (configured != settings_.queues.end()) {
      return queue::ensure_queue(db, name, queue::shape_of(configured->second));
    }
    throw Error("queue '" + name + "' does not exist; the daemon makes it at its start, from a " +
                    "section [queues.\"" + name + "\"]",
                kExitBadInput);
  }

  const client::Settings settings_;
  client::Sessions sessions_;
  queue::TokenFloor token_floor_;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(const ClientSettings& settings)
    : impl_(translated([&] { return std::make_unique<Impl>(client::from_client(settings)); })) {}
Client Client::from_file(const std::string& path) {
  return Client(translated([&] { return std::make_unique<Impl>(client::from_file(path)); }));
}
Client::Client(Client&& other) noexcept = default;
Client& Client::operator=(Client&& other) noexcept = default;
Client::~Client() = default;

Submitted Client::submit(const NewTask& task) {
  return translated([&] { return impl_->submit({&task, 1}); }).front();
}
std::vector<Submitted> Client::submit_many(const std::vector<NewTask>& tasks) {
  return translated([&] { return impl_->submit(tasks); });
}
Submitted Client::submit_in(st_mysql* session, const NewTask& task) {
  return translated([&] { return impl_->submit_in(session, {&task, 1}); }).front();
}
std::vector<Submitted> Client::submit_many_in(st_mysql* session,
                                              const std::vector<NewTask>& tasks) {
  return translated([&] { return impl_->submit_in(session, tasks); });
}
void Client::wake(std::size_t tasks) noexcept {
  if (tasks > 0) impl_->wake({{peer::kAnyQueue, tasks}});
}
std::optional<TaskInfo> Client::get(std::string_view id) {
  return translated([&] { return impl_->get(id_of(id)); });
}
std::optional<KeyOwner> Client::find(std::string_view queue, std::string_view unique_key) {
  return translated([&] { return impl_->find(queue, unique_key); });
}
CancelResult Client::cancel(std::string_view id, const std::string& reason) {
  return cancel(id, reason, {});
}
CancelResult Client::cancel(std::string_view id, const std::string& reason,
                            const CancelOptions& options) {
  return translated([&] { return impl_->cancel(id_of(id), reason, options); });
}

std::optional<Lock> Client::lock(const std::string& name, const LockOptions& options) {
  return translated([&]() -> std::optional<Lock> {
    auto held = impl_->lock({name, options.slots, options.ttl}, options);
    if (!held) return std::nullopt;
    return Lock(std::move(held));
  });
}

}  // namespace allot
