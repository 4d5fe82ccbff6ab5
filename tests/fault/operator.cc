// SPDX-License-Identifier: Apache-2.0
#include "fault/operator.h"

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fault/attempts.h"
#include "fault/tags.h"
#include "fault/work.h"

namespace allot::fault {
namespace {

constexpr std::uint64_t kAtOnce = 3;  // tasks cancelled by one action
// Maximum time until a daemon has read its file after a reload, also on a busy machine.
constexpr Nanoseconds kReads = 5 * kSecond;

const char* word_of(Landed landed) {
  return landed == Landed::kYes ? "yes" : landed == Landed::kNo ? "no" : "maybe";
}

}  // namespace

std::string line_of(const Operation& operation) {
  std::ostringstream line;
  line << name_of(operation.act) << ' ' << (operation.queue.empty() ? "-" : operation.queue) << ' '
       << (operation.task.empty() ? "-" : operation.task) << ' '
       << (operation.tag.empty() ? "-" : operation.tag) << ' ' << operation.begin << ' '
       << operation.end << ' ' << word_of(operation.landed) << (operation.asked ? " asked" : "")
       << (operation.may_run ? "" : " not_fetched") << (operation.lifts ? " lifts" : "");
  for (const TaskRow& task : operation.tasks) line << ' ' << task.tag;
  return line.str();
}

Operator::Operator(const Draw& draw, Cluster& cluster, Storm& storm)
    : draw_(draw), cluster_(cluster), storm_(storm), versions_(draw.hosts.size()) {
  // A running daemon refuses an invalid file and continues; a starting one has nothing to continue
  // with.
  storm_.before_each_start([this](Host& host) {
    for (unsigned i = 0; i < versions_.size(); ++i) {
      if (cluster_.hosts().at(i).get() == &host) write_good(i);
    }
  });
}

void Operator::begin() {
  for (const auto* actions : {&draw_.actions, &draw_.routes}) {
    for (const Action& action : *actions) storm_.after(action.at, [this, &action] { act(action); });
  }
}

void Operator::act(const Action& action) {
  switch (action.act) {
    case Act::kReload:
      return reload(action);
    case Act::kReloadBad:
      return reload_bad(action);
    case Act::kEdit:
      return edit(action);
    case Act::kResize:
      return resize(action);
    case Act::kMove:
      return move(action);
    case Act::kPause:
      return pause(action);
    case Act::kCancel:
    case Act::kCancelDone:
      return cancel(action);
    case Act::kRetryDead:
    case Act::kDiscard:
      return dead(action);
    case Act::kUpgrade:
      if (signalled(static_cast<unsigned>(action.pick % draw_.hosts.size()), SIGUSR2) != nullptr)
        operations_.push_back({.act = action.act, .begin = now(), .end = now()});
      return;
    case Act::kDrain:
      return drain(action);
    case Act::kRoute:
      return route(action);
  }
}

Host* Operator::signalled(unsigned host, int number) {
  Host* one = cluster_.hosts().at(host).get();
  if (!one->up() || !one->daemon().process().running()) return nullptr;
  one->daemon().process().signal(number);
  return one;
}

void Operator::write_good(unsigned host) {
  cluster_.write_file(host,
                      host_file(draw_, host, versions_.at(host).number, cluster_.place(host)));
}

void Operator::write_bad(unsigned host) {
  Version& version = versions_.at(host);
  if (now() - version.loaded < kReads) version.sure = false;
  cluster_.write_file(host, host_file(draw_, host, version.number, cluster_.place(host)) +
                                "[queues.default]\npartitons = 7\n");
}

void Operator::reload(const Action& action) {
  const auto host = static_cast<unsigned>(action.pick % draw_.hosts.size());
  if (!cluster_.hosts().at(host)->up()) return;
  const Nanoseconds begin = now();
  versions_.at(host) = {versions_.at(host).number + 1, begin, true};
  write_good(host);
  if (signalled(host, SIGHUP) != nullptr)
    operations_.push_back({.act = action.act, .begin = begin, .end = now()});
}

void Operator::reload_bad(const Action& action) {
  edit(action);
  (void)signalled(static_cast<unsigned>(action.pick % draw_.hosts.size()), SIGHUP);
}

// A file that is not loaded, or not loaded with success, changes nothing.
void Operator::edit(const Action& action) {
  const auto host = static_cast<unsigned>(action.pick % draw_.hosts.size());
  write_bad(host);
  operations_.push_back({.act = action.act, .begin = now(), .end = now()});
  if (action.act == Act::kEdit) storm_.after(action.length, [this, host] { write_good(host); });
}

support::Finished Operator::allot(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(),
                   {e2e::program("allot"), "--config", cluster_.operator_config(0)});
  return support::run_program(std::move(arguments), {}, std::chrono::seconds(60));
}

