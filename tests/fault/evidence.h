// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allot::fault {

// Everything that the checker may know. Each kind of record is one line of a file, appended with
// one write; records of handlers, which may be killed while writing, are kept whole by record.h.
// Times are nanoseconds of CLOCK_BOOTTIME, because all parts of a run are on one host.
using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;

enum class Answer { kAcknowledged, kRefused, kUnknown };

// Answer to a submitter for the tasks `first` .. `first + count - 1` of its own numbering, which
// were one batch: all or nothing.
struct Reply {
  unsigned submitter = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  Answer answer = Answer::kUnknown;
  Nanoseconds begin = 0;  // of the call
  Nanoseconds end = 0;
};

enum class Mark {
  kStart,
  kBeside,  // a start during another run of the task, detected by the kernel
  kSuccess,
  kRetry,
  kFail,
  kCrash,  // about to raise SIGSEGV
  kRaze,   // about to kill its whole host
  // Requests another run. Not a failed attempt, except for kThrow and kHold.
  kSnooze,
  kRelease,
  kStopped,  // because a stop was requested
  kThrow,
  kHold,  // in an hour
  // Events during a run.
  kKept,    // its checkpoint is stored
  kHooked,  // it is the task of a hook: `about`
};

// Record of a handler at its start or just before its return.
struct Trace {
  Mark mark = Mark::kStart;
  std::string queue;
  std::string task;  // the public id
  std::string tag;   // of the payload: "SUBMITTER.NUMBER"
  pid_t pid = 0;     // of the worker
  pid_t parent = 0;  // of the worker's allotd
  Nanoseconds at = 0;
  // For people, only for a start: number of this attempt, epoch of its lease, and the deadline up
  // to which its worker relies on it.
  unsigned attempt = 0;
  std::uint64_t epoch = 0;
  Nanoseconds lease_until = 0;
  // For a start: "kept" if it begins from its checkpoint. For kHooked: event and task.
  std::string more{};
};

// Extent of a fault.
enum class Reach {
  kOne,   // one worker or one of its connections; one partition
  kHost,  // an allotd with all its descendants
  kAll,   // the server, or all connections to it
};

// A fault that really happened, from its beginning until its effect was over.
struct Fault {
  std::string kind;
  // Worker that was hit; or an allotd, with all its descendants; or place_of() a partition,
  // whichever worker has it; 0: all of them.
  pid_t pid = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  bool fatal = false;      // the process ended between begin and end
  bool unguarded = false;  // it was stopped, and so was the process that could have killed it
  Reach reach = Reach::kOne;
  // A task, or the supervisor, ended the worker: runs that had finished were recorded, and only the
  // active run may run again.
  bool inner = false;
};

struct Evidence {
  std::vector<Reply> replies;
  std::vector<Trace> traces;  // in the order of their file
  std::vector<Fault> faults;
  std::vector<std::string> waiting;  // tags in the table task at the end
  std::vector<std::string> dead;     // tags in the table task_dead at the end
  // Tasks that are accounted for although they left no trace: removed by an operator.
  std::set<std::string> gone{};
  // Dead tasks with a cause that no handler reported: cancelled, or expired.
  std::set<std::string> excused{};
  // Tasks that may have several ids, because operators moved them.
  std::set<std::string> renamed{};
  // Calls of operators that revived dead tasks: begin and end.
  std::map<std::string, std::vector<std::pair<Nanoseconds, Nanoseconds>>> revived{};
  unsigned at_once = 1;                // tasks that a worker may start after one check of its lease
  std::vector<std::string> exclusive;  // queues in which a task must never run twice at once
  unsigned max_attempts = 10;          // of every queue
  Nanoseconds recovery = 0;            // how long a non-fatal fault may show after its end
  Nanoseconds unacknowledged = 0;      // how long a finished task may wait for its acknowledgement
  Nanoseconds wall_clock = 0;          // for people: offset from a time to one since 1970
};

// A number that is not a process id.
pid_t place_of(std::uint64_t queue_id, std::uint64_t partition_no);
// The partition of a task by its public id; -1: no id.
pid_t place_of(const std::string& task);

const char* name_of(Mark mark);
std::string tag_of(unsigned submitter, std::uint64_t number);

std::string line_of(const Reply& reply);
std::string line_of(const Fault& fault);
// nullopt: the line is not such a record.
std::optional<Reply> parse_reply(std::string_view line);
std::optional<Trace> parse_trace(std::string_view line);
std::optional<Fault> parse_fault(std::string_view line);

// Appends a line with one write. Throws std::runtime_error on failure.
void append_line(const std::string& path, const std::string& line);
// All lines of a file. Throws std::runtime_error at the first line that cannot be parsed.
std::vector<Reply> read_replies(const std::string& path);
std::vector<Trace> read_traces(const std::string& path);
std::vector<Fault> read_faults(const std::string& path);

Nanoseconds now();
// Current value of Evidence::wall_clock.
Nanoseconds wall_clock();

}  // namespace allot::fault
