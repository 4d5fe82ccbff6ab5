// SPDX-License-Identifier: Apache-2.0
#include "allot/client.h"

#include <map>
#include <span>
#include <utility>

#include "client/lock.h"
#include "client/sessions.h"
#include "client/settings.h"
#include "client/task_info.h"
#include "config/settings.h"
#include "db/lent_session.h"
#include "peer/doorbell.h"
#include "queue/model/catalog.h"
#include "queue/operate/cancel.h"
#include "queue/submit/submitter.h"

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

std::vector<queue::Submission> submissions_of(std::span<const NewTask> tasks) {
  std::vector<queue::Submission> submissions;
  for (const auto& [queue, type, payload, options] : tasks) {
    submissions.push_back({{}, type, payload, options, queue});
  }
  return submissions;
}

std::vector<Submitted> answer_of(const std::vector<queue::Submitted>& made) {
  std::vector<Submitted> tasks;
  for (const queue::Submitted& task : made) tasks.push_back({task.id.text(), task.existed()});
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
      const bool open = session.undo();
      if (error.error_class() == db::ErrorClass::kGone) throw;
      if (!open) {
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
    sessions_.begin([](db::Connection&) {});
  }

  std::vector<Submitted> submit(std::span<const NewTask> tasks) {
    auto submissions = submissions_of(tasks);
    if (submissions.empty()) return {};
    queue::Submitter submitter(environment_);
    const auto session =
        sessions_.begin([&](db::Connection& db) { submitter.prepare(db, submissions); });
    return answer_of(submitter.submit(*session, submissions));
  }

  std::vector<Submitted> submit_in(st_mysql* lent, std::span<const NewTask> tasks) {
    if (lent == nullptr) throw Error("session: null", kExitBadInput);
    auto submissions = submissions_of(tasks);
    if (submissions.empty()) return {};
    // Uses a separate connection: on the caller's connection this query would start the snapshot of
    // the caller's transaction, and assigning a partition to a key would keep a lock until the
    // commit.
    std::optional<queue::Placer> placer;
    sessions_.begin([&](db::Connection& db) {
      queue::Submitter(environment_).prepare(db, submissions);
      placer.emplace(db, submissions);
    });
    db::LentSession his(*lent, settings_.connect.database);
    return answer_of(submit_lent(his, *placer, submissions));
  }

  std::unique_ptr<Lock::Impl> lock(const queue::LockSpec& spec, const LockOptions& options) {
    queue::validate(spec);
    auto bell = std::make_unique<peer::LockBell>(settings_.runtime_dir, spec.name);
    auto held = client::wait_for_lock(settings_.connect, spec, options.wait, token_floor_, *bell);
    if (!held) return nullptr;
    return std::make_unique<Lock::Impl>(settings_.connect, *held, std::move(bell), options.on_lost);
  }

  void wake(std::size_t tasks) const {
    peer::Ringer(settings_.runtime_dir).ring({{peer::kAnyQueue, tasks}});
  }

  std::optional<TaskInfo> get(const queue::TaskId& id) {
    std::optional<TaskInfo> info;
    sessions_.begin([&](db::Connection& db) { info = client::task_info(db, id); });
    return info;
  }

  std::optional<KeyOwner> find(std::string_view queue, std::string_view unique_key) {
    if (unique_key.empty() || unique_key.size() > queue::kMaxUniqueKey) {
      throw Error("unique_key: 1 to 255 bytes are allowed", kExitBadInput);
    }
    std::optional<KeyOwner> owner;
    sessions_.begin([&](db::Connection& db) { owner = client::key_owner(db, queue, unique_key); });
    return owner;
  }

  CancelResult cancel(const queue::TaskId& id, const std::string& reason,
                      const CancelOptions& options) {
    std::optional<queue::AsDone> end;
    const auto session = sessions_.begin([&](db::Connection& db) {
      db.require_writer();
      if (options.as_done) end = queue::as_done_here(keeps_history(db, id));
    });
    try {
      return result_of(queue::cancel_task(*session, id, reason, end));
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
    const config::Queue* queue = configured(queue::queue_name(db, id.partition.queue_id));
    return queue != nullptr && queue->history.count() > 0;
  }

  [[nodiscard]] const config::Queue* configured(const std::string& name) const {
    const auto queue = settings_.queues.find(name);
    return queue != settings_.queues.end() ? &queue->second : nullptr;
  }

  const client::Settings settings_;
  client::Sessions sessions_;
  queue::TokenFloor token_floor_;
  // A submitter is made for each call, because a queue may grow or shrink between calls.
  const queue::Submitter::Environment environment_{
      .configured = [this](const std::string& name) { return configured(name); },
      .ringer = peer::Ringer(settings_.runtime_dir)};
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
  if (tasks > 0) impl_->wake(tasks);
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