const std::string& Operator::queue_of(const Action& action) const {
  return draw_.queues.at(action.pick % draw_.queues.size()).name;
}

Operation& Operator::note(Act act, Nanoseconds begin, const support::Finished& done) {
  const int code = done.status.code;
  Operation operation;
  operation.act = act;
  operation.begin = begin;
  operation.end = now();
  operation.landed = code == 0                 ? Landed::kYes
                     : code == 1 || code == 64 ? Landed::kNo
                                               : Landed::kMaybe;
  return operations_.emplace_back(std::move(operation));
}

void Operator::resize(const Action& action) {
  const Nanoseconds begin = now();
  const auto partitions = 1 + action.pick / 7 % 8;
  const auto done =
      allot({"queue", "resize", queue_of(action), std::to_string(partitions), "--yes"});
  note(action.act, begin, done).queue = queue_of(action);
}

void Operator::move(const Action& action) {
  const bool there = action.pick % 2 == 0;
  const std::string from = there ? "default" : "other";
  const Nanoseconds begin = now();
  const auto done = allot({"queue", "move", from, there ? "other" : "default", "--yes"});
  // Exit code 1: some tasks were not moved.
  Operation& operation = note(action.act, begin, done);
  operation.queue = from;
  operation.landed = Landed::kMaybe;
}

