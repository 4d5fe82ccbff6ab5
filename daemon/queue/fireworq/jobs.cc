// SPDX-License-Identifier: Apache-2.0
#include "queue/fireworq/jobs.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "queue/fireworq/definition.h"
#include "queue/model/compression.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::size_t kMostByNumber = 100'000;
constexpr std::uint32_t kSweepBatch = 1000;

// Keys of a partition that a list has.
struct Range {
  std::uint32_t partition_no = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::uint64_t key_of(std::int64_t ms) {
  const std::int64_t since = std::max<std::int64_t>(0, ms - kKeysBeginMs);
  return static_cast<std::uint64_t>(since) * kKeysOfMs;
}

struct LeasedBlock {
  std::uint32_t partition_no = 0;
  bool leased = false;
  std::uint64_t size = 0;
  std::uint64_t due_key = 0;
  std::uint64_t end = 0;  // first key that is not in the block
};

std::vector<LeasedBlock> list_blocks(db::Connection& db, const QueueInfo& queue) {
  db::Statement list(sql::k_list_blocks);
  list.set("queue_id", queue.queue_id);
  return db.read_all(list, [](const db::Row& row) {
    return LeasedBlock{row.u32(0), row.u64(1) != 0, row.u64(2), row.u64(3)};
  });
}

void block_end(db::Connection& db, const QueueInfo& queue, std::vector<LeasedBlock>& blocks) {
  std::vector<db::Statement> ends;
  std::vector<LeasedBlock*> leased;
  for (LeasedBlock& block : blocks) {
    if (!block.leased) continue;
    leased.push_back(&block);
    set_partition(ends.emplace_back(sql::k_block_end), {queue.queue_id, block.partition_no})
        .set("prio", kDefaultPrio)
        .set("due_key", block.due_key)
        .set("block_size", block.size);
  }
  if (ends.empty()) return;
  auto results = db.run(ends);
  for (std::size_t i = 0; i < leased.size(); ++i) {
    const auto row = results.at(i).next();
    leased[i]->end = row ? row->u64(0) : leased[i]->due_key + 1;
  }
}

std::vector<Range> ranges_of(const std::vector<LeasedBlock>& blocks, JobList list) {
  std::vector<Range> ranges;
  for (const LeasedBlock& block : blocks) {
    switch (list) {
      case JobList::kWaiting:
        ranges.push_back({block.partition_no, block.end, block.due_key});
        break;
      case JobList::kDeferred:
        ranges.push_back({block.partition_no, block.due_key + 1, ~std::uint64_t{0} >> 1U});
        break;
      case JobList::kGrabbed:
        if (block.end > 0) ranges.push_back({block.partition_no, 0, block.end - 1});
        break;
    }
  }
  return ranges;
}

db::Statement number_statement(std::span<const Submitted> made) {
  const auto row = [](const Submitted& task) {
    const TaskId& id = task.id;
    const std::uint64_t columns[] = {id.partition.queue_id, id.partition.partition_no, id.prio,
                                     id.first_key};
    return "(" + number_list(columns) + ")";
  };
  db::Statement number(sql::k_number_jobs);
  return number.set_raw("rows", db::joined(made, row));
}

std::vector<ListedRow> page_of(db::Connection& db, const QueueInfo& queue, Range range,
                               std::size_t source, const ListAsk& ask, std::size_t most) {
  if (ask.from && ask.latest_first) {
    const std::uint64_t end = key_of(ask.from->ms + 1);
    if (end == 0) return {};  // before all keys
    range.last = std::min(range.last, end - 1);
  } else if (ask.from) {
    range.first = std::max(range.first, key_of(ask.from->ms));
  }
  if (range.last < range.first) return {};
  db::Statement page(sql::k_page_jobs);
  set_partition(page, {queue.queue_id, range.partition_no})
      .set("prio", kDefaultPrio)
      .set("first_key", range.first)
      .set("last_key", range.last)
      .set_raw("way", ask.latest_first ? "DESC" : "ASC")
      .set("limit", most);
  return db.read_all(page, [&](const db::Row& row) {
    return ListedRow{{due_ms(row.u64(0)), row.u64(1)}, source, row.u64(0), row.u64(2)};
  });
}

// Fills in the data of a partition's rows, by their keys.
void read_jobs(db::Connection& db, Partition partition, std::map<std::uint64_t, Job*>& by_key) {
  db::Statement read(sql::k_read_jobs);
  set_partition(read, partition)
      .set("prio", kDefaultPrio)
      .set_raw("run_keys",
               db::joined(by_key, [](const auto& one) { return std::to_string(one.first); }));
  db.each_row(read, [&](const db::Row& row) {
    Job& job = *by_key.at(row.u64(0));
    job.id = {partition, kDefaultPrio, 0};
    row.read(0, job.run_key, job.id.first_key, job.attempts);
    job.headers = read_headers(row.text(3));
    job.payload = decompress(row.u32(4), row.string(5));
  });
}

struct Dead {
  TaskId id;
  std::uint64_t number = 0;
};

void read_failed(db::Connection& db, std::span<const Dead> dead, std::vector<Job>& jobs) {
  std::vector<db::Statement> reads;
  for (const Dead& each : dead) set_id(reads.emplace_back(sql::k_read_failed), each.id);
  if (reads.empty()) return;
  auto results = db.run(reads);
  for (std::size_t i = 0; i < dead.size(); ++i) {
    const auto row = results.at(i).next();
    if (!row) continue;  // gone since the first read
    Job& job = jobs.emplace_back();
    job.number = dead[i].number;
    job.id = dead[i].id;
    row->read(0, job.attempts);
    job.headers = read_headers(row->text(1));
    job.payload = decompress(row->u32(2), row->string(3));
    row->read(4, job.error, job.died_ms);
  }
}

struct DeadRows {
  std::vector<ListedRow> rows;  // the key is the place in `dead`
  std::vector<Dead> dead;
};

DeadRows page_failed(db::Connection& db, const QueueInfo& queue, std::int64_t until_ms,
                     std::size_t most) {
  db::Statement page(sql::k_page_failed);
  page.set("queue_id", queue.queue_id).set("until_us", until_ms * 1000).set("limit", most);
  auto results = db.run({page});
  DeadRows read;
  while (const auto row = results.front().next()) {
    read.rows.push_back(
        {{static_cast<std::int64_t>(row->u64(0)), row->u64(1)}, 0, read.dead.size(), row->u64(2)});
    read.dead.push_back({{{queue.queue_id, row->u32(3)}, row->u32(4), row->u64(5)}, row->u64(1)});
  }
  return read;
}

// Far in the future, without overflow of an interval.
constexpr std::int64_t kNever = 8'000'000'000'000;

std::vector<Dead> chosen(const ListPage& page, const std::vector<Dead>& dead) {
  std::vector<Dead> some;
  for (const ListedRow& row : page.rows) some.push_back(dead[row.key]);
  return some;
}

}  // namespace

