// SPDX-License-Identifier: Apache-2.0
#include "fault/swarm.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "fault/ledger.h"
#include "fault/meter.h"
#include "fault/operator.h"
#include "fault/servers.h"
#include "fault/story.h"
#include "fault/submitter.h"
#include "fault/tags.h"
#include "fault/work.h"
#include "support/eventually.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::eventually;

constexpr Nanoseconds kUnacknowledgedHere = 1'500 * kMillisecond;
constexpr unsigned kSubmitters = 2;

class Carrier {
 public:
  Carrier(const Draw& draw, support::Database& server, const std::string& evidence,
          support::SteppedClock* clock)
      : draw_(draw),
        cluster_(options_for(draw, server, evidence, clock)),
        meter_(cluster_),
        storm_(cluster_, meter_, false),
        operator_(draw_, cluster_, storm_) {}

  DrawResult run() {
    const Nanoseconds began = now();
    note_left_out();
    cluster_.server().connect(cluster_.database()).execute("CREATE TABLE effect (tag VARCHAR(60))");
    cluster_.start();
    begin_schedule();
    begin_rate();
    start_submitters();
    operator_.begin();
    storm_.run(draw_.events, draw_.length);
    storm_.calm();
    finish();
    stop();
    gather();
    result_.seconds = static_cast<double>(now() - began) / 1e9;
    return std::move(result_);
  }

 private:
  static ClusterOptions options_for(const Draw& draw, support::Database& server,
                                    const std::string& evidence, support::SteppedClock* clock) {
    ClusterOptions options;
    options.clock = clock;
    options.small_runtime = draw.suffers(Kind::kFillRuntime);
    options.hosts = static_cast<unsigned>(draw.hosts.size());
    options.wire = draw.tls ? Wire::kTls : Wire::kPlain;
    options.evidence = evidence;
    options.server = &server;
    options.host_file = [&draw](unsigned host, const Place& place) {
      return host_file(draw, host, 0, place);
    };
    return options;
  }

  void note_left_out() {
    if (draw_.suffers(Kind::kClockStep) && cluster_.clock() == nullptr)
      result_.omitted.emplace_back("clock_step: the server has no clock of its own");
    if (!cluster_.small_runtime_trouble().empty())
      result_.omitted.push_back("fill_runtime: " + cluster_.small_runtime_trouble());
  }

  [[nodiscard]] std::string numbered(const std::string& name, unsigned submitter) const {
    return cluster_.file(name + "." + std::to_string(submitter));
  }
  void problem(const std::string& text) {
    if (result_.problem.empty()) result_.problem = text;
  }

  void start_submitters() {
    for (unsigned i = 1; i <= kSubmitters; ++i) {
      SubmitterOptions submitter;
      submitter.number = i;
      submitter.config_file = cluster_.submit_config(i % 2);
      submitter.reply_file = numbered("reply", i);
      submitter.ids_file = numbered("ids", i);
      submitter.per_second = draw_.per_second;
      submitter.lines = std::max<std::uint64_t>(4, draw_.per_second / 2);
      // In small parts, so that tasks become due all the time.
      if (draw_.load == Load::kCrowd) submitter.lines = 100;
      submitter.batch = std::max<std::uint64_t>(1, submitter.lines / 4);
      submitter.line = [this, i](std::uint64_t number) {
        return item_of(draw_, i, number).ndjson();
      };
      submitters_.push_back(std::make_unique<Submitter>(std::move(submitter)));
    }
  }

  void finish() {
    for (const auto& submitter : submitters_) {
      submitter->stop();
      if (!submitter->error().empty()) problem("a submitter: " + submitter->error());
    }
    operator_.finish();
    end_schedule();
    end_rate();
    look_at_pools();
    const bool done = drain();
    if (!done) problem("not all was done in time");
    storm_.calm();
    if (done) probe();
  }

  // True: all is done. A draw may have more work than a busy machine can do at once, so it gets
  // more time as long as handlers make progress.
  [[nodiscard]] bool drain() {
    const auto traced = [this] {
      std::error_code none;  // no task has started
      return std::filesystem::file_size(cluster_.traces(), none);
    };
    for (int more = 3;; --more) {
      const auto before = traced();
      const bool done = eventually(
          [this] {
            storm_.look_after();
            operator_.let_go();
            return cluster_.drained();
          },
          seconds(30) + 2 * draw_.longest_ttl());
      if (done || more == 0 || traced() == before) return done;
    }
  }

