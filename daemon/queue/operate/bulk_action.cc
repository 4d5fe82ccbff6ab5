// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/bulk_action.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/checksum.h"
#include "queue/model/audit.h"
#include "queue/model/dead_letter.h"
#include "queue/model/error_text.h"
#include "queue/model/server_change.h"
#include "queue/model/statements.h"
#include "queue/operate/bulk_work.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kCountedPage = 1000;

constexpr std::array<std::string_view, 2> kKinds{"retry_dead", "discard_dead"};
constexpr std::array<std::string_view, 5> kStates{"waiting", "running", "done", "stopped",
                                                  "failed"};

template <typename Enum, std::size_t n>
Enum named(const std::array<std::string_view, n>& names, std::string_view name) {
  if (const auto value = value_of<Enum>(names, name)) return *value;
  throw Error("bulk_action has '" + std::string(name) + "'");
}

// A token: the time of the count, its result, and a checksum of these and the filter.
struct Token {
  std::uint64_t until_us = 0;
  std::uint64_t tasks = 0;
  bool more = false;
};

std::string text_of(const Token& token, BulkKind kind, const QueueInfo& queue,
                    const BulkFilter& filter) {
  const std::string head = std::to_string(token.until_us) + "." + std::to_string(token.tasks) +
                           (token.more ? "+." : ".");
  Checksum sum;
  for (const std::string_view word :
       {std::string_view(head), name_of(kind), std::string_view(queue.name),
        std::string_view(filter.group), std::string_view(filter.type)}) {
    sum.add(word);
    sum.add(" ");
  }
  return head + sum.hex();
}

// False: the text does not begin with a number and its separator.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

Token read_token(const QueueInfo& queue, const BulkRequest& request) {
  std::string_view text = request.token;
  Token token;
  bool good = take_number(text, token.until_us) && text.substr(0, 1) == ".";
  if (good) text.remove_prefix(1);
  good = good && take_number(text, token.tasks);
  token.more = good && text.substr(0, 1) == "+";
  if (!good || text_of(token, request.kind, queue, request.filter) != request.token) {
    throw Error(
        "the token belongs to another count: count these tasks, and use the token of that count",
        kExitBadInput);
  }
  return token;
}

void read_action(const db::Row& row, BulkAction& action) {
  row.read(0, action.action_id);
  action.kind = named<BulkKind>(kKinds, row.text(1));
  row.read(2, action.queue_id, action.queue, action.filter.group, action.filter.type,
           action.died_until_us, action.died_until, action.rate, action.counted, action.counted_all,
           action.requested_by, action.started_at);
  action.state = named<BulkState>(kStates, row.text(13));
  TaskId& after = action.after;
  after.partition.queue_id = action.queue_id;
  row.read(14, action.batches, after.partition.partition_no, after.prio, after.first_key,
           action.done, action.ended_at, action.stopped_by, action.error, action.wait);
}

// A token begins one action, which has one audit entry.
Action begin_action(const QueueInfo& queue, const BulkRequest& request) {
  db::Statement begun(sql::k_audit_begun);
  begun.set("token", request.token);
  std::string which = request.filter.group.empty() ? "" : "group " + request.filter.group;
  if (!request.filter.type.empty())
    which += (which.empty() ? "type " : ", type ") + request.filter.type;
  return {name_of(request.kind),          "queue", queue.name, begun, which,
          Checksum(request.token).value()};
}

}  // namespace

bool is_chosen(const BulkFilter& filter, std::uint64_t until_us, const DeadLetter& letter) {
  return (letter.died_at_us <= until_us || letter.ahead) &&
         (filter.type.empty() || letter.type == filter.type) &&
         (filter.group.empty() || letter.group == filter.group);
}

std::string_view name_of(BulkKind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(BulkState state) {
  return kStates.at(static_cast<std::size_t>(state));
}

BulkCount count_bulk(db::Connection& db, BulkKind kind, const QueueInfo& queue,
                     const BulkFilter& filter, std::uint64_t most) {
  Token token;
  token.until_us = static_cast<std::uint64_t>(database_now(db).time_since_epoch().count());
  if (!filter.group.empty() && filter.type.empty()) {
    const BoundedCount count = count_group(db, queue, filter.group, most);
    return {count.value, count.at_least,
            text_of({token.until_us, count.value, count.at_least}, kind, queue, filter)};
  }
  TaskId last;
  for (std::uint64_t examined = 0;;) {
    const auto wanted =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kCountedPage, most + 1 - examined));
    const auto page = page_dead(db, queue.queue_id, last, wanted);
    for (const DeadLetter& letter : page) {
      token.more = ++examined > most;
      if (!token.more && is_chosen(filter, token.until_us, letter)) ++token.tasks;
    }
    if (token.more || page.size() < wanted) break;
    last = page.back().id;
  }
  return {token.tasks, token.more, text_of(token, kind, queue, filter)};
}

std::uint64_t begin_bulk(db::Connection& db, const QueueInfo& queue, const BulkRequest& request) {
  const Token token = read_token(queue, request);
  // Two concurrent calls may exceed the limit by one.
  if (open_bulk(db).size() >= kMostOpenBulk) {
    throw Error(std::to_string(kMostOpenBulk) +
                " bulk actions are in progress: wait, or stop some of them");
  }
  db::Statement begin(sql::k_begin_bulk);
  begin.set("token", request.token)
      .set("kind", name_of(request.kind))
      .set("queue_id", queue.queue_id)
      .set("dead_group", request.filter.group)
      .set("type", request.filter.type)
      .set("until_us", token.until_us)
      .set("rate", request.rate)
      .set("counted", token.tasks)
      .set("counted_all", !token.more)
      .set("requested_by", error_text(request.requested_by, kMostBulkText));
  auto results = act(db, begin_action(queue, request), {&begin, 1}, Entry::kAfter);
  const auto row = results.back().next();
  if (!row) {
    throw Error("the token has expired after an hour: count again", kExitBadInput);
  }
  return row->u64(0);
}

std::optional<BulkAction> find_bulk(db::Connection& db, std::uint64_t action_id) {
  db::Statement find(sql::k_find_bulk);
  return db.read_first<BulkAction>(find.set("action_id", action_id), read_action);
}

std::vector<BulkAction> list_bulk(db::Connection& db, std::uint64_t before, std::uint32_t most) {
  db::Statement list(sql::k_list_bulk);
  list.set("before", before).set("limit", most);
  return db.read_all<BulkAction>(list, read_action);
}

bool stop_bulk(db::Connection& db, std::uint64_t action_id, std::string_view stopped_by) {
  db::Statement stop(sql::k_stop_bulk);
  stop.set("action_id", action_id).set("stopped_by", error_text(stopped_by, kMostBulkText));
  db::Statement open(sql::k_audit_stopped);
  open.set("action_id", action_id);
  return act(db, {"stop_bulk", "bulk", std::to_string(action_id), open}, {&stop, 1})
             .front()
             .affected() > 0;
}

}  // namespace allot::queue
