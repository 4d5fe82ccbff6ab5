// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/served.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "queue/model/duty.h"
#include "queue/notices/notice.h"
#include "queue/notices/stuck.h"
#include "queue/operate/purge.h"
#include "queue/submit/address.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

using queue::Notice;
using queue::NoticeKind;
using queue::RaisedNotice;

constexpr Nanos kNoticesEvery = 30 * kSecond;
// How long a duty may lack a leader: several terms, so that a change of leaders does not count.
constexpr std::chrono::seconds kLeaderless = 6 * queue::kDutyTtl;

bool same(const Notice& one, const Notice& other) {
  return one.kind == other.kind && one.subject == other.subject;
}

bool is_among(const std::vector<Notice>& all, const Notice& notice) {
  return std::any_of(all.begin(), all.end(), [&](const Notice& one) { return same(one, notice); });
}

bool is_raised(const std::vector<RaisedNotice>& raised, const Notice& notice) {
  return std::any_of(raised.begin(), raised.end(),
                     [&](const RaisedNotice& one) { return same(one.notice, notice); });
}

void append(std::vector<Notice>& all, std::vector<Notice> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Notice> late_purges(const NoticeSources& from, db::Connection& db) {
  const std::chrono::seconds most =
      std::chrono::duration_cast<std::chrono::seconds>(from.settings.notices.purge_late);
  std::vector<Notice> late;
  for (const Served& queue : from.served) {
    const config::Queue& keys = *queue.keys;
    if (keys.history.count() == 0 && keys.dead_retention.count() == 0) continue;
    const auto lag = queue::purge_lag(db, queue.info.queue_id, keys.history, keys.dead_retention);
    const auto seconds = std::max(lag.history.value_or(std::chrono::seconds(0)),
                                  lag.dead.value_or(std::chrono::seconds(0)));
    if (seconds <= most) continue;
    late.push_back(
        {NoticeKind::kPurge, queue.info.name,
         "the oldest row is " + std::to_string(seconds.count()) + " s past its retention"});
  }
  return late;
}

std::vector<Notice> poll(const NoticeSources& from, db::Connection& db) {
  const config::Notices& keys = from.settings.notices;
  std::vector<Notice> now = queue::waiting_queues(db, keys.waiting);
  if (keys.dead > 0) append(now, queue::dead_queues(db, keys.dead));
  append(now, queue::leaderless_duties(db, kLeaderless));
  append(now, queue::failing_schedules(db));
  append(now, late_purges(from, db));
  append(now, from.servers.second_writers());
  return now;
}

bool knows(const NoticeSources& from, const std::string& queue) {
  return std::any_of(from.served.begin(), from.served.end(),
                     [&](const Served& one) { return one.info.name == queue; });
}

// Some conditions are visible only to a host with that queue, or with a worker that deferred the
// task. The first kind stays unchanged; for the second kind the task says whether it is over.
bool over(const NoticeSources& from, db::Connection& db, const RaisedNotice& raised,
          const std::vector<Notice>& now) {
  const Notice& notice = raised.notice;
  if (notice.kind == NoticeKind::kNoHandler) {
    const auto id = queue::TaskId::parse(notice.task);
    return !id || queue::stuck_unknown(db, {&*id, 1}, std::chrono::microseconds(0)).empty();
  }
  if (notice.kind == NoticeKind::kPurge && !knows(from, notice.subject)) return false;
  return !is_among(now, notice);
}

std::optional<queue::Submission> about(const NoticeSources& from, const Notice& notice,
                                       bool raise) {
  const std::string& word = from.settings.notices.on_change;
  const auto target = config::hook_target(word);
  if (!target) return std::nullopt;
  const auto into = ask(from.session, [&](db::Connection& db) {
    return queue::address(db, target->queue, target->type);
  });
  if (!into || into->shape.placement != queue::Placement::kSpread) {
    log::error("hook.unusable", {{"notices", word}});
    return std::nullopt;
  }
  nlohmann::json text = {{"event", "notice"},
                         {"state", raise ? "raised" : "cleared"},
                         {"kind", queue::name_of(notice.kind)},
                         {"subject", notice.subject},
                         {"detail", notice.detail}};
  if (!notice.task.empty()) text["task"] = notice.task;
  return queue::Submission{
      *into, target->type, text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), {}};
}

void change(const NoticeSources& from, const Notice& notice, bool raise) {
  const auto task = about(from, notice, raise);
  const bool changed = ask(from.session, [&](db::Connection& db) {
    return raise ? queue::raise_notice(db, notice, task) : queue::clear_notice(db, notice, task);
  });
  if (!changed) return;
  if (task) peer::Ringer(from.board).ring({{task->queue.queue_id, 1}});
  log::warn(raise ? "notice.raised" : "notice.cleared", {{"kind", queue::name_of(notice.kind)},
                                                         {"subject", notice.subject},
                                                         {"detail", notice.detail}});
}

void raise_and_clear(const NoticeSources& from) {
  process::Session& session = from.session;
  const auto raised = ask(session, [](db::Connection& db) { return queue::list_notices(db); });
  const auto now = ask(session, [&](db::Connection& db) { return poll(from, db); });
  for (const Notice& notice : now) {
    if (!is_raised(raised, notice)) change(from, notice, true);
  }
  for (const RaisedNotice& one : raised) {
    if (ask(session, [&](db::Connection& db) { return over(from, db, one, now); })) {
      change(from, one.notice, false);
    }
  }
}

// One notice for each type of a queue, from the first host that reports it.
void raise_unknown(const NoticeSources& from) {
  const auto tasks = from.unknown.all();
  if (tasks.empty()) return;
  const auto raised = ask(from.session, [](db::Connection& db) { return queue::list_notices(db); });
  const auto after = std::chrono::microseconds(from.settings.notices.waiting);
  const auto waiting =
      ask(from.session, [&](db::Connection& db) { return queue::stuck_unknown(db, tasks, after); });
  for (const queue::Stuck& stuck : waiting) {
    const auto of = std::find_if(from.served.begin(), from.served.end(), [&](const Served& queue) {
      return queue.info.queue_id == stuck.id.partition.queue_id;
    });
    if (of == from.served.end()) continue;
    const Notice notice{
        NoticeKind::kNoHandler, of->info.name + "/" + stuck.type,
        "a task has been waiting since " + stuck.since + ", and no handler has its type",
        stuck.id.text()};
    if (!is_raised(raised, notice)) change(from, notice, true);
  }
}

}  // namespace

std::vector<Chore> notices(const NoticeSources& sources) {
  const auto row = [&](const char* name, const std::vector<queue::DutyName>& duties,
                       void (*round)(const NoticeSources& from)) {
    const auto run = [round, sources](bool /*fresh*/) {
      round(sources);
      return kDone;
    };
    return Chore{
        .name = name, .duties = duties, .every = kNoticesEvery, .run_once = run, .at_drain = true};
  };
  return {row("no_handler", {}, raise_unknown), row("notices", {{0, "notices"}}, raise_and_clear)};
}

}  // namespace allot::steward
