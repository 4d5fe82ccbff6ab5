// SPDX-License-Identifier: Apache-2.0
// allot-worker is one process with one job, which the first option names. allotd starts it; it also
// runs alone, for example to put a handler under a debugger: allot-worker --run --config FILE
// Rule: S23.
#include <getopt.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/posix.h"
#include "base/version.h"
#include "db/error.h"
#include "ipc/board.h"
#include "ipc/slot.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "peer/inherited.h"
#include "peer/shared_file.h"
#include "peer/slot_file.h"
#include "process/cgroup.h"
#include "process/finally.h"
#include "schedule/computing_process.h"
#include "steward/steward.h"
#include "worker/oneshot/check.h"
#include "worker/oneshot/plugin_report.h"
#include "worker/settle/settle.h"
#include "worker/worker.h"

namespace allot::role {
namespace {

constexpr char kUsage[] =
    "usage: allot-worker --run [--slot N] [OPTION]...\n"
    "       allot-worker --settle N --status STATUS [OPTION]...\n"
    "       allot-worker --check WHAT [--reclaim] [OPTION]...\n"
    "       allot-worker --calendar\n"
    "       allot-worker --plugins [--json] [OPTION]...\n"
    "       allot-worker --plugin-check FILE... [--init] [--json] [OPTION]...\n"
    "  --run                be a worker; started by hand, a single one in the foreground\n"
    "  --slot N             by allotd: the number of its slot\n"
    "  --settle N           heal the death of the worker in slot N\n"
    "  --status STATUS      how that worker ended, as wait() told it\n"
    "  --check WHAT         check config, database, or all of both\n"
    "  --reclaim            take back leases of the previous run of this instance\n"
    "  --calendar           by the steward: answer on standard output when schedules run\n"
    "  --plugins            list the plugins of the configuration\n"
    "  --plugin-check       say what plugin files offer, or why they are refused\n"
    "  --init               also make their handlers, with the configuration\n"
    "  --json               say it as JSON\n"
    "  --log-format FORMAT  how failures are written\n"
    "  --config FILE        configuration; else $ALLOT_CONFIG, else /etc/allot/allot.toml\n"
    "  --embedded DIR       use the private database in DIR\n"
    "  --version, --help\n";

enum Mode : int { kNone, kRun, kSettle, kCheck, kCalendar, kPlugins, kPluginCheck };

struct Options {
  int mode = kNone;
  std::string check;
  std::optional<std::uint32_t> slot;  // none: a person started it
  int status = 0;
  int reclaim = 0, json = 0, init = 0;  // 1: given
  std::vector<std::string> files;
  config::LoadOptions load;
};

[[noreturn]] void usage(const std::string& problem) {
  throw Error(problem + "\n" + kUsage, kExitUsage);
}

[[noreturn]] void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::exit(kExitOk);
}

long number(const char* text, long most) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < 0 || value > most) {
    usage(std::string("not a number in range: ") + text);
  }
  return value;
}

// Begins with the supervisor's format, for mistakes in the configuration that would set the format.
LogFormat report_format = LogFormat::kText;
bool failure_is_logged = false;  // false: a person reads it