std::int64_t pushed_ms(std::uint64_t first_key, std::uint32_t run_after) {
  return due_ms(first_key) - std::int64_t{1000} * run_after;
}

ExtraStatements number_jobs(std::vector<std::uint64_t>& numbers) {
  ExtraStatements extra;
  extra.statements = [&numbers](std::span<const Submitted> made) {
    numbers.assign(made.size(), 0);
    return made.empty() ? std::vector<db::Statement>() : std::vector{number_statement(made)};
  };
  extra.answered = [&numbers](std::span<db::StatementResult> results) {
    if (results.empty()) return;
    const std::uint64_t first = results.front().insert_id();
    const std::uint64_t step = results.back().one().u64(0);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = first + i * step;
  };
  return extra;
}

JobPage page_jobs(db::Connection& db, const QueueInfo& queue, JobList list, const ListAsk& ask) {
  std::vector<LeasedBlock> blocks = list_blocks(db, queue);
  if (list != JobList::kDeferred) block_end(db, queue, blocks);
  const std::vector<Range> ranges = ranges_of(blocks, list);
  const ListPage page = list_page(ask, ranges.size(), [&](std::size_t source, std::size_t most) {
    return page_of(db, queue, ranges[source], source, ask, most);
  });
  JobPage result{std::vector<Job>(page.rows.size()), page.next};
  std::map<std::uint32_t, std::map<std::uint64_t, Job*>> partitions;
  for (std::size_t i = 0; i < page.rows.size(); ++i) {
    const ListedRow& row = page.rows[i];
    result.jobs[i].number = row.place.id;
    result.jobs[i].grabbed = list == JobList::kGrabbed;
    partitions[ranges[row.source].partition_no][row.key] = &result.jobs[i];
  }
  for (auto& [partition_no, keys] : partitions) {
    read_jobs(db, {queue.queue_id, partition_no}, keys);
  }
  // Removes jobs that ended or moved between the two reads.
  std::erase_if(result.jobs, [](const Job& job) { return job.run_key == 0; });
  return result;
}

