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

// The client library of Allot: submits tasks, also as part of the caller's own transaction, shows
// their state and cancels them. docs/client.md has examples.
//
//   allot::Client client = allot::Client::from_file();
//   client.submit({.queue = "default", .type = "hello", .payload = "world"});

// MYSQL of <mysql.h>, which has another name in MySQL's own connector.
#if __has_include(<mysql.h>) && !__has_include(<mariadb_version.h>)
struct MYSQL;
using st_mysql = MYSQL;
#else
struct st_mysql;
#endif

#define ALLOT_CLIENT_API [[gnu::visibility("default")]]

namespace allot {

// What went wrong, as a caller can react to it. Only kOutcomeUnknown leaves open what happened:
// with any other kind nothing was submitted or cancelled.
enum class ErrorKind {
  kBadInput,        // the call is wrong; the message names the field
  kConfig,          // configuration, account, rights or schema
  kUnavailable,     // the database cannot be reached, or is full: try again later
  kRolledBack,      // the server ended the caller's transaction: repeat all of it
  kOutcomeUnknown,  // the reply was lost: the call took effect as a whole or not at all
  kFailed,          // anything else, e.g. a lock that somebody else keeps
};

// The only exception that this library throws, except std::bad_alloc. what() is one line for
// people.
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

// How to connect, for an application without an allot.toml. Names and defaults are those of its
// section [database].
struct ClientSettings {
  // "db1", "db1:3307", "::1", "[::1]:3307". Each connection uses the writer among them.
  std::vector<std::string> hosts{"127.0.0.1"};
  std::uint16_t port = 3306;  // of every host that names none
  std::string socket{};       // used instead of hosts when not empty
  std::string user = "allot";
  std::string password{};
  std::string name = "allot";  // the database that holds Allot's tables
  std::string tls = "off";     // "required": encrypted; "verify": also checks the server's name
  std::string tls_ca{};        // PEM files
  std::string tls_cert{};
  std::string tls_key{};
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds call_timeout{10'000};
  // [daemon] runtime_dir of the instance on this host whose workers a submission wakes. If empty,
  // it wakes none: workers on all hosts find new tasks by themselves, within about a second. The
  // same holds for those on this host who wait for a lock.
  std::string runtime_dir{};
};

struct NewTask {
  // Exists, or the client makes it because its allot.toml has it. Empty: a route says which.
  std::string queue;
  std::string type;     // 1 to 127 of A-Z a-z 0-9 . _ -
  std::string payload;  // any bytes, up to 16 MiB - 1
  SubmitOptions options{};
};

struct Submitted {
  std::string id;
  bool existed = false;  // the unique key was taken: `id` is the task that has it
};

enum class TaskState {
  kWaiting,  // due; the next worker of its queue that is free takes it
  kDelayed,  // waits for its time: `at`
  kLeased,   // due, in a partition that `worker` has leased: it runs, or will soon
  kRunning,  // runs detached from its partition, because it takes long
  kDead,     // failed for good, or cancelled: `cause` and `error` say why, `at` when
  kDone,     // finished, in a queue that keeps a history: `at` says when; no payload
};

// The state's name: "waiting", "delayed", "leased", "running", "dead", "done".
ALLOT_CLIENT_API const char* name_of(TaskState state) noexcept;

struct TaskInfo {
  std::string id;
  std::string queue;
  std::string type;
  TaskState state = TaskState::kWaiting;
  std::uint32_t prio = 0;
  std::uint32_t attempts = 0;        // failed ones, plus the one that runs
  std::uint64_t payload_size = 0;    // bytes
  std::string payload;               // as the handler gets it
  Moment at;                         // when it is due, ended, or was detached: see `state`
  std::string worker;                // "host/pid"; empty: no worker has it
  bool paused = false;               // the queue is paused: no worker takes the task
  std::string cause;                 // of one that is dead
  std::string error;                 // likewise: one line
  std::string detail;                // likewise: all of it, with line breaks; empty: `error` is
  std::string fault;                 // likewise: what failed and where, without what differs
  Moment first_due;                  // when it was submitted, or the time that it was submitted for
  std::string unique_key;            // empty: it has none, or no longer
  std::optional<Moment> expires_at;  // of one that waits: dead unless it has begun by then
  std::optional<std::uint32_t> key_hash;  // CRC-32 of the partition_key of one that waits or is
                                          // dead, in an ordered or limited queue
  std::uint32_t max_attempts = 0;         // of this task; 0: as its type or queue says
  std::string traceparent;                // the trace that it belongs to; empty: none
  std::string tracestate;
  std::chrono::milliseconds time_limit{0};  // of each attempt; 0: as its type says
  std::uint32_t max_losses = 0;  // attempts that may be lost, apart from those; 0: a loss is one
  std::string label;             // what log and metrics call it; empty: its type
};

// The task that has a unique key.
struct KeyOwner {
  std::string id;
  TaskState state = TaskState::kWaiting;  // kDone: finished, whether or not there is a history
  std::optional<Moment> free_at;          // when the key is free again; without: the task lives
};

enum class CancelResult {
  kCancelled,  // taken out: the task is dead, or done, now and will not run
  kMayRun,     // the same, but a worker had its partition: it may run, yet writes nothing
  kAsked,      // the task runs: its handler is asked to stop, and killed if it does not
  kDead,       // the task was dead already, perhaps cancelled: nothing changed
  kGone,       // no such task: finished, or never submitted
  kOtherwise,  // the task runs, and somebody asked before for the other kind of end, which stands
};

struct CancelOptions {
  // The task ends as if it had succeeded: it is not dead, and its unique key stays taken for its
  // time. A waiting one then stands in the history if this client's allot.toml says that the queue
  // keeps one.
  bool as_done = false;
};

struct LockOptions {
  // How many may hold the lock at a time, 1 to 1024. Without: as many as it has; a new one has 1.
  // Where it has another number the call throws kBadInput.
  std::optional<std::uint32_t> slots{};
  // 1 s to 24 h. It is renewed at a third of it; once it was not for so long, others may have it.
  std::chrono::milliseconds ttl{30'000};
  std::chrono::milliseconds wait{0};  // 0: take it now or not at all
  // Called at most once, by a thread of the lock: it is about to be lost (a quarter of its ttl is
  // left), or lost already. It must have stopped what the lock is for when a tenth of the ttl is
  // left, must not throw, and must not destroy the Lock.
  std::function<void(const std::string& reason)> on_lost{};
};

// A named lock that this process holds, and renews over a connection of its own, until it is
// released, destroyed or lost. docs/locks.md. Any thread may call anything. A child must not use it
// after fork().
class ALLOT_CLIENT_API Lock {
 public:
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&& other) noexcept;
  ~Lock();  // releases it

