// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/programs.h"
#include "cli/words/instance_text.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "db/migrate.h"
#include "host/instance_view.h"
#include "json/fields.h"
#include "queue/findings/checks.h"
#include "queue/notices/notice.h"

namespace allot::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using queue::Finding;
using queue::Level;

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
    check_runtime_folder();
    try {
      db::Connection db = connect_any(settings_);
      check(db, {queue::check_server, queue::check_waking});
      if (check_schema(db)) {
        check(db, {queue::check_procedures, queue::check_protocol, queue::check_clock,
                   queue::check_last_server, queue::check_writers, queue::check_leases,
                   queue::check_lease_rows, queue::check_far_tasks, queue::check_duties,
                   queue::check_purge, queue::check_served});
        check_notices(db);
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
        list.push_back({{"level", queue::name_of(finding.level)},
                        {"check", finding.check},
                        {"text", finding.text},
                        {"fix", as_json::or_null(finding.fix)}});
        continue;
      }
      const bool bad = finding.level == Level::kFail;
      const std::string level =
          coloured(queue::name_of(finding.level), bad ? Colour::kRed : Colour::kBold,
                   colour && finding.level != Level::kOk);
      const std::string padding(finding.level == Level::kOk ? 4 : 2, ' ');
      std::printf("%s%s%s: %s%s\n", level.c_str(), padding.c_str(), finding.check.c_str(),
                  printable(finding.text, 2000).c_str(),
                  finding.fix.empty() ? "" : ("; " + printable(finding.fix, 1000)).c_str());
    }
    if (as_json) print(json{{"exit_code", code_}, {"findings", list}});
    return code_;
  }

 private:
  void ok(const std::string& check, const std::string& text) {
    findings_.push_back({Level::kOk, check, text, ""});
  }
  void warn(const std::string& check, const std::string& text, const std::string& fix) {
    findings_.push_back({Level::kWarn, check, text, fix});
  }
  void fail(int code, const std::string& check, const std::string& text, const std::string& fix) {
    findings_.push_back({Level::kFail, check, text, fix});
    if (code_ == kExitOk) code_ = code;
  }

  // Checks the folder, or the parent in which it would be created.
  void check_runtime_folder() {
    const std::string folder = config::runtime_dir(settings_);
    fs::path there = folder;
    std::error_code ignored;
    while (!fs::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
    if (access(there.c_str(), W_OK | X_OK) != 0) {
      // The daemon may run under another account.
      warn("runtime folder", there.string() + " cannot be written by this account",
           "run the daemon with an account that can, or set [daemon] runtime_dir");
    } else {
      ok("runtime folder", folder);
    }
    const InstanceView view = read_instance(folder);
    if (!view.trouble.empty()) {
      warn("daemon", view.trouble, "run this command as root, or as the account of the daemon");
    } else if (!view.running) {
      ok("daemon", "does not run here");
    } else {
      for (const std::string& line : instance_troubles(view, settings_)) {
        const std::size_t colon = line.find(": ");
        warn(line.substr(0, colon), line.substr(colon + 2), "");
      }
      const std::string workers = "runs, with " + std::to_string(view.workers.size()) + " workers";
      if (!view.stewards.empty()) return ok("daemon", workers + " and its steward");
      warn("daemon",
           workers +
               " and without its steward: nothing is purged or reported until the steward is back",
           "it is restarted automatically; if it does not stay, see its log");
    }
  }

  bool check_schema(db::Connection& db) {
    try {
      db::require_schema(db);
    } catch (const Error& error) {
      fail(error.exit_code(), "schema", error.what(), "");
      return false;
    }
    ok("schema", "version " + std::to_string(db::schema_version(db)));
    return true;
  }

  // Includes the checks of the steward and those that the steward omits.
  void check(db::Connection& db, std::initializer_list<queue::Check> checks) {
    const host::LocalProcesses processes(settings_.daemon.instance, config::runtime_dir(settings_));
    const queue::Observer by{settings_, [&](const queue::HeldLease& lease) {
                               return processes.gone(lease.origin, lease.pid);
                             }};
    for (const queue::Check each : checks) {
      for (queue::Finding& finding : each(db, by)) {
        if (finding.level == Level::kFail && code_ == kExitOk) code_ = finding.code;
        findings_.push_back(std::move(finding));
      }
    }
  }

  // A late purge is checked above, by its current state.
  void check_notices(db::Connection& db) {
    std::size_t shown = 0;
    for (const queue::RaisedNotice& raised : queue::list_notices(db)) {
      if (raised.notice.kind == queue::NoticeKind::kPurge) continue;
      ++shown;
      warn("notice",
           std::string(queue::name_of(raised.notice.kind)) + " " + raised.notice.subject + ": " +
               raised.notice.detail + " (since " + raised.since + ")",
           "see docs/configuration.md, Notices");
    }
    if (shown == 0) ok("notices", "none is raised");
  }

  // Asks the worker program whether plugins, privileges and connections would allow a start.
  void ask_worker() {
    const std::string out = worker_output(context_, {"--check", "all", "--json"});
    const json found = json::parse(out, nullptr, false);
    if (!found.is_object() || !found.contains("errors") || !found.contains("exit_code")) {
      return fail(kExitFailure, "check", "allot-worker did not answer",
                  "check that the installation is complete");
    }
    for (const json& error : found["errors"]) {
      const std::string text = error.get<std::string>();
      if (!known(text)) fail(found["exit_code"].get<int>(), "check", text, "");
    }
    for (const json& warning : found["warnings"]) {
      if (warning["event"] == "procedures.unusable") continue;  // checked above
      warn("check", warning["text"].get<std::string>(), "");
    }
    if (found["errors"].empty()) ok("check", "plugins, rights and connections are sufficient");
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
// code is 0 if nothing fails, else the code of the first check that fails.
int doctor(const Context& context, const JsonOption& options) {
  Doctor doctor(context);
  doctor.run();
  return doctor.report(options.json);
}

}  // namespace

void add_doctor(CLI::App& app, const Commands& commands) {
  commands.add(app, "doctor", "Find problems, and say how to fix them", doctor);
}

}  // namespace allot::cli