JobPage page_failed(db::Connection& db, const QueueInfo& queue, const ListAsk& ask) {
  std::vector<Dead> dead;
  const ListPage page = list_page(ask, 1, [&](std::size_t /*source*/, std::size_t most) {
    DeadRows read = page_failed(db, queue, ask.from ? ask.from->ms + 1 : kNever, most);
    dead = std::move(read.dead);
    return std::move(read.rows);
  });
  JobPage result{{}, page.next};
  read_failed(db, chosen(page, dead), result.jobs);
  return result;
}

// Sorted by number, which counts submissions; the number therefore serves as the time as well.
JobPage newest_failed(db::Connection& db, const QueueInfo& queue, const ListAsk& ask) {
  DeadRows read = page_failed(db, queue, kNever, kMostByNumber);
  for (ListedRow& row : read.rows) row.place.ms = 0;
  ListAsk by_number = ask;
  by_number.latest_first = true;
  if (by_number.from) by_number.from->ms = 0;
  std::sort(read.rows.begin(), read.rows.end(),
            [](const ListedRow& a, const ListedRow& b) { return b.place < a.place; });
  const ListPage page = list_page(
      by_number, 1, [&](std::size_t /*source*/, std::size_t /*most*/) { return read.rows; });
  JobPage result{{}, page.next};
  read_failed(db, chosen(page, read.dead), result.jobs);
  return result;
}

namespace {

struct Found {
  TaskId id;
  std::uint64_t run_key = 0;
};

std::optional<Found> find_number(db::Connection& db, const QueueInfo& queue, std::uint64_t number) {
  db::Statement find(sql::k_find_job);
  find.set("job_id", number).set("queue_id", queue.queue_id);
  return db.read_first(find, [&](const db::Row& row) {
    return Found{{{queue.queue_id, row.u32(0)}, row.u32(1), row.u64(2)}, row.u64(3)};
  });
}

}  // namespace

std::optional<Job> find_job(db::Connection& db, const QueueInfo& queue, std::uint64_t number) {
  // The job may move once between the two reads.
  for (int tries = 0; tries < 2; ++tries) {
    const auto found = find_number(db, queue, number);
    if (!found) return std::nullopt;
    Job job;
    job.number = number;
    std::map<std::uint64_t, Job*> by_key{{found->run_key, &job}};
    read_jobs(db, found->id.partition, by_key);
    if (job.run_key == 0 || job.id != found->id) continue;
    std::vector<LeasedBlock> blocks = list_blocks(db, queue);
    std::erase_if(blocks, [&](const LeasedBlock& block) {
      return block.partition_no != job.id.partition.partition_no;
    });
    block_end(db, queue, blocks);
    job.grabbed = !blocks.empty() && job.run_key < blocks.front().end;
    return job;
  }
  return std::nullopt;
}

std::optional<Job> find_failed(db::Connection& db, const QueueInfo& queue, std::uint64_t number) {
  const auto found = find_number(db, queue, number);
  if (!found) return std::nullopt;
  std::vector<Job> jobs;
  const Dead dead{found->id, number};
  read_failed(db, {&dead, 1}, jobs);
  if (jobs.empty()) return std::nullopt;
  return std::move(jobs.front());
}

std::map<std::uint32_t, std::uint64_t> count_blocks(db::Connection& db, const QueueInfo& queue) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const LeasedBlock& block : list_blocks(db, queue)) {
    if (!block.leased) continue;
    const Range due{block.partition_no, 0, block.due_key};
    const ListAsk earliest{.latest_first = false};
    const auto rows = page_of(db, queue, due, 0, earliest, block.size);
    counts[block.partition_no] = rows.size();
  }
  return counts;
}

bool sweep_numbers(db::Connection& db, std::uint64_t& after) {
  db::Statement page(sql::k_page_numbers);
  page.set("after", after).set("limit", kSweepBatch);
  auto results = db.run({page});
  std::string gone;
  std::uint64_t last = 0;
  while (const auto row = results.front().next()) {
    last = row->u64(0);
    if (row->u64(1) != 0) gone += (gone.empty() ? "" : ",") + row->string(0);
  }
  if (!gone.empty()) {
    db::Statement sweep(sql::k_sweep_numbers);
    sweep.set_raw("job_ids", std::move(gone));
    db.run({sweep});
  }
  const bool more = results.front().row_count() == kSweepBatch;
  after = more ? last : 0;
  return more;
}

std::string own_address(db::Connection& db) {
  return db.run({db::Statement(sql::k_own_address)}).front().one().string(0);
}

}  // namespace allot::queue