  // Grows with each taking of the slot; no other has ever had it. For `allot_lock_require`, and for
  // guards of what is outside of the database.
  [[nodiscard]] std::uint64_t token() const noexcept;
  [[nodiscard]] std::uint32_t slot() const noexcept;  // from 0
  // Whether nobody else can have it, now and for a tenth of its ttl.
  [[nodiscard]] bool held() const noexcept;
  // True if it was held until now. False: it was lost before, or the database did not answer; then
  // it ends with its ttl.
  bool release() noexcept;

 private:
  friend class Client;
  class [[gnu::visibility("hidden")]] Impl;
  explicit Lock(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Any thread may call anything at any time. Each call takes an idle connection or opens one, so
// there are as many as were needed at once, and the client keeps the last few. A child must not use
// the client after fork(): it makes a new one. Every call may throw ClientError.
class ALLOT_CLIENT_API Client {
 public:
  // Connects once, to find out that it can; throws kConfig and kUnavailable.
  explicit Client(const ClientSettings& settings);
  // Finds its configuration as `allot` does: this file, else $ALLOT_CONFIG, else
  // /etc/allot/allot.toml. Takes the queues, the embedded database and the runtime_dir from that
  // file.
  static Client from_file(const std::string& path = {});

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client(Client&& other) noexcept;
  Client& operator=(Client&& other) noexcept;
  ~Client();

  // Returns when the task is committed. Never sends anything twice; the caller may repeat a call
  // after kOutcomeUnknown if the tasks have a unique_key.
  Submitted submit(const NewTask& task);
  // Submits all or none, in one transaction; of two tasks with the same unique key the second
  // `existed`.
  std::vector<Submitted> submit_many(const std::vector<NewTask>& tasks);

  // The same in the transaction that is open on `session`, a connection of the caller to the same
  // server: the tasks exist if and only if the caller commits, and no worker sees them before. The
  // call neither commits nor rolls back. After kBadInput, kConfig and kFailed the transaction is as
  // it was before, after kRolledBack and kUnavailable it is gone. The session may have any
  // isolation level, character set and sql_mode; its LAST_INSERT_ID() changes. One thread uses a
  // session at a time. The connector must be the one that this library is linked with. Call wake()
  // after the commit.
  Submitted submit_in(st_mysql* session, const NewTask& task);
  std::vector<Submitted> submit_many_in(st_mysql* session, const std::vector<NewTask>& tasks);

  // Wakes up to this many idle workers on this host, if the settings name their instance. Never
  // fails.
  void wake(std::size_t tasks = 1) noexcept;

  // nullopt: the task has finished, or was never submitted.
  [[nodiscard]] std::optional<TaskInfo> get(std::string_view id);

  // The task of this queue that has the unique key, or had it and no other task may have it yet.
  // nullopt: the key is free. Throws kBadInput if there is no such queue.
  [[nodiscard]] std::optional<KeyOwner> find(std::string_view queue, std::string_view unique_key);

  // Takes a waiting task out; `reason` becomes its error. A running task is dead soon, unless it
  // succeeds first. The call may be repeated after kOutcomeUnknown: kDead then says that the first
  // one had worked.
  CancelResult cancel(std::string_view id, const std::string& reason = {});
  CancelResult cancel(std::string_view id, const std::string& reason, const CancelOptions& options);

  // Takes the lock of this name, of 1 to 255 bytes, which is made at its first use. Clients that
  // wait get it in the order of arrival. nullopt: it was not free within `options.wait`.
  [[nodiscard]] std::optional<Lock> lock(const std::string& name, const LockOptions& options = {});

 private:
  class [[gnu::visibility("hidden")]] Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