Options parse(int argc, char** argv) {
  Options options;
  const option known[] = {{"run", no_argument, &options.mode, kRun},
                          {"slot", required_argument, nullptr, 'n'},
                          {"settle", required_argument, nullptr, 's'},
                          {"status", required_argument, nullptr, 't'},
                          {"check", required_argument, nullptr, 'c'},
                          {"reclaim", no_argument, &options.reclaim, 1},
                          {"calendar", no_argument, &options.mode, kCalendar},
                          {"plugins", no_argument, &options.mode, kPlugins},
                          {"plugin-check", no_argument, &options.mode, kPluginCheck},
                          {"init", no_argument, &options.init, 1},
                          {"json", no_argument, &options.json, 1},
                          {"log-format", required_argument, nullptr, 'o'},
                          {"config", required_argument, nullptr, 'f'},
                          {"embedded", required_argument, nullptr, 'e'},
                          {"version", no_argument, nullptr, 'v'},
                          {"help", no_argument, nullptr, 'h'},
                          {nullptr, 0, nullptr, 0}};
  for (int got = 0; (got = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    switch (got) {
      case 0:
        break;
      case 's':
        options.mode = kSettle;
        [[fallthrough]];
      case 'n':
        options.slot = static_cast<std::uint32_t>(number(optarg, ipc::kMaxSlots - 1));
        break;
      case 't':
        options.status = static_cast<int>(number(optarg, INT32_MAX));
        break;
      case 'c':
        options.mode = kCheck;
        options.check = optarg;
        break;
      case 'o':
        report_format = log::parse_format(optarg);
        failure_is_logged = true;
        break;
      case 'f':
        options.load.file = optarg;
        break;
      case 'e':
        options.load.embedded = optarg;
        break;
      case 'v':
        say(std::string(kVersionMark) + "\n");
      case 'h':
        say(kUsage);
      default:
        usage("unknown or incomplete option");
    }
  }
  options.files.assign(argv + optind, argv + argc);
  if (options.mode == kNone || options.files.empty() == (options.mode == kPluginCheck)) {
    usage("an option that says what to do is missing");
  }
  return options;
}

// False: the file does not exist. The program on disk may have been replaced under a running
// supervisor.
bool is_slot_file() {
  const auto* header =
      static_cast<ipc::SlotFileHeader*>(map_shared(ipc::kSlotFd, 0, ipc::kPage, false));
  if (header == nullptr) return false;
  const char* trouble = peer::trouble_with(*header);
  if (trouble != nullptr) throw Error(std::string("slot file: ") + trouble, kExitConfig);
  return true;
}

void* map_private(std::size_t size) {
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

// The slot of this worker from the supervisor's file, or a private one if run by hand.
ipc::Slot& map_slot(std::uint32_t index, bool writable) {
  void* at = nullptr;
  if (!peer::inherited(ipc::kSlotFd)) {
    at = map_private(sizeof(ipc::Slot));
  } else if (is_slot_file()) {
    const auto offset = ipc::slot_offset(index);
    at = writable ? peer::map_present(ipc::kSlotFd, offset, sizeof(ipc::Slot))
                  : map_shared(ipc::kSlotFd, offset, sizeof(ipc::Slot), false);
  }
  if (at == nullptr)
    throw Error("slot " + std::to_string(index) + ": cannot be mapped", kExitSoftware);
  return *static_cast<ipc::Slot*>(at);
}

ipc::Board* shared_board() {
  if (!peer::inherited(ipc::kBoardFd)) return nullptr;
  const char* trouble = peer::trouble_with_board(ipc::kBoardFd);
  if (trouble != nullptr) throw Error(std::string("board: ") + trouble, kExitConfig);
  return peer::map_board(ipc::kBoardFd);
}

// Runs one of the supervisor's two checks.
void check(const config::Settings& settings, const Options& options) {
  worker::Findings findings;
  const Finally logged([&findings] {
    for (const auto& warning : findings.warnings)
      log::warn(warning.event, {{"text", warning.text}});
  });
  try {
    if (options.check == "config") {
      worker::check_config(settings, findings);
    } else if (options.check == "database") {
      worker::check_database(settings, options.reclaim != 0, findings);
    } else {
      usage("--check config, database or all");
    }
  } catch (const Error& error) {
    // Another session holds a lock that the check needs: the next try may succeed, as if the
    // database were away.
    const auto* const refused = dynamic_cast<const db::DbError*>(&error);
    if (refused != nullptr && refused->error_class() == db::ErrorClass::kRetryable)
      throw Error(error.what(), kExitUnavailable);
    throw;
  }
}

// Reports go to standard error, wherever the log is: it is watched during the supervisor's start,
// and later it is the log. Each mistake of a configuration and each refused plugin has its own
// line.
int report(const std::string& message, ExitCode code) {
  if (peer::inherited(ipc::kAnswerFd)) worker::answer_refusal(message, report_format);
  if (failure_is_logged) log::setup("worker", log::Level::kInfo, {}, report_format);
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    if (failure_is_logged) {
      log::error("worker.failed", {{"code", static_cast<int>(code)}, {"error", line}});
    } else {
      std::fprintf(stderr, "allot-worker: %s\n", line.c_str());
    }
  }
  return code;
}

// A check of the configuration reads the file; all other children of the supervisor use the checked
// configuration.
config::LoadOptions source_of(const Options& options) {
  config::LoadOptions load = options.load;
  const bool reads = options.mode == kCheck && options.check == "config";
  const bool passed_on = peer::inherited(ipc::kConfigFd) && config::Files::is_copy(ipc::kConfigFd);
  if (!reads && passed_on) load.copy = ipc::kConfigFd;
  return load;
}

// The supervisor passes a format for failures to each check, and a slot to each worker. All other
// calls come from people, whose shell may have any file open under the numbers of slot.h.
bool is_for_people(const Options& options) {
  const bool checks = options.mode == kCheck;
  if (checks && options.check != "all") return !failure_is_logged;
  if (options.mode == kRun) return !options.slot;
  return checks || options.mode == kPlugins || options.mode == kPluginCheck;
}

int run(const Options& options) {
  // Needs neither a configuration nor a database, and has only one thread: it changes the zone.
  if (options.mode == kCalendar) {
    schedule::answer_all(std::cin, std::cout);
    return kExitOk;
  }
  if (is_for_people(options)) peer::forget_inherited();
  if (options.mode == kPluginCheck) {
    const bool good = worker::print_plugin_check(
        {options.files, options.json != 0, options.init != 0, options.load});
    return good ? kExitOk : kExitConfig;
  }
  if (options.check == "all") return worker::check_all(options.load, options.json != 0);
  const config::Settings settings = config::load(source_of(options));
  const auto& logging = settings.logging;
  report_format = log::parse_format(logging.format);
  log::setup("worker", log::parse_level(logging.level), logging.file,
             log::parse_format(logging.format, logging.file));
  failure_is_logged = options.mode != kPlugins;
  for (const std::string& warning : settings.warnings)
    log::warn("config.warning", {{"text", warning}});
  const std::uint32_t slot = options.slot.value_or(0);
  if (options.mode == kPlugins) {
    return worker::print_plugins(settings, options.json != 0) ? kExitOk : kExitConfig;
  }
  if (options.mode == kCheck) {
    check(settings, options);
    return kExitOk;
  }
  if (options.mode == kSettle) {
    const worker::WorkerEnd end{options.status, process::end_cgroup(settings, slot)};
    worker::settle(settings, map_slot(slot, false), end, shared_board());
    process::remove_cgroup(settings, slot);
    return kExitOk;
  }
  ipc::Slot& own = map_slot(slot, true);
  const config::Pool& pool = worker::pool_of(settings, own);
  const process::WorkerCgroup cgroup(settings, pool, slot);
  ipc::Board* board = shared_board();
  if (board == nullptr) board = static_cast<ipc::Board*>(map_private(sizeof(ipc::Board)));
  if (board == nullptr) throw Error("out of memory", kExitSoftware);
  return pool.name == config::kStewardPool ? steward::run(settings, own, *board)
                                           : worker::run_worker(settings, own, *board);
}

}  // namespace
}  // namespace allot::role

int main(int argc, char** argv) {
  using namespace allot;
  peer::note_inherited();
  try {
    return role::run(role::parse(argc, argv));
  } catch (const Error& error) {
    return role::report(error.what(), error.exit_code());
  } catch (const std::exception& error) {
    return role::report(std::string("defect: ") + error.what(), kExitSoftware);
  }
}
