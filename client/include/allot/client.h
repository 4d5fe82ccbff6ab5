// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allot/submit_options.h"

// The client library of Allot: submits tasks (also as part of the caller's own transaction), shows
// their state, cancels them and takes locks. For applications; docs/client.md has examples.
//
//   allot::Client client = allot::Client::from_file();
//   client.submit({.queue = "default", .type = "hello", .payload = "world"});

// MYSQL of <mysql.h>; the struct has another name in MySQL's own connector.
#if __has_include(<mysql.h>) && !__has_include(<mariadb_version.h>)
struct MYSQL;
using st_mysql = MYSQL;
#else
struct st_mysql;
#endif

#define ALLOT_CLIENT_API [[gnu::visibility("default")]]

namespace allot {

// Failure kinds, by the caller's reaction. Only kOutcomeUnknown leaves the outcome open: with any
// other kind nothing was submitted or cancelled.
enum class ErrorKind {
  kBadInput,        // the arguments are wrong; the message names the field
  kConfig,          // wrong configuration, account, privileges or schema
  kUnavailable,     // the database is unreachable or full: retry later
  kRolledBack,      // the server rolled back the caller's transaction: repeat all of it
  kOutcomeUnknown,  // the reply was lost: the call took effect completely or not at all
  kFailed,          // anything else, e.g. a lock held by another client
};

// The only exception of this library, except std::bad_alloc. what() is one line for people.
class ALLOT_CLIENT_API ClientError : public std::runtime_error {
 public:
  ClientError(ErrorKind kind, const std::string& message);
  ~ClientError() override;
  ClientError(const ClientError&) = default;
  ClientError& operator=(const ClientError&) = default;
  ClientError(ClientError&&) = default;
  ClientError& operator=(ClientError&&) = default;
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

// Connection settings for an application without an allot.toml. Names and defaults are the same as
// in its section [database].
struct ClientSettings {
  // "db1", "db1:3307", "::1", "[::1]:3307". Each connection uses the writer among them.
  std::vector<std::string> hosts{"127.0.0.1"};
  std::uint16_t port = 3306;  // for hosts without a port
  std::string socket{};       // used instead of hosts if not empty
  std::string user = "allot";
  std::string password{};
  std::string name = "allot";  // the database that holds Allot's tables
  std::string tls = "off";     // "required": encrypted; "verify": also checks the server's name
  std::string tls_ca{};        // PEM files
  std::string tls_cert{};
  std::string tls_key{};
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds call_timeout{10'000};
  // [daemon] runtime_dir of the instance on this host. A submission wakes its idle workers, and a
  // released lock its waiting clients. Empty: none are woken; they find new tasks by themselves
  // within about a second.
  std::string runtime_dir{};
};

struct NewTask {
  // An existing queue, or one of the client's allot.toml, which the client creates. Empty: chosen
  // by a route.
  std::string queue;
  std::string type;     // 1 to 127 of A-Z a-z 0-9 . _ -
  std::string payload;  // any bytes, up to 16 MiB - 1
  SubmitOptions options{};
};

struct Submitted {
  std::string id;
  bool existed = false;  // another task has the unique key: `id` is its id
};

enum class TaskState {
  kWaiting,  // due; the next free worker of its queue takes it
  kDelayed,  // due later: `at`
  kLeased,   // due, in a partition leased by `worker`: runs now or soon
  kRunning,  // runs detached from its partition, because it takes long
  kDead,     // failed permanently or cancelled at `at`; see `cause` and `error`
  kDone,     // finished at `at`, in a queue that keeps a history; no payload
};

// The state's name: "waiting", "delayed", "leased", "running", "dead", "done".
ALLOT_CLIENT_API const char* name_of(TaskState state) noexcept;

struct TaskInfo {
  std::string id;
  std::string queue;
  std::string type;
  TaskState state = TaskState::kWaiting;
  std::uint32_t prio = 0;
  std::uint32_t attempts = 0;        // failed attempts, plus the running one
  std::uint64_t payload_size = 0;    // bytes
  std::string payload;               // uncompressed
  Moment at;                         // moment when it is due, ended or was detached: see `state`
  std::string worker;                // "host/pid" of its worker; empty: none
  bool paused = false;               // the queue is paused: no worker takes the task
  std::string cause;                 // of a dead task
  std::string error;                 // of a dead task: one line
  std::string detail;                // of a dead task: full text; empty: same as `error`
  std::string fault;                 // of a dead task: constant parts of the cause
  Moment first_due;                  // moment of submission, or the requested start
  std::string unique_key;            // empty: none, or released already
  std::optional<Moment> expires_at;  // of a waiting task: dead unless started by then
  std::optional<std::uint32_t> key_hash;  // CRC-32 of the partition_key of a waiting or dead
                                          // task, in an ordered or limited queue
  std::uint32_t max_attempts = 0;         // of this task; 0: set by its type or queue
  std::string traceparent;                // its trace; empty: none
  std::string tracestate;
  std::chrono::milliseconds time_limit{0};  // of each attempt; 0: set by its type
  std::uint32_t max_losses = 0;             // limit of lost attempts; 0: counted in max_attempts
  std::string label;                        // name in log and metrics; empty: its type
};

// The task that holds a unique key.
struct KeyOwner {
  std::string id;
  TaskState state = TaskState::kWaiting;  // kDone: finished, with or without a history
  std::optional<Moment> free_at;          // end of the key; nullopt: the task has not ended
};

enum class CancelResult {
  kCancelled,  // removed: the task is dead, or done, and will not run
  kMayRun,     // likewise, but its partition was leased: it may run; the result is discarded
  kRequested,  // running: its handler is asked to stop, and killed if it does not
  kDead,       // already dead, perhaps cancelled: nothing changed
  kGone,       // no such task: finished, or never submitted
  kConflict,   // running, and an earlier request for the other kind of end applies
};

struct CancelOptions {
  // Ends the task as if it had succeeded: it is not dead, and its unique key stays taken for its
  // time. A waiting task is recorded in the history if this client's allot.toml says that the queue
  // keeps one.
  bool as_done = false;
};

struct LockOptions {
  // Number of simultaneous holders, 1 to 1024. nullopt: the lock's own number; 1 for a new lock.
  // Throws kBadInput if the lock has another number.
  std::optional<std::uint32_t> slots{};
  // 1 s to 24 h; renewed at a third of it. Without a renewal for this long, others may take the
  // lock.
  std::chrono::milliseconds ttl{30'000};
  std::chrono::milliseconds wait{0};  // 0: take it now or not at all
  // Called at most once, by a thread of the lock, when a quarter of the ttl is left without a
  // renewal, or when the lock is lost already. The protected work must have stopped when a tenth of
  // the ttl is left. Must not throw, and must not destroy the Lock.
  std::function<void(const std::string& reason)> on_lost{};
};

// A named lock that this process holds and renews over a connection of its own, until it is
// released, destroyed or lost; see docs/locks.md. Any thread may call any function. A child must
// not use it after fork().
class ALLOT_CLIENT_API Lock {
 public:
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&& other) noexcept;
  ~Lock();  // releases it