void Operator::pause(const Action& action) {
  const Nanoseconds begin = now();
  const std::string& queue = queue_of(action);
  note(action.act, begin, allot({"queue", "pause", queue})).queue = queue;
  // Until then workers continue with their partitions.
  const auto taking_effect = draw_.longest_block() + std::chrono::milliseconds(1'000);
  storm_.after(action.length + taking_effect, [this, queue] {
    const Nanoseconds lifted = now();
    Operation& operation = note(Act::kPause, lifted, allot({"queue", "resume", queue}));
    operation.queue = queue;
    operation.lifts = true;
  });
}

std::vector<TaskRow> Operator::some_tasks(std::uint64_t pick) const {
  const std::string some = "WHERE name NOT IN ('hooks', 'ticks') ORDER BY RAND(" +
                           std::to_string(pick % 1'000) + ") LIMIT " + std::to_string(kAtOnce);
  std::vector<TaskRow> tasks;
  try {
    tasks = cluster_.rows_in("task", some);
    for (TaskRow& task : cluster_.rows_in("task_running", some)) tasks.push_back(std::move(task));
  } catch (const db::DbError&) {  // the server is away
  }
  return tasks;
}

// A task that has run for a second is not removed: its end is requested. There are few.
std::vector<TaskRow> Operator::long_running() const {
  const auto traces = read_traces(cluster_.traces());
  std::vector<TaskRow> tasks;
  for (const auto& [tag, attempts] : attempts_in(traces)) {
    const Attempt& last = attempts.back();
    const Nanoseconds ran = now() - last.start->at;
    if (last.end == nullptr && ran > kSecond && ran < 3 * kSecond)
      tasks.push_back({last.start->task, tag, last.start->queue});
  }
  return tasks;
}

void Operator::cancel(const Action& action) {
  auto tasks = some_tasks(action.pick);
  if (const auto more = long_running(); !more.empty())
    tasks.push_back(more.at(action.pick % more.size()));
  for (const TaskRow& task : tasks) cancel_one(task, action.act == Act::kCancelDone);
}

void Operator::cancel_one(const TaskRow& task, bool as_done) {
  std::vector<std::string> words{"task", "cancel", task.id, "--reason", "swarm", "--json"};
  if (as_done) words.emplace_back("--as-done");
  const Nanoseconds begin = now();
  const auto done = allot(std::move(words));
  Operation& operation = note(as_done ? Act::kCancelDone : Act::kCancel, begin, done);
  operation.queue = task.queue;
  operation.task = task.id;
  operation.tag = task.tag;
  const auto json = nlohmann::json::parse(done.out, nullptr, false);
  if (json.is_discarded() || operation.landed != Landed::kYes) return;
  operation.asked = json.value("requested", false);
  operation.may_run = operation.asked || json.value("may_run", true);
}

void Operator::dead(const Action& action) {
  const std::string& queue = queue_of(action);
  std::vector<TaskRow> before;
  try {
    before = cluster_.rows_in("task_dead", "WHERE name = '" + queue + "'");
  } catch (const db::DbError&) {
    return;
  }
  const Nanoseconds begin = now();
  const bool retry = action.act == Act::kRetryDead;
  const auto done =
      allot({"dead", retry ? "retry" : "discard", "--queue", queue, "--all", "--yes", "--json"});
  Operation& operation = note(action.act, begin, done);
  operation.queue = queue;
  operation.tasks = std::move(before);
  operation.landed = Landed::kMaybe;
  const auto json = nlohmann::json::parse(done.out, nullptr, false);
  operation.chosen = operation.tasks.size() + 1;
  if (!json.is_object()) return;
  // A death that was being written during the count belongs to the result, but was not counted.
  operation.chosen = std::max(json.value("tasks", operation.chosen),
                              json.value(retry ? "retried" : "discarded", std::uint64_t{0}));
}

// Runs concurrently with everything else.
void Operator::drain(const Action& action) {
  drains_.push_back(std::make_unique<support::Process>(std::vector<std::string>{
      e2e::program("allot"), "--config", cluster_.operator_config(0), "drain", "--queue",
      queue_of(action), "--jobs", "2", "--max-seconds", "2"}));
  operations_.push_back(
      {.act = action.act, .queue = queue_of(action), .begin = now(), .end = now()});
}

void Operator::route(const Action& action) {
  change_route(false);
  storm_.after(action.length, [this] { change_route(true); });
}

void Operator::change_route(bool end) {
  std::vector<std::string> words{"route", end ? "remove" : "set", kRoutedType};
  if (!end) words.emplace_back(kAside);
  words.insert(words.end(), {"--from", draw_.queues.front().name, "--yes"});
  const Nanoseconds begin = now();
  note(Act::kRoute, begin, allot(std::move(words))).lifts = end;
}

void Operator::let_go() {
  if (!draw_.has(Feature::kHold)) return;
  std::set<std::string> held;  // tags, because a moved task has another id by now
  for (const Trace& trace : read_traces(cluster_.traces())) {
    if (trace.mark == Mark::kHold) held.insert(trace.tag);
  }
  std::vector<TaskRow> tasks;
  try {
    tasks = cluster_.rows_in("task");
  } catch (const db::DbError&) {  // the server is away
  }
  for (const TaskRow& task : tasks) {
    if (held.count(task.tag) == 0 || let_go_.count(task.id) != 0) continue;
    cancel_one(task, false);
    if (operations_.back().landed != Landed::kMaybe && !operations_.back().asked)
      let_go_.insert(task.id);
  }
}

void Operator::finish() {
  for (const QueuePlan& queue : draw_.queues) {
    if (draw_.does(Act::kPause)) (void)allot({"queue", "resume", queue.name});
  }
  if (!draw_.routes.empty()) change_route(true);
  for (const auto& drain : drains_) (void)drain->wait(std::chrono::seconds(30));
}

std::map<std::string, std::uint64_t> Operator::done() const {
  std::map<std::string, std::uint64_t> all;
  for (const Operation& operation : operations_) ++all[name_of(operation.act)];
  return all;
}

std::vector<unsigned> Operator::sizes_of(unsigned host, const PoolPlan& pool) const {
  const Version& version = versions_.at(host);
  std::vector<unsigned> sizes{size_of(pool, version.number)};
  // A reload also checks the database.
  const bool sure = version.sure && draw_.faultless();
  if (version.number != 0 && !sure) sizes.push_back(size_of(pool, version.number - 1));
  return sizes;
}

}  // namespace allot::fault