  // A task for each queue with handlers, now that nothing else is left.
  void probe() {
    std::string lines;
    std::uint64_t count = 0;
    for (const QueuePlan& queue : draw_.queues) {
      nlohmann::json line{{"queue", queue.name},
                          {"type", "swarm.plain"},
                          {"payload", tag_of(kProbes, ++count) + " 0 ok"}};
      if (queue.placement != "spread") line["partition_key"] = "probe";
      lines += line.dump() + "\n";
    }
    const Nanoseconds begin = now();
    const auto done = support::run_program(
        {e2e::program("allot"), "--config", cluster_.operator_config(0), "submit", "--ndjson", "-"},
        {.input = lines});
    if (done.status.code != 0) return problem("a probe was refused: " + done.err);
    append_line(numbered("reply", kProbes),
                line_of(Reply{kProbes, 1, count, Answer::kAcknowledged, begin, now()}));
    (void)eventually([this] { return cluster_.drained(); }, seconds(15));
  }

  void begin_schedule() {
    if (!draw_.schedule) return;
    schedule({"add", kTicks, "* * * * * *", kTicks, "swarm.tick", "{}", "--late", "all",
              "--tick-field", "scheduled_at"});
    ticks_ = TickRange{next_tick(), 0};
  }
  // A pause is a row that the tick locks, so ticks change nothing that its command has seen.
  void end_schedule() {
    if (!ticks_) return;
    schedule({"pause", kTicks});
    ticks_->end = next_tick();
  }
  void schedule(std::vector<std::string> words) {
    words.insert(words.begin(), "schedule");
    must(std::move(words));
  }

  void begin_rate() {
    const RatePlan& rate = draw_.rate;
    if (rate.per_second == 0) return;
    must({"queue", "rate", draw_.queues.front().name, "--per-second",
          std::to_string(rate.per_second), "--burst", std::to_string(rate.burst)});
  }
  // The remaining tasks run as fast as possible.
  void end_rate() {
    if (draw_.rate.per_second == 0) return;
    rated_until_ = now();
    must({"queue", "rate", draw_.queues.front().name, "--off"});
  }
  void must(std::vector<std::string> words) {
    const std::string first = words.front();
    words.insert(words.begin(), {e2e::program("allot"), "--config", cluster_.operator_config(0)});
    const auto done = support::run_program(std::move(words));
    if (done.status.code != 0) problem("allot " + first + ": " + done.err);
  }
  [[nodiscard]] std::int64_t next_tick() const {
    auto db = cluster_.server().connect(cluster_.database());
    return static_cast<std::int64_t>(support::number_of(
        db,
        "SELECT COALESCE(MAX(TIMESTAMPDIFF(SECOND, '1970-01-01', next_run)), 0) FROM schedule"));
  }

  // Each pool has the size in its daemon's file.
  void look_at_pools() {
    for (unsigned i = 0; i < draw_.hosts.size(); ++i) {
      for (const PoolPlan& pool : draw_.hosts[i].pools) {
        const auto sizes = operator_.sizes_of(i, pool);
        unsigned size = 0;
        const bool right = eventually(
            [&] {
              storm_.look_after();
              size = workers_of(i, pool.name);
              return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
            },
            seconds(15));
        if (!right)
          result_.broken.push_back("pool " + pool.name + " of host " + std::to_string(i) + " has " +
                                   std::to_string(size) + " workers, not " +
                                   std::to_string(sizes.front()));
      }
    }
  }
  [[nodiscard]] unsigned workers_of(unsigned host, const std::string& pool) const {
    // Not with the host's own file, which may be a refused one.
    const auto done = support::run_program(
        {e2e::program("allot"), "--config", cluster_.operator_config(host), "status", "--json"});
    const auto seen = nlohmann::json::parse(done.out, nullptr, false);
    if (!seen.is_object()) return 0;
    unsigned count = 0;
    for (const auto& worker : seen["workers"]) {
      if (worker["pool"] == pool && worker["state"] != "stopping") ++count;
    }
    return count;
  }