  // Increases each time the slot is taken; never reused. Pass it to `allot_lock_require`, and to
  // guards of resources outside the database.
  [[nodiscard]] std::uint64_t token() const noexcept;
  [[nodiscard]] std::uint32_t slot() const noexcept;  // from 0
  // True if no other client can hold the slot, now and for a tenth of its ttl.
  [[nodiscard]] bool held() const noexcept;
  // True if it was held until now. False: it was lost before, or the database did not answer; then
  // the lock ends with its ttl.
  bool release() noexcept;

 private:
  friend class Client;
  class [[gnu::visibility("hidden")]] Impl;
  explicit Lock(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Access to one Allot database. Any thread may call any function at any time. Each call takes an
// idle connection or opens one, so there are as many as simultaneous calls; the client keeps the
// last few. A child must not use the client after fork(): it creates a new one. Every call may
// throw ClientError.
class ALLOT_CLIENT_API Client {
 public:
  // Connects once to verify the settings; throws kConfig and kUnavailable.
  explicit Client(const ClientSettings& settings);
  // Finds its configuration as `allot` does: this file, else $ALLOT_CONFIG, else
  // /etc/allot/allot.toml. Reads the queues, the embedded database and the runtime_dir from it.
  static Client from_file(const std::string& path = {});

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client(Client&& other) noexcept;
  Client& operator=(Client&& other) noexcept;
  ~Client();

  // Returns when the task is committed. Never resends; the caller may repeat a call after
  // kOutcomeUnknown if the tasks have a unique_key.
  Submitted submit(const NewTask& task);
  // Submits all or none, in one transaction; of two tasks with the same unique key, the second
  // `existed`.
  std::vector<Submitted> submit_many(const std::vector<NewTask>& tasks);

  // Submits in the transaction that is open on `session`, a connection of the caller to the same
  // server: the tasks exist if and only if the caller commits, and workers do not see them before.
  // The call neither commits nor rolls back. After kBadInput, kConfig and kFailed the transaction
  // is unchanged; after kRolledBack and kUnavailable it is lost. The session may have any isolation
  // level, character set and sql_mode; its LAST_INSERT_ID() changes. One thread uses a session at a
  // time. The connector must be the one that this library is linked with. Call wake() after the
  // commit.
  Submitted submit_in(st_mysql* session, const NewTask& task);
  std::vector<Submitted> submit_many_in(st_mysql* session, const std::vector<NewTask>& tasks);

  // Wakes up to this many idle workers on this host, if the settings name their instance. Never
  // fails.
  void wake(std::size_t tasks = 1) noexcept;

  // nullopt: the task has finished, or was never submitted.
  [[nodiscard]] std::optional<TaskInfo> get(std::string_view id);

  // The task of this queue that holds the unique key, or held it while the key is still reserved.
  // nullopt: the key is free. Throws kBadInput if the queue does not exist.
  [[nodiscard]] std::optional<KeyOwner> find(std::string_view queue, std::string_view unique_key);

  // Removes a waiting task; `reason` becomes its error. A running task is dead soon, unless it
  // succeeds first. The call may be repeated after kOutcomeUnknown: kDead then means that the first
  // call succeeded.
  CancelResult cancel(std::string_view id, const std::string& reason = {});
  CancelResult cancel(std::string_view id, const std::string& reason, const CancelOptions& options);

  // Takes the lock of this name, 1 to 255 bytes, creating it at its first use. Waiting clients get
  // it in order of arrival. nullopt: it was not free within `options.wait`.
  [[nodiscard]] std::optional<Lock> lock(const std::string& name, const LockOptions& options = {});

 private:
  class [[gnu::visibility("hidden")]] Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
