// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/files.h"

// The configuration, read once at start. The fields are the rows of settings.def, which has their
// meaning, defaults and limits. Times are milliseconds.
namespace allot::config {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// How a value looks in the file, and the C++ type it becomes.
namespace kind {
using Text = std::string;
using Secret = std::string;     // never printed
using Path = std::string;       // absolute; relative ones start at the folder of the file
using Name = std::string;       // [a-z0-9-]{1,31}
using Level = std::string;      // debug, info, warn, error
using Tls = std::string;        // off, required, verify
using Format = std::string;     // auto, text, json, journald
using Placement = std::string;  // spread, ordered, limited, fair
using Late = std::string;       // once, skip, all
using Overlap = std::string;    // allow, skip, wait
using Grant = std::string;      // none, read, submit, operate
using Time = std::string;       // "2027-01-31", "2027-01-31T18:00:00Z", or "" = none
using Payload = std::string;    // text that may have several lines
using Count = std::uint32_t;
using Duration = milliseconds;      // "300ms", "30s", "5m", "1h"
using AutoDuration = milliseconds;  // the same, or "" = 0 = computed
using Durations = std::vector<milliseconds>;
using Flag = bool;
using Names = std::vector<std::string>;
using Weights = std::map<std::string, std::uint32_t>;  // { mail = 3, reports = 1 }
}  // namespace kind

#define ALLOT_FIELD(key, type, initial, min, max, unit, sentence) kind::type key = initial;

struct Server {
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const Server&) const = default;
};

struct Database {
#define ALLOT_DATABASE ALLOT_FIELD
#include "config/settings.def"
  std::vector<Server> servers;  // after load(): hosts, or host with port
};

// Which account follows the server's binary log.
struct Wake {
#define ALLOT_WAKE ALLOT_FIELD
#include "config/settings.def"
  std::string password{};  // after load(): from password_file
};

struct Daemon {
#define ALLOT_DAEMON ALLOT_FIELD
#include "config/settings.def"
};

struct Queue {
  std::string name;  // [A-Za-z0-9._-]{1,63}
#define ALLOT_QUEUE ALLOT_FIELD
#include "config/settings.def"
};

struct Type {
  std::string name;  // [A-Za-z0-9._-]{1,63}
#define ALLOT_TYPE ALLOT_FIELD
#include "config/settings.def"
};

struct Pool {
  std::string name;  // [A-Za-z0-9._-]{1,31}
#define ALLOT_POOL ALLOT_FIELD
#include "config/settings.def"
};

struct Schedule {
  std::string name;  // [A-Za-z0-9._-]{1,63}
#define ALLOT_SCHEDULE ALLOT_FIELD
#include "config/settings.def"
};

// The keys of one [plugins.NAME]: free form, with numbers and booleans as text. A list is its key
// several times, in order; a key of a section inside has both names, as TOML joins them:
// deeper.key, or "with.dot".key.
using PluginSection = std::multimap<std::string, std::string>;

struct Plugins {
#define ALLOT_PLUGINS ALLOT_FIELD
#include "config/settings.def"
  std::map<std::string, PluginSection> sections;
};

struct Notices {
#define ALLOT_NOTICES ALLOT_FIELD
#include "config/settings.def"
};

struct Metrics {
#define ALLOT_METRICS ALLOT_FIELD
#include "config/settings.def"
};

// What a token or a user may do: the queues of each role, ["*"] for all.
struct GatewayToken {
  std::string name;  // [A-Za-z0-9._-]{1,63}
#define ALLOT_GATEWAY_TOKEN ALLOT_FIELD
#include "config/settings.def"
  std::optional<std::chrono::sys_seconds> expires_at{};  // after load(): expires
};

struct GatewayUser {
  std::string name;  // as the proxy has it; "*": each that has no section
#define ALLOT_GATEWAY_USER ALLOT_FIELD
#include "config/settings.def"
};

// Fireworq's API, at a place of its own (docs/from-fireworq.md).
struct GatewayFireworq {
#define ALLOT_GATEWAY_FIREWORQ ALLOT_FIELD
#include "config/settings.def"
  Server address;  // after load(): listen
};

struct Gateway {
#define ALLOT_GATEWAY ALLOT_FIELD
#include "config/settings.def"
  Database database;                          // after load(): what is missing is that of [database]
  std::vector<Server> addresses;              // after load(): listen
  std::vector<GatewayToken> tokens;           // in the order of the file
  std::vector<GatewayUser> users;             // in the order of the file
  std::optional<GatewayFireworq> fireworq{};  // without the section there is none
};

