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

// Everything that the checker may know. Each kind of record is one line of a file that was appended
// to with one write; those of handlers, which may be killed meanwhile, are made whole by record.h.
// Times are nanoseconds of CLOCK_BOOTTIME, because all parts of a run are on one host.
using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;

enum class Answer { kAcknowledged, kRefused, kUnknown };

// The answer that a submitter got for the tasks `first` .. `first + count - 1` of its own
// numbering, which went in one batch: as a whole or not at all.
struct Told {
  unsigned submitter = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  Answer answer = Answer::kUnknown;
  Nanoseconds begin = 0;  // of the call
  Nanoseconds end = 0;
};

enum class Mark {
  kStart,
  kBeside,  // a start while another run of the task was still going on: the kernel said so
  kSuccess,
  kRetry,
  kFail,
  kCrash,  // about to raise SIGSEGV
  kRaze,   // about to kill its whole host
  // Asks for another run, and is no failed attempt, but kThrow and kHold are.
  kSnooze,
  kRelease,
  kStopped,  // because it was asked to stop
  kThrow,
  kHold,  // in an hour
  // Something that happens while it runs.
  kKept,    // its checkpoint stands
  kHooked,  // it is a hook's task: `about`
};

// What a handler left when it started and when it was about to return.
struct Trace {
  Mark mark = Mark::kStart;
  std::string queue;
  std::string task;  // the public id
  std::string tag;   // of the payload: "SUBMITTER.NUMBER"
  pid_t pid = 0;     // of the worker
  pid_t parent = 0;  // of the worker's allotd
  Nanoseconds at = 0;
  // For people, only for a start: the number of this attempt, the epoch of its lease, and until
  // when its worker is sure of that.
  unsigned attempt = 0;
  std::uint64_t epoch = 0;
  Nanoseconds lease_until = 0;
  // Of a start: whether it begins from its checkpoint ("kept"). Of kHooked: event and task.
  std::string more{};
};

// How much a fault hits at once.
enum class Reach {
  kOne,   // one worker or a connection of it; one partition
  kHost,  // an allotd with everything below it
  kAll,   // the server, or all connections to it
};

// A fault that really happened, from its beginning until its effect was over.
struct Fault {
  std::string kind;
  // The worker that it hit; an allotd, with everything below it; place_of() a partition, whichever
  // worker has it; 0: all of them.
  pid_t pid = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  bool fatal = false;      // the process ended between begin and end
  bool unguarded = false;  // it stood still, and so did the process that could have killed it
  Reach reach = Reach::kOne;
  // A task, or the supervisor, ended the worker: what had finished by then was written down, and
  // only what ran may run again.
  bool inner = false;
};

struct Evidence {
  std::vector<Told> told;
  std::vector<Trace> traces;  // in the order of their file
  std::vector<Fault> faults;
  std::vector<std::string> waiting;  // tags in the table task at the end
  std::vector<std::string> dead;     // tags in the table task_dead at the end
  // Tasks that are accounted for although nothing is left of them: an operator took them out.
  std::set<std::string> gone{};
  // Dead ones for whose death there is a reason that no handler said: cancelled, or expired.
  std::set<std::string> excused{};
  // Tasks that may have several ids, because operators moved them.
  std::set<std::string> renamed{};
  // When an operator let dead tasks run again: the call, from its beginning to its end.
  std::map<std::string, std::vector<std::pair<Nanoseconds, Nanoseconds>>> revived{};
  unsigned at_once = 1;                // tasks that a worker may start after one look at its lease
  std::vector<std::string> exclusive;  // queues in which no task may ever run twice at once
  unsigned max_attempts = 10;          // of every queue
  Nanoseconds recovery = 0;            // how long a fault that kills nothing may show after its end
  Nanoseconds unacknowledged = 0;      // how long a task that is done may wait to be acknowledged
  Nanoseconds wall_clock = 0;          // for people: what added to a time makes one since 1970
};

// A number that no process has.
pid_t place_of(std::uint64_t queue_id, std::uint64_t partition_no);
// The partition of a task by its public id; -1: no id.
pid_t place_of(const std::string& task);

const char* name_of(Mark mark);
std::string tag_of(unsigned submitter, std::uint64_t number);

std::string line_of(const Told& told);
std::string line_of(const Fault& fault);
// nullopt: the line is no such record.
std::optional<Told> parse_told(std::string_view line);
std::optional<Trace> parse_trace(std::string_view line);
std::optional<Fault> parse_fault(std::string_view line);

// Appends a line with one write. Throws std::runtime_error when that fails.
void append_line(const std::string& path, const std::string& line);
// All lines of a file. Throws std::runtime_error at the first line that cannot be parsed.
std::vector<Told> read_told(const std::string& path);
std::vector<Trace> read_traces(const std::string& path);
std::vector<Fault> read_faults(const std::string& path);

Nanoseconds now();
// Evidence::wall_clock as it is now.
Nanoseconds wall_clock();

}  // namespace allot::fault
