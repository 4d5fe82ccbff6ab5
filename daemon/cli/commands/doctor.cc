// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/programs.h"
#include "cli/words/duty_view.h"
#include "cli/words/instance_text.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "config/served.h"
#include "db/binlog_stream.h"
#include "db/from_settings.h"
#include "db/migrate.h"
#include "db/procedures.h"
#include "db/writer.h"
#include "json/here.h"
#include "queue/look/health.h"
#include "queue/minutes/serving_pool.h"
#include "queue/model/server_change.h"
#include "queue/notices/notice.h"
#include "queue/operate/lease_rows.h"
#include "queue/server/rehearsal.h"
#include "queue/submit/submit.h"

namespace allot::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint32_t kMostLeases = 10'000;
constexpr std::size_t kShownLeases = 5;
constexpr double kClockSeconds = 2;
constexpr std::chrono::hours kPurgeLate{1};
constexpr std::uint32_t kManyChanges = 3;
constexpr std::chrono::minutes kChangesAgo{10};
// Six terms: as long as a daemon takes to start again.
constexpr std::chrono::seconds kLeaderless{30};

constexpr std::chrono::hours kFar{12};
constexpr std::chrono::hours kUnusuallyFar{24 * 300};

enum class Level { kOk, kWarn, kFail };

struct Finding {
  Level level;
  std::string about;
  std::string text;
  std::string fix;  // empty: nothing to fix
};

const char* name_of(Level level) {
  constexpr const char* kNames[] = {"ok", "warn", "fail"};
  return kNames[static_cast<int>(level)];
}

class Doctor {
 public:
  explicit Doctor(const Context& context) : context_(context) {}

  void run() {
    try {
      settings_ = context_.settings();
    } catch (const Error& error) {
      return fail(error.exit_code(), "configuration", error.what(), "fix the file");
    }
    ok("configuration",
       settings_.file.empty() ? "no file: every key has its default" : settings_.file);
    look_at_runtime_folder();
    try {
      db::Connection db = connect_any(settings_);
      look_at_server(db);
      if (look_at_schema(db)) {
        look_at_procedures(db);
        look_at_protocol(db);
        look_at_clock(db);
        look_at_change(db);
        look_at_writers(db);
        look_at_leases(db);
        look_at_lease_rows(db);
        look_at_far_tasks(db);
        look_at_duties(db);
        look_at_purge(db);
        look_at_served(db);
        look_at_notices(db);
      }
    } catch (const Error& error) {
      fail(error.exit_code(), "database", error.what(), "start it, or fix [database]");
    }
    ask_worker();
  }

  [[nodiscard]] int report(bool as_json) const {
    const bool colour = wants_colour(STDOUT_FILENO);
    json list = json::array();
    for (const Finding& finding : findings_) {
      if (as_json) {
        list.push_back({{"level", name_of(finding.level)},
                        {"about", finding.about},
                        {"text", finding.text},
                        {"fix", finding.fix.empty() ? json() : json(finding.fix)}});
        continue;
      }
      const bool bad = finding.level == Level::kFail;
      const std::string level = coloured(name_of(finding.level), bad ? Colour::kRed : Colour::kBold,
                                         colour && finding.level != Level::kOk);
      const std::string padding(finding.level == Level::kOk ? 4 : 2, ' ');
      std::printf("%s%s%s: %s%s\n", level.c_str(), padding.c_str(), finding.about.c_str(),
                  printable(finding.text, 2000).c_str(),
                  finding.fix.empty() ? "" : ("; " + printable(finding.fix, 1000)).c_str());
    }
    if (as_json) print({{"exit_code", code_}, {"findings", list}});
    return code_;
  }

 private:
  void ok(const std::string& about, const std::string& text) {
    findings_.push_back({Level::kOk, about, text, ""});
  }
  void warn(const std::string& about, const std::string& text, const std::string& fix) {
    findings_.push_back({Level::kWarn, about, text, fix});
  }
  void fail(int code, const std::string& about, const std::string& text, const std::string& fix) {
    findings_.push_back({Level::kFail, about, text, fix});
    if (code_ == kExitOk) code_ = code;
  }

