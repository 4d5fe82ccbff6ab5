// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "contract/world.h"

namespace allot::contract {

using nlohmann::json;

// The kinds of answers, by what the caller can do next: as exit codes and ErrorKind have them.
enum class Kind {
  kDone,
  kBadInput,        // the call is wrong, or names what there is not
  kFailed,          // not as things are: the task is gone, dead already, not dead ...
  kUnavailable,     // nothing was changed; later it may go well
  kOutcomeUnknown,  // the reply was lost
  kOther,
};
std::ostream& operator<<(std::ostream& out, Kind kind);

// A task that was submitted.
struct Made {
  std::string id;
  bool existed = false;  // of several that were submitted in one call, a command does not say which
};

// NOLINTNEXTLINE(bugprone-exception-escape): json moves without exceptions, whatever it asserts
struct Answer {
  Kind kind = Kind::kDone;
  std::string text{};         // of a refusal
  std::vector<Made> made{};   // in the order of what was submitted
  std::uint64_t existed = 0;  // how many of them were there before
  std::string word{};         // a state, or the result of a cancel request
  std::uint64_t number = 0;   // a token
  json document{};            // of what is shown or listed
  void add(const std::string& id, bool was_there = false);
  [[nodiscard]] std::string id() const { return made.empty() ? "" : made.front().id; }
};
std::ostream& operator<<(std::ostream& out, const Answer& answer);

// A task to submit. The options have the names that they have in JSON: {"delay", "5m"}.
struct Task {
  std::string queue = "default";
  std::string type = "t";
  std::string payload{};
  std::map<std::string, std::string> options{};
};

// A schedule to make; the options again by their names in JSON.
struct Schedule {
  std::string name = "s";
  std::string expression = "@daily";
  std::string queue = "default";
  std::string type = "t";
  std::string payload{};
  std::map<std::string, std::string> options{};
};

// Abilities that an interface may have.
enum class Can {
  kSubmit,
  kSubmitMany,
  kFind,  // a task by its id, or by its unique key
  kCancel,
  kShowPayloads,
  kLoseReplies,  // it reports a lost reply, and a database that is away
  kQueues,       // pause, rate, resize; and the lists
  kDead,         // list, retry, discard
  kMakeSchedules,
  kSchedules,  // pause, resume, run now, remove
  kHoldLocks,
  kChangeLocks,  // show, resize, break
};

// One way to ask Allot for something. An interface does only what its kind can.
class Interface {
 public:
  using Text = const std::string&;

  Interface() = default;
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
  virtual ~Interface() = default;

  // Whether a task can be written down for submit(), or for submit_many().
  [[nodiscard]] virtual bool takes(const Task& /*task*/) const { return true; }
  [[nodiscard]] virtual bool takes_many(const Task& task) const { return takes(task); }

  virtual Answer submit(const Task& /*task*/) { cannot(); }
  virtual Answer submit_many(const std::vector<Task>& /*tasks*/) { cannot(); }

  // word: of a state waiting, running, dead or done; the payload; of a request to cancel cancelled
  // or asked, and of its refusal gone, dead or otherwise
  virtual Answer state(Text /*id*/) { cannot(); }
  virtual Answer payload(Text /*id*/) { cannot(); }
  virtual Answer find(Text /*queue*/, Text /*unique_key*/) { cannot(); }
  virtual Answer cancel(Text /*id*/, Text /*reason*/, bool /*as_done*/) { cannot(); }

  // document: the queue, the list
  virtual Answer pause_queue(Text /*queue*/, Text /*reason*/) { cannot(); }
  virtual Answer resume_queue(Text /*queue*/) { cannot(); }
  virtual Answer set_rate(Text /*queue*/, Text /*per_second*/, Text /*burst*/) { cannot(); }
  virtual Answer remove_rate(Text /*queue*/) { cannot(); }
  virtual Answer resize_queue(Text /*queue*/, Text /*partitions*/) { cannot(); }
  virtual Answer set_max_running(Text /*queue*/, Text /*max_running*/) { cannot(); }
  virtual Answer queues() { cannot(); }
  virtual Answer dead(Text /*queue*/) { cannot(); }
  virtual Answer dead_of_group(Text /*queue*/, Text /*group*/) { cannot(); }
  virtual Answer groups(Text /*queue*/) { cannot(); }
  virtual Answer retry(Text /*id*/) { cannot(); }
  virtual Answer discard(Text /*id*/) { cannot(); }

  // document: the schedule; made: of a run, its task
  virtual Answer make_schedule(const Schedule& /*schedule*/) { cannot(); }
  virtual Answer schedule(Text /*name*/) { cannot(); }
  virtual Answer pause_schedule(Text /*name*/, Text /*reason*/) { cannot(); }
  virtual Answer resume_schedule(Text /*name*/) { cannot(); }
  virtual Answer run_schedule(Text /*name*/) { cannot(); }
  virtual Answer remove_schedule(Text /*name*/) { cannot(); }

  // number: the token; kFailed: it is held
  virtual Answer take_lock(Text /*name*/, Text /*slots*/, Text /*ttl*/) { cannot(); }
  virtual Answer release_lock(Text /*name*/, std::uint64_t /*token*/) { cannot(); }
  // document: the lock; what was broken
  virtual Answer lock(Text /*name*/) { cannot(); }
  virtual Answer resize_lock(Text /*name*/, Text /*slots*/) { cannot(); }
  virtual Answer break_lock(Text /*name*/, Text /*slot*/) { cannot(); }

 private:
  [[noreturn]] static void cannot();
};

struct InterfaceKind {
  const char* name;
  std::vector<Can> can;
  std::unique_ptr<Interface> (*open)(World& world);
};
std::ostream& operator<<(std::ostream& out, const InterfaceKind& kind);

// All that can do this.
std::vector<InterfaceKind> interfaces_that(Can can);

// The refusal of an Error's exit code, as the commands and the client library have them.
Kind kind_of_exit(int code);

// Options as fields of JSON: those that are numbers everywhere become numbers where they are some.
json fields_of(const std::map<std::string, std::string>& options);
json document_of(const Task& task);
bool is_text(const std::string& bytes);  // UTF-8

std::unique_ptr<Interface> open_client(World& world);
std::unique_ptr<Interface> open_transaction(World& world);  // of an application, by the client
std::unique_ptr<Interface> open_command(World& world);
std::unique_ptr<Interface> open_remote(World& world);  // the command over HTTP
std::unique_ptr<Interface> open_procedure(World& world);
std::unique_ptr<Interface> open_http(World& world);

// For the command line and HTTP, which report with the same document and the same words what became
// of a request to cancel.
[[nodiscard]] Answer with_word_of_cancel(Answer answer);

}  // namespace allot::contract