struct Logging {
#define ALLOT_LOGGING ALLOT_FIELD
#include "config/settings.def"
};

#undef ALLOT_FIELD

// The line of each key in the file: "pools.mail.size" -> line, "pools.mail" -> line of the section.
// A key that is missing here has its default.
using Lines = std::map<std::string, std::uint32_t>;

struct Settings {
  Database database;
  Daemon daemon;
  std::vector<Queue> queues;        // in the order of the file; after load() at least one
  std::vector<Type> types;          // in the order of the file
  std::vector<Pool> pools;          // in the order of the file; after load() at least one,
                                    // each with the names of all its queues, but for those with
                                    // fireworq, which have none here
  std::vector<Schedule> schedules;  // in the order of the file
  Plugins plugins;
  Notices notices;
  Metrics metrics;
  Wake wake;
  std::optional<Gateway> gateway;  // without the section there is none
  Logging logging;

  std::string file;        // the file that was read; empty = none
  std::string file_named;  // who named it: "--config", "$ALLOT_CONFIG"; empty = its usual place
  Files files;             // what was read, to hand it on
  Lines lines;
  std::map<std::string, std::string> origins;  // of values that are neither the file's nor
                                               // defaults: "database.embedded" -> "--embedded"
  std::string drain_budget;           // of a drain: where its workers count (peer/drain_budget.h)
  std::vector<std::string> warnings;  // for the log: one line each, nothing that stops a start
};

inline constexpr const char* kDefaultFile = "/etc/allot/allot.toml";
inline constexpr std::uint32_t kMaxPools = 16;  // and the steward's, which every daemon has
inline constexpr const char* kStewardPool = "steward";
inline constexpr std::uint32_t kMaxWorkers = 256;

struct LoadOptions {
  std::string file;      // --config; empty: $ALLOT_CONFIG, then default_file if it exists
  std::string embedded;  // --embedded: overrides [database] embedded; relative to the work folder
  std::string default_file = kDefaultFile;
  int copy = -1;  // a descriptor of Files::keep(): what was read then, in place of all files
};

// Reads, checks and completes the settings. Throws Error(kExitConfig) with every problem of the
// file, one `FILE:LINE: message` a line.
[[nodiscard]] Settings load(const LoadOptions& options);

// The folder of lock, slot and board files: [daemon] runtime_dir, else DIR/run of the embedded
// database, else $RUNTIME_DIRECTORY, else /run/allot/INSTANCE for root, else
// $XDG_RUNTIME_DIR/allot/INSTANCE, else /tmp/allot-UID/INSTANCE. Makes nothing. Throws
// Error(kExitConfig) when the folder under /tmp belongs to somebody else.
[[nodiscard]] std::string runtime_dir(const Settings& settings);

// The same folder, with its source: "$RUNTIME_DIRECTORY"; empty for [daemon] runtime_dir.
struct Named {
  std::string value;
  std::string origin;
};
[[nodiscard]] Named named_runtime_dir(const Settings& settings);

// The unix socket of the gateway, which the settings have: its own, else gateway.sock in the
// runtime folder. Throws as runtime_dir() does.
[[nodiscard]] std::string gateway_socket(const Settings& settings);

// The supervisor kills a worker without a heartbeat for this long (S27): frozen_after, or its
// computed default.
[[nodiscard]] milliseconds frozen_limit(const Daemon& daemon);
// Its workers serve the queues that programs have made by requests, whatever they are.
[[nodiscard]] inline bool serves_made_queues(const Pool& pool) {
  return pool.fireworq;
}

// The settings of a type are in the section of its exact name, else of the longest prefix; no two
// sections are combined.

// How long a task of that type may run: the type's own, else the daemon's.
[[nodiscard]] milliseconds task_timeout(const Settings& settings, std::string_view type);

// When a handler is asked to stop: 10 s before that, or after half of it if it is short.
[[nodiscard]] milliseconds soft_task_timeout(milliseconds task_timeout);

// The queue of that name, or nullptr.
[[nodiscard]] const Queue* find_queue(const Settings& settings, const std::string& name);

// How often a task of that type may be tried, and its pauses: the type's own, else the queue's.
[[nodiscard]] std::uint32_t max_attempts(const Settings& settings, const Queue& queue,
                                         std::string_view type);
struct Pauses {
  milliseconds first;
  milliseconds most;
  std::vector<milliseconds> list;  // when not empty, instead of the other two
};
[[nodiscard]] Pauses pauses(const Settings& settings, const Queue& queue, std::string_view type);

}  // namespace allot::config
