// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/fireworq/page.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"
#include "queue/submit/submit.h"

// Jobs of Fireworq's programs, which know them by small numbers (decision 0026).
namespace allot::queue {

// Gives new tasks numbers, in their order, within the transaction that submits them.
[[nodiscard]] Beside number_jobs(std::vector<std::uint64_t>& numbers);

// A job as it stands. `payload` is the envelope and what is behind it.
struct Job {
  std::uint64_t number = 0;
  TaskId id;
  std::uint64_t run_key = 0;
  std::uint32_t attempts = 0;  // that were charged
  Headers headers{};
  std::string payload;
  bool grabbed = false;  // it may be running
  // A dead one: when it died, in milliseconds since 1970, and what its last attempt said.
  std::int64_t died_ms = 0;
  std::string error;
};

// The type of every job.
inline constexpr std::string_view kFireworqJob = "fireworq.job";

// When a job was pushed, in milliseconds since 1970: it was submitted to be due `run_after` seconds
// later.
[[nodiscard]] std::int64_t pushed_ms(std::uint64_t first_key, std::uint32_t run_after);

enum class JobList { kWaiting, kDeferred, kGrabbed };
struct JobPage {
  std::vector<Job> jobs{};
  std::optional<ListPlace> next{};
};
// Reads the heads of the partitions and merges them: what it costs does not depend on how many
// jobs there are.
JobPage page_jobs(db::Connection& db, const QueueInfo& queue, JobList list, const ListAsk& ask);
// Dead ones, the last that died first.
JobPage page_failed(db::Connection& db, const QueueInfo& queue, const ListAsk& ask);
// Dead ones, the last that was made first, of the 100,000 that died last.
JobPage newest_failed(db::Connection& db, const QueueInfo& queue, const ListAsk& ask);

// nullopt: this queue has no such job. A dead one is no job any more, and the other way round.
std::optional<Job> find_job(db::Connection& db, const QueueInfo& queue, std::uint64_t number);
std::optional<Job> find_failed(db::Connection& db, const QueueInfo& queue, std::uint64_t number);

// How many jobs the block of each leased partition has, by the partition's number.
std::map<std::uint32_t, std::uint64_t> count_blocks(db::Connection& db, const QueueInfo& queue);

// Removes one batch of numbers whose tasks are gone, behind `after`, which moves on; it is 0 at the
// end. True: there may be more.
bool sweep_numbers(db::Connection& db, std::uint64_t& after);

// Where this connection comes from, as the server sees it.
std::string own_address(db::Connection& db);

}  // namespace allot::queue