  void stop() {
    for (const auto& host : cluster_.hosts()) {
      if (host->daemon().stop() != support::ExitStatus{0, 0})
        problem("an allotd did not stop well: " + host->daemon().process().err());
    }
  }

  void read_replies(Ledger& ledger) const {
    ledger.evidence.replies = fault::read_replies(numbered("reply", kProbes));
    for (unsigned i = 1; i <= kSubmitters; ++i) {
      for (Reply& reply : fault::read_replies(numbered("reply", i)))
        ledger.evidence.replies.push_back(reply);
      std::ifstream ids(numbered("ids", i));
      std::uint64_t number = 0;
      for (std::string id; ids >> number >> id;) ledger.ids[tag_of(i, number)] = id;
    }
    // A line whose unique key was taken made no task: it received the id of another line's task.
    std::map<std::string, std::string> ran;
    for (const Trace& trace : ledger.evidence.traces) ran[trace.tag] = trace.task;
    std::map<std::string, std::string> first;
    for (const auto& [tag, id] : ledger.ids) {
      if (ran.count(tag) != 0) first[id] = tag;
    }
    for (const TaskRow& row : ledger.dead) first[row.id] = row.tag;
    for (const Operation& operation : ledger.operations) {
      if (!operation.task.empty()) first[operation.task] = operation.tag;
      for (const TaskRow& row : operation.tasks) first[row.id] = row.tag;
    }
    for (const auto& [tag, id] : ledger.ids) {
      const auto item = item_of(draw_, tag);
      if (item && !item->unique_key.empty() && first.count(id) != 0 && first[id] != tag)
        ledger.evidence.gone.insert(tag);
    }
    add_unanswered(ledger);
    add_unsubmitted(ledger);
  }

  // In a batch without an answer it is unknown whose task has a unique key.
  void add_unanswered(Ledger& ledger) const {
    for (const Reply& reply : ledger.evidence.replies) {
      if (reply.answer != Answer::kUnknown) continue;
      for (std::uint64_t i = 0; i < reply.count; ++i) {
        const std::string tag = tag_of(reply.submitter, reply.first + i);
        const auto item = item_of(draw_, tag);
        if (item && !item->unique_key.empty()) ledger.evidence.gone.insert(tag);
      }
    }
  }

  // Tasks of tasks and of hooks: a task that was seen must not be lost.
  static void add_unsubmitted(Ledger& ledger) {
    std::set<std::string> tags;
    for (const Trace& trace : ledger.evidence.traces) tags.insert(trace.tag);
    tags.insert(ledger.evidence.waiting.begin(), ledger.evidence.waiting.end());
    tags.insert(ledger.evidence.dead.begin(), ledger.evidence.dead.end());
    for (const std::string& tag : tags) {
      const auto submitter = static_cast<unsigned>(std::stoul(tag));
      if (submitter <= kProbes) continue;
      ledger.evidence.replies.push_back(
          {submitter, std::stoull(tag.substr(tag.find('.') + 1)), 1, Answer::kUnknown});
    }
  }

  void read_tables(Ledger& ledger) {
    for (const TaskRow& row : cluster_.rows_in("task")) ledger.evidence.waiting.push_back(row.tag);
    for (const TaskRow& row : cluster_.rows_in("task_running"))
      ledger.evidence.waiting.push_back(row.tag);
    ledger.dead = cluster_.rows_in("task_dead");
    for (const TaskRow& row : ledger.dead) ledger.evidence.dead.push_back(row.tag);
    ledger.history = cluster_.history();
    auto db = cluster_.server().connect(cluster_.database());
    auto results = db.execute("SELECT tag, COUNT(*) FROM effect GROUP BY tag");
    while (const auto row = results.front().next())
      ledger.effects[std::string(row->text(0))] = static_cast<unsigned>(row->u64(1));
  }

