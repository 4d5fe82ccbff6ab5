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

// Jobs of Fireworq's programs, which identify them by small numbers (decision 0026).
namespace allot::queue {

// Numbers new tasks in their order, within the transaction that submits them.
[[nodiscard]] ExtraStatements number_jobs(std::vector<std::uint64_t>& numbers);

// Current state of a job. `payload` is the envelope and the bytes that follow it.
struct Job {
  std::uint64_t number = 0;
  TaskId id;
  std::uint64_t run_key = 0;
  std::uint32_t attempts = 0;  // charged ones
  Headers headers{};
  std::string payload;
  bool grabbed = false;  // may be running
  // Dead jobs only: time of death in milliseconds since 1970, and the message of the last attempt.
  std::int64_t died_ms = 0;
  std::string error;
};

// The type of every job.
inline constexpr std::string_view kFireworqJob = "fireworq.job";

// When a job was pushed, in milliseconds since 1970: its due time less `run_after` seconds.
[[nodiscard]] std::int64_t pushed_ms(std::uint64_t first_key, std::uint32_t run_after);

enum class JobList { kWaiting, kDeferred, kGrabbed };
struct JobPage {
  std::vector<Job> jobs{};
  std::optional<ListPlace> next{};
};
// Reads the heads of the partitions and merges them: the cost does not depend on the number of
// jobs.
JobPage page_jobs(db::Connection& db, const QueueInfo& queue, JobList list, const ListAsk& ask);
// Dead jobs, latest death first.
JobPage page_failed(db::Connection& db, const QueueInfo& queue, const ListAsk& ask);
// Dead jobs, newest first, among the 100,000 latest deaths.
JobPage newest_failed(db::Connection& db, const QueueInfo& queue, const ListAsk& ask);

// nullopt: the queue has no such job. find_job() finds only live jobs, find_failed() only dead
// ones.
std::optional<Job> find_job(db::Connection& db, const QueueInfo& queue, std::uint64_t number);
std::optional<Job> find_failed(db::Connection& db, const QueueInfo& queue, std::uint64_t number);

// Number of jobs in the block of each leased partition, by partition number.
std::map<std::uint32_t, std::uint64_t> count_blocks(db::Connection& db, const QueueInfo& queue);

// Removes one batch of numbers after `after` whose tasks are gone. `after` advances and is 0 at the
// end. True: there may be more.
bool sweep_numbers(db::Connection& db, std::uint64_t& after);

// Address of this connection as the server sees it.
std::string own_address(db::Connection& db);

}  // namespace allot::queue
