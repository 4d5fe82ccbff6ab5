// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allot/submit_options.h"

// The client library of Allot: submit tasks, also as part of a transaction of one's own, look at
// them, take them out. docs/client.md has examples.
//
//   allot::Client client = allot::Client::from_file();
//   client.submit({.queue = "default", .type = "hello", .payload = "world"});

struct st_mysql;  // MYSQL of <mysql.h>

#define ALLOT_CLIENT_API [[gnu::visibility("default")]]

namespace allot {

// What went wrong, as a caller can react to it. Only kOutcomeUnknown leaves open what was done:
// with any other kind nothing was submitted or cancelled.
enum class ErrorKind {
  kBadInput,        // the call is wrong; the message names the field
  kConfig,          // configuration, account, rights or schema
  kUnavailable,     // the database cannot be reached, or is full: later again
  kRolledBack,      // the server has ended the caller's transaction: all of it again
  kOutcomeUnknown,  // the reply was lost: it happened all or not at all
  kFailed,          // anything else, e.g. a lock that somebody else keeps
};

// The only exception of this library, beside std::bad_alloc. what() is one line for people.
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
  // "db1", "db1:3307", "::1", "[::1]:3307". Each connection goes to the first that is writable.
  std::vector<std::string> hosts{"127.0.0.1"};
  std::uint16_t port = 3306;  // of every host that names none
  std::string socket{};       // used instead of hosts when not empty
  std::string user = "allot";
  std::string password{};
  std::string name = "allot";  // the database that holds Allot's tables
  std::string tls = "off";     // "required": encrypted; "verify": and the server's name is proven
  std::string tls_ca{};        // PEM files
  std::string tls_cert{};
  std::string tls_key{};
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds call_timeout{10'000};
  // [daemon] runtime_dir of the instance on this host, whose workers are woken by a submission.
  // Empty: none is; workers on all hosts find new tasks by themselves, within about a second.
  std::string runtime_dir{};
};

struct NewTask {
  std::string queue;    // has to exist, or to be in the client's allot.toml, which makes it
  std::string type;     // 1 to 63 of A-Z a-z 0-9 . _ -
  std::string payload;  // any bytes, up to 16 MiB - 1
  SubmitOptions options{};
};

struct Submitted {
  std::string id;
  bool existed = false;  // its unique key was taken: this is the task that has it
};

enum class TaskState {
  kWaiting,  // due; the next worker of its queue that is free takes it
  kDelayed,  // waits for its time: `at`
  kLeased,   // due, in a partition that a worker (`worker`) has: it runs, or does so soon
  kRunning,  // on its own, detached from its partition, since it runs long
  kDead,     // failed for good, or cancelled: `cause` and `error` say why, `at` when
  kDone,     // finished, in a queue that keeps a history: `at` says when; no payload
};

// A word for it: "waiting", "delayed", "leased", "running", "dead", "done".
ALLOT_CLIENT_API const char* name_of(TaskState state) noexcept;

struct TaskInfo {
  std::string id;
  std::string queue;
  std::string type;
  TaskState state = TaskState::kWaiting;
  std::uint32_t prio = 0;
  std::uint32_t attempts = 0;      // failed ones, and of a running one that which runs
  std::uint64_t payload_size = 0;  // bytes
  std::string payload;             // as its handler gets it
  Moment at;            // when it is or was due; when it ended; since when it runs detached
  std::string worker;   // "host/pid"; empty: nobody has it
  bool paused = false;  // its queue is: no worker takes it
  std::string cause;
  std::string error;
};

enum class CancelResult {
  kCancelled,  // taken out: it is a dead one now and will not run
  kMayRun,     // taken out, but a worker had its partition: it may be running, and writes nothing
  kAsked,      // it runs: its handler is asked to stop, and killed if it does not
  kDead,       // it was dead, cancelled perhaps: left alone
  kGone,       // no such task: finished, or never submitted
};

// Any thread may call anything at any time; each call has a connection of its own, taken from those
// that are idle, so there are as many as were needed at once, and the last few are kept. Not to be
// used in a child after fork(): make a new one there. Every call may throw ClientError.
class ALLOT_CLIENT_API Client {
 public:
  // Connects once, to find out that it can: kConfig and kUnavailable.
  explicit Client(const ClientSettings& settings);
  // As `allot` finds its configuration: this file, else $ALLOT_CONFIG, else /etc/allot/allot.toml.
  // Has the queues, the embedded database and the runtime_dir of that file.
  static Client from_file(const std::string& path = {});

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client(Client&& other) noexcept;
  Client& operator=(Client&& other) noexcept;
  ~Client();

  // Returns when the task is committed. Sends nothing twice; a kOutcomeUnknown may be repeated
  // when the tasks have a unique_key.
  Submitted submit(const NewTask& task);
  // All or none, as one transaction; of two with one unique key the second one existed.
  std::vector<Submitted> submit_many(const std::vector<NewTask>& tasks);

  // The same in the transaction that is open on `session`, a connection of the caller to the same
  // server: the tasks exist if and only if he commits, and no worker sees them before. Neither
  // commits nor rolls back; after kBadInput, kConfig and kFailed the transaction stands as it was,
  // after kRolledBack and kUnavailable it is gone. Its isolation level, character set and
  // sql_mode may be any; its LAST_INSERT_ID() changes. One thread uses a session at a time. The
  // connector must be the one that this library is linked with. Call wake() after the commit.
  Submitted submit_in(st_mysql* session, const NewTask& task);
  std::vector<Submitted> submit_many_in(st_mysql* session, const std::vector<NewTask>& tasks);

  // Wakes up to so many idle workers on this host, if the settings say where they are. Never fails.
  void wake(std::size_t tasks = 1) noexcept;

  // nullopt: finished, or never submitted.
  [[nodiscard]] std::optional<TaskInfo> get(std::string_view id);

  // Takes a waiting task out; `reason` becomes its error. One that runs ends as a dead one soon,
  // unless it succeeds first. After kOutcomeUnknown it may be repeated: kDead then says that it had
  // worked.
  CancelResult cancel(std::string_view id, const std::string& reason = {});

 private:
  class [[gnu::visibility("hidden")]] Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