  void gather() {
    Ledger ledger;
    ledger.draw = draw_;
    ledger.ticks = ticks_;
    ledger.rated_until = rated_until_;
    Evidence& evidence = ledger.evidence;
    evidence.faults = storm_.take_faults();
    evidence.traces = read_traces(cluster_.traces());
    ledger.operations = operator_.operations();
    read_tables(ledger);
    read_replies(ledger);
    for (const QueuePlan& queue : draw_.queues) {
      if (queue.exclusive) evidence.exclusive.push_back(queue.name);
    }
    evidence.max_attempts = draw_.max_attempts;
    evidence.at_once = draw_.at_once();
    evidence.recovery = std::chrono::nanoseconds(draw_.longest_ttl() + milliseconds(500)).count();
    evidence.unacknowledged = kUnacknowledgedHere;
    evidence.wall_clock = wall_clock();
    for (const auto& host : cluster_.hosts()) add_log(ledger, host->daemon().log());
    add_crashes(evidence);
    add_operations(ledger);
    for (const Fault& fault : evidence.faults) append_line(cluster_.file("faults"), line_of(fault));
    for (const Operation& operation : ledger.operations)
      append_line(cluster_.file("operations"), line_of(operation));
    result_.verdict = check(evidence);
    for (std::string& line : broken_promises(ledger)) result_.broken.push_back(std::move(line));
    for (const std::string& tag : result_.verdict.doubtful) {
      result_.stories.push_back(story_of(evidence, tag));
      append_line(cluster_.file("stories"), result_.stories.back());
    }
    result_.faults = storm_.done();
    result_.actions = operator_.done();
    if (result_.faults.count("razed") != 0) {
      const std::string later = result_.problem.empty() ? "" : "\nafter that: " + result_.problem;
      result_.problem = "an allotd ended without being killed: " + storm_.first_death() + later;
    }
    cluster_.keep_logs();
  }

  Draw draw_;
  mutable Cluster cluster_;
  Meter meter_;
  Storm storm_;
  Operator operator_;
  std::vector<std::unique_ptr<Submitter>> submitters_;
  std::optional<TickRange> ticks_;
  Nanoseconds rated_until_ = 0;
  DrawResult result_;
};

}  // namespace

DrawResult run_draw(const Draw& draw, support::Database& server, const std::string& evidence,
                    support::SteppedClock* clock) {
  return Carrier(draw, server, evidence, clock).run();
}

DrawResult run_one_draw(const Draw& draw, const std::string& evidence, bool binlog) {
  Servers servers(binlog);
  Server& server = servers.of(draw);
  return run_draw(draw, *server.database, evidence, server.clock.get());
}

std::string text_of(const Draw& draw, const DrawResult& result) {
  std::ostringstream out;
  const Verdict& verdict = result.verdict;
  out << (result.clean() ? "clean  " : "FOUND  ") << "draw " << draw.seed << ": "
      << static_cast<int>(result.seconds) << " s, " << verdict.acknowledged << " tasks, "
      << verdict.runs << " runs, " << verdict.duplicates << " duplicates";
  for (const auto& [name, count] : result.actions) out << ", " << name << " " << count;
  for (const auto& [name, count] : result.faults) out << ", " << name << " " << count;
  for (const std::string& fault : result.omitted) out << ", left out: " << fault;
  out << "\n";
  if (result.clean()) return out.str();
  out << text_of(draw);
  if (!result.problem.empty()) out << "problem: " << result.problem << "\n";
  for (const std::string& line : result.broken) out << line << "\n";
  for (const std::string& line : verdict.complaints) out << line << "\n";
  for (std::size_t i = 0; i < result.stories.size() && i < 5; ++i) out << "\n" << result.stories[i];
  out << "again: scripts/fault --draw " << draw.seed << "\n";
  return out.str();
}

std::uint64_t seed_of_draw(std::uint64_t swarm, std::uint64_t number) {
  return swarm * 100'000 + number;
}

SwarmResult run_swarm(const SwarmOptions& options) {
  SwarmResult result;
  Servers servers(options.binlog);
  const auto until = std::chrono::steady_clock::now() + options.length;
  while (options.draws != 0 ? result.draws < options.draws
                            : std::chrono::steady_clock::now() < until) {
    const Draw draw = make_draw(seed_of_draw(options.seed, result.draws++));
    const std::string folder = options.evidence + "/draw." + std::to_string(draw.seed);
    Server& server = servers.of(draw);
    const DrawResult drawn = run_draw(draw, *server.database, folder, server.clock.get());
    std::fputs(text_of(draw, drawn).c_str(), stdout);
    std::fflush(stdout);
    if (drawn.clean()) {
      std::filesystem::remove_all(folder);
    } else {
      result.found.push_back(draw.seed);
    }
  }
  return result;
}

}  // namespace allot::fault