  // Looks at the folder, or at the one in which it would be created.
  void look_at_runtime_folder() {
    const std::string folder = config::runtime_dir(settings_);
    fs::path there = folder;
    std::error_code ignored;
    while (!fs::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
    if (access(there.c_str(), W_OK | X_OK) != 0) {
      // This account need not be the one that runs the daemon.
      warn("runtime folder", there.string() + " cannot be written by this account",
           "run the daemon by one that can, or set [daemon] runtime_dir");
    } else {
      ok("runtime folder", folder);
    }
    const InstanceView view = read_instance(folder);
    if (!view.trouble.empty()) {
      warn("daemon", view.trouble, "look as root, or as the account that runs it");
    } else if (!view.running) {
      ok("daemon", "does not run here");
    } else {
      for (const std::string& line : instance_troubles(view, settings_)) {
        const std::size_t colon = line.find(": ");
        warn(line.substr(0, colon), line.substr(colon + 2), "");
      }
      const std::string workers = "runs, with " + std::to_string(view.workers.size()) + " workers";
      if (!view.stewards.empty()) return ok("daemon", workers + " and its steward");
      warn("daemon", workers + " and without its steward: nothing is purged or reported meanwhile",
           "it is started again by itself; if it does not stay, its log says why");
    }
  }

  bool look_at_schema(db::Connection& db) {
    try {
      db::require_schema(db);
    } catch (const Error& error) {
      fail(error.exit_code(), "schema", error.what(), "");
      return false;
    }
    ok("schema", "version " + std::to_string(db::schema_version(db)));
    return true;
  }

  void look_at_procedures(db::Connection& db) {
    const auto trouble = db::trouble_with_procedures(db);
    if (trouble) return warn("procedures", trouble->text, trouble->fix);
    ok("procedures", "they are those of this Allot, and can be called");
  }

  void look_at_protocol(db::Connection& db) {
    try {
      queue::rehearse(db, db::from_settings(settings_));
      ok("protocol", "sessions, fences and skipped locks are as Allot needs them");
    } catch (const db::DbError& error) {
      if (error.number() == db::kUnfitServer) {
        return fail(error.exit_code(), "protocol", error.what(), "");
      }
      warn("protocol", std::string("it could not be rehearsed: ") + error.what(),
           "run this with the daemon's account");
    }
  }

  void look_at_server(db::Connection& db) {
    const auto variables = queue::server_variables(db);
    const auto value = [&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::string() : found->second;
    };
    // connect() refuses a read-only server (S2).
    ok("server", value("version") + " at " + db.where() + ", writable");
    look_at_durability(value("innodb_flush_log_at_trx_commit"), value("innodb_doublewrite"),
                       value("log_bin"), value("sync_binlog"));
    const std::string packet = value("max_allowed_packet");
    if (std::strtoull(packet.c_str(), nullptr, 10) < queue::kWantedPacket) {
      warn("max_allowed_packet", packet + " bytes: the largest payloads do not fit",
           "SET GLOBAL max_allowed_packet = " + std::to_string(queue::kWantedPacket) +
               ", and in the server's configuration");
    } else {
      ok("max_allowed_packet", packet + " bytes");
    }
    if (queue::optimizer_switch_changed(db)) {
      warn("optimizer_switch",
           "it was changed on this server: plans are not those that were tested",
           "SET GLOBAL optimizer_switch = DEFAULT, and in the server's configuration");
    }
    look_at_waking(db, value("log_bin") == "ON");
    if (value("wsrep_on") == "ON") ok("Galera", "this node is the writer");
    ok("time zone", "the server's is " + value("time_zone") + "; Allot's sessions use UTC");
  }

  void look_at_durability(const std::string& flush, const std::string& doublewrite,
                          const std::string& binlog, const std::string& sync) {
    if (flush != "1") {
      warn("durability",
           "innodb_flush_log_at_trx_commit is " + flush +
               ": what was committed in the last second may be lost when the server dies",
           "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and in the server's configuration");
    }
    if (doublewrite == "OFF") {
      warn("durability", "innodb_doublewrite is OFF: a page that is half written is lost",
           "turn it on in the server's configuration, unless the file system writes whole pages");
    }
    if (binlog == "ON" && sync != "1") {
      warn("durability", "sync_binlog is " + sync + ": replicas may miss what was committed",
           "SET GLOBAL sync_binlog = 1, and in the server's configuration");
    }
    const bool synced = binlog != "ON" || sync == "1";
    if (flush == "1" && doublewrite != "OFF" && synced) ok("durability", "commits are on disk");
  }

  // S76
  void look_at_waking(const db::Connection& db, bool logged) {
    const std::string polled =
        "workers poll: a task that is committed in SQL starts within a second";
    if (settings_.wake.user.empty()) {
      return ok(
          "waking",
          polled + "; the server's binary log is " +
              (logged ? "on, but [wake] user is not set: with it"
                      : "off: with log_bin, binlog_format = ROW and [wake] user") +
              " half of them would start within a few milliseconds (docs/database.md, Waking)");
    }
    try {
      const auto options = db::to_same_server(db::log_reader_from(settings_), db);
      const db::BinlogStream stream(options, settings_.database.name);
      ok("waking", "each commit of a task wakes a worker, by the binary log of " + stream.where());
    } catch (const db::DbError& error) {
      warn("waking", polled + ", for the binary log cannot be read: " + error.what(),
           "docs/database.md, Waking, says what it takes");
    }
  }

  void look_at_clock(db::Connection& db) {
    using std::chrono::system_clock;
    const auto before = system_clock::now();
    const auto database = queue::database_clock(db);
    const auto middle = before + (system_clock::now() - before) / 2;
    const double ahead = std::chrono::duration<double>(database - middle).count();
    char text[80];
    std::snprintf(text, sizeof text, "the database's is %.3f s %s this host's",
                  ahead < 0 ? -ahead : ahead, ahead < 0 ? "behind" : "ahead of");
    if (ahead > kClockSeconds || ahead < -kClockSeconds) {
      warn("clock", text, "tasks are due by the database's clock; let both follow NTP");
    } else {
      ok("clock", text);
    }
  }

  // S48: after each change nobody takes over for a while, so a proxy that alternates between
  // servers keeps everybody from it.
  void look_at_change(db::Connection& db) {
    const auto last = queue::last_server_change(db);
    if (!last || last->number < 2) return ok("last server", "it was always this one");
    const std::string text = last->server + " since " + last->since;
    if (last->streak < kManyChanges || last->ago > kChangesAgo) return ok("last server", text);
    warn("last server",
         text + ", after " + std::to_string(last->streak) +
             " changes of server that followed each other: what dead hosts had is not taken over",
         "let all daemons use one server at a time");
  }

  // S52, S53. Where two servers have equal terms, the connection was refused before.
  void look_at_writers(const db::Connection& db) {
    const db::ConnectOptions options = db::from_settings(settings_);
    if (!options.socket.empty() || options.servers.size() < 2) return;
    bool alone = true;
    for (const db::ServerAnswer& answer :
         db::ask_servers(options, db::Asked::kAll, db::kAskWithin)) {
      if (!answer.connection || answer.where == db.where()) continue;
      if (answer.connection->standing().galera) continue;
      alone = false;
      fail(kExitUnavailable, "second writer",
           answer.where + " takes writes, too, with term " +
               std::to_string(answer.connection->standing().term.value_or(0)),
           "make it read-only, or attach it as a replica");
    }
    if (alone) ok("writer", db.where() + " is the only server of the list that takes writes");
  }

  // S12: the command only shows leases. Of other hosts' processes it knows whether they renew.
  void look_at_leases(db::Connection& db) {
    const as_json::Here here(settings_.daemon.instance, config::runtime_dir(settings_));
    const auto leases = queue::held_leases(db, kMostLeases);
    std::vector<std::string> lost;
    for (const queue::HeldLease& lease : leases) {
      const bool gone = here.gone(lease.origin, lease.pid);
      if (!gone && !lease.overdue && !lease.silent_since) continue;
      lost.push_back(lease.queue + "/" + std::to_string(lease.partition_no) + " of " + lease.host +
                     "/" + std::to_string(lease.pid) +
                     (gone            ? " (gone)"
                      : lease.overdue ? " (over since " + lease.until + ")"
                                      : " (silent since " + *lease.silent_since + ")"));
    }
    if (lost.empty()) return ok("leases", std::to_string(leases.size()) + " held");
    std::string text = std::to_string(lost.size()) + " of " + std::to_string(leases.size()) +
                       " seem to have lost their holders: ";
    for (std::size_t i = 0; i < lost.size() && i < kShownLeases; ++i) {
      text += (i == 0 ? "" : ", ") + lost[i];
    }
    if (lost.size() > kShownLeases) text += ", ...";
    warn("leases", text, "workers take them over by themselves; if not, see that some run");
  }

  // S59
  void look_at_lease_rows(db::Connection& db) {
    const auto holes = queue::queue_holes(db);
    for (const queue::QueueHoles& hole : holes) {
      warn("lease rows",
           "queue " + hole.queue + ": " + std::to_string(hole.missing) +
               " are missing; tasks of these partitions wait",
           "run 'allot migrate', or wait for a steward; they are leased after the longest lease");
    }
    if (holes.empty()) ok("lease rows", "every partition has one");
  }

  // What a clock that was ahead left behind and nothing can bound: the delay of a task is not
  // stored.
  void look_at_far_tasks(db::Connection& db) {
    const auto years = queue::far_tasks(db, kUnusuallyFar);
    const auto far = queue::far_tasks(db, kFar);
    const auto text = [](const queue::FarTasks& tasks, const std::string& from_now) {
      const bool more = tasks.count >= queue::kMostFarTasks;
      return std::string(more ? "at least " : "") + std::to_string(tasks.count) +
             " due later than " + from_now + " from now, the last one at " + tasks.last;
    };
    if (years.count > 0) {
      warn("far tasks", text(years, "300 days"),
           "if the database's clock was ahead when they were submitted, cancel and submit them "
           "again");
    } else if (far.count > 0) {
      ok("far tasks", text(far, "12 hours"));
    } else {
      ok("far tasks", "none is due later than 12 hours from now");
    }
  }

  // The rows of queues that this configuration does not have, or has without such a duty, are those
  // of others, or of nobody any more.
  [[nodiscard]] bool wants(const queue::DutyView& duty) const {
    if (duty.queue_id == 0) return true;
    const config::Queue* keys = config::find_queue(settings_, duty.queue);
    return keys != nullptr &&
           config::wants_duty(config::is_served(settings_, keys->name), *keys, duty.duty);
  }

  void look_at_duties(db::Connection& db) {
    std::size_t led = 0;
    std::string left;
    bool failing = false;
    for (const queue::DutyView& duty : queue::list_duties(db)) {
      if (!wants(duty)) continue;
      led += duty.led ? 1U : 0U;
      const std::string name = duty_name(duty);
      if (duty.leaderless && *duty.leaderless > kLeaderless) {
        left += (left.empty() ? "" : ", ") + name + " for " +
                std::to_string(duty.leaderless->count()) + " s";
      }
      if (!duty.last_error) continue;
      failing = true;
      warn("duties", name + " went wrong: " + *duty.last_error,
           duty.led ? "see the log of " + duty.host + "/" + duty.instance : "");
    }
    if (!left.empty()) {
      warn("duties", "nobody has led " + left, "see that a daemon runs, and has its steward");
    } else if (!failing) {
      ok("duties", std::to_string(led) + " led");
    }
  }

  void look_at_served(db::Connection& db) {
    const auto instances = queue::list_instances(db);
    std::size_t served = 0;
    for (const queue::QueueInfo& queue : queue::list_queues(db)) {
      const auto pools = queue::pools_that_serve(instances, queue.name);
      if (!pools || !pools->empty()) {
        ++served;
        continue;
      }
      warn("queue " + queue.name, "no pool of a running daemon serves it: its tasks wait",
           "add it to the queues of a pool, and reload its daemon");
    }
    if (served > 0) ok("queues", std::to_string(served) + " served");
  }

  // C10: the command knows only the retentions of queues in this configuration.
  // A late purge is looked at above, by what it is now.
  void look_at_notices(db::Connection& db) {
    std::size_t told = 0;
    for (const queue::RaisedNotice& raised : queue::list_notices(db)) {
      if (raised.notice.kind == queue::NoticeKind::kPurge) continue;
      ++told;
      warn("notice",
           std::string(queue::name_of(raised.notice.kind)) + " " + raised.notice.subject + ": " +
               raised.notice.detail + " (since " + raised.since + ")",
           "docs/configuration.md, Notices, says what it means");
    }
    if (told == 0) ok("notices", "none is raised");
  }

  void look_at_purge(db::Connection& db) {
    std::size_t late = 0;
    for (const config::Queue& keys : settings_.queues) {
      if (keys.history.count() == 0 && keys.dead_retention.count() == 0) continue;
      const auto there = queue::find_queue(db, keys.name);
      if (!there) continue;
      const auto lag = queue::purge_lag(db, there->queue_id, keys.history, keys.dead_retention);
      for (const auto& [what, over] :
           {std::pair{"history", lag.history}, std::pair{"dead tasks", lag.dead}}) {
        if (!over || *over < kPurgeLate) continue;
        ++late;
        warn("history",
             "queue " + keys.name + ": the oldest of the " + what + " is " +
                 std::to_string(over->count()) + " s past its retention",
             "see that the steward of a daemon that serves the queue runs: allot status there");
      }
    }
    if (late == 0) ok("history", "nothing is long past its retention");
  }

  // Asks the worker's program whether a start would find plugins, rights and connections good.
  void ask_worker() {
    const std::string out = worker_output(context_, {"--check", "all", "--json"});
    const json found = json::parse(out, nullptr, false);
    if (!found.is_object() || !found.contains("errors") || !found.contains("exit_code")) {
      return fail(kExitFailure, "check", "allot-worker gave no answer",
                  "see that the installation is complete");
    }
    for (const json& error : found["errors"]) {
      const std::string text = error.get<std::string>();
      if (!known(text)) fail(found["exit_code"].get<int>(), "check", text, "");
    }
    for (const json& warning : found["warnings"]) {
      if (warning["event"] == "procedures.unusable") continue;  // looked at above
      warn("check", warning["text"].get<std::string>(), "");
    }
    if (found["errors"].empty()) ok("check", "plugins, rights and connections are enough to start");
  }

  [[nodiscard]] bool known(const std::string& text) const {
    for (const Finding& finding : findings_) {
      if (finding.level == Level::kFail && finding.text.find(text) != std::string::npos)
        return true;
    }
    return false;
  }

  const Context& context_;
  config::Settings settings_;
  std::vector<Finding> findings_;
  int code_ = kExitOk;
};

// allot doctor prints one line for each check: ok, warn or fail, and how to fix it. It changes
// nothing, except that it creates the queues of the configuration, as allot check does. The exit
// code is 0 when nothing fails, else that of the first check that fails.
int doctor(const Context& context, const JsonOption& options) {
  Doctor doctor(context);
  doctor.run();
  return doctor.report(options.json);
}

}  // namespace

void add_doctor(CLI::App& app, const Commands& commands) {
  commands.add_plain(app, "doctor", "Look for what is wrong, and say how to fix it", doctor);
}

}  // namespace allot::cli
