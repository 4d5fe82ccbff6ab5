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
#include "config/settings.def"

// The configuration, read once at start. The fields are the rows of settings.def, which has their
// meaning, defaults and limits. Times are in milliseconds.
namespace allot::config {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Format of a value in the file, and its C++ type.
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

enum class Kind {
  kText,
  kSecret,
  kPath,
  kName,
  kLevel,
  kTls,
  kFormat,
  kPlacement,
  kLate,
  kOverlap,
  kGrant,
  kTime,
  kPayload,
  kCount,
  kDuration,
  kAutoDuration,
  kDurations,
  kFlag,
  kNames,
  kWeights
};

// One row of settings.def.
struct Key {
  const char* name;
  Kind kind;
  std::string_view unit;
  std::string_view sentence;
};

#define ALLOT_FIELD(key, type, initial, min, max, unit, sentence) kind::type key = initial;
#define ALLOT_VISIT(key, type, initial, min, max, unit, sentence) \
  visit(Key{#key, Kind::k##type, unit, sentence}, in.key, min, max);
// The fields of a section, its header in the file, and a loop over the keys: visit(key, value, min,
// max).
#define ALLOT_SECTION(header, KEYS)                    \
  KEYS(ALLOT_FIELD)                                    \
  static constexpr std::string_view kHeader = header;  \
  template <typename Self, typename Visit>             \
  static void each_key(Self& in, const Visit& visit) { \
    KEYS(ALLOT_VISIT)                                  \
  }

struct Server {
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const Server&) const = default;
};

struct Database {
  ALLOT_SECTION("[database]", ALLOT_DATABASE_KEYS)
  std::vector<Server> servers;  // after load(): hosts, or host with port
};

// Account that follows the server's binary log.
struct Wake {
  ALLOT_SECTION("[wake]", ALLOT_WAKE_KEYS)
  std::string password{};  // after load(): from password_file
};

struct Daemon {
  ALLOT_SECTION("[daemon]", ALLOT_DAEMON_KEYS)
};

struct Queue {
  std::string name;  // [A-Za-z0-9._-]{1,63}
  ALLOT_SECTION("[queues.NAME]", ALLOT_QUEUE_KEYS)
};

struct Type {
  std::string name;  // [A-Za-z0-9._-]{1,63}
  ALLOT_SECTION("[types.NAME]", ALLOT_TYPE_KEYS)
};

struct Pool {
  std::string name;  // [A-Za-z0-9._-]{1,31}
  ALLOT_SECTION("[pools.NAME]", ALLOT_POOL_KEYS)
};

struct Schedule {
  std::string name;  // [A-Za-z0-9._-]{1,63}
  ALLOT_SECTION("[schedules.NAME]", ALLOT_SCHEDULE_KEYS)
};

// Keys of one [plugins.NAME]: free form, with numbers and booleans as text. A list is stored as its
// key several times, in order. A key of a subsection has both names, joined as in TOML: deeper.key,
// or "with.dot".key.
using PluginSection = std::multimap<std::string, std::string>;

struct Plugins {
  ALLOT_SECTION("[plugins]", ALLOT_PLUGINS_KEYS)
  std::map<std::string, PluginSection> sections;
};

struct Notices {
  ALLOT_SECTION("[notices]", ALLOT_NOTICES_KEYS)
};

struct Metrics {
  ALLOT_SECTION("[metrics]", ALLOT_METRICS_KEYS)
};

// Permissions of a token or a user: the queues of each role, ["*"] for all.
struct GatewayToken {
  std::string name;  // [A-Za-z0-9._-]{1,63}
  ALLOT_SECTION("[gateway.tokens.NAME]", ALLOT_GATEWAY_TOKEN_KEYS)
  std::optional<std::chrono::sys_seconds> expires_at{};  // after load(): expires
};

struct GatewayUser {
  std::string name;  // as the proxy sends it; "*": every user without a section
  ALLOT_SECTION("[gateway.users.NAME]", ALLOT_GATEWAY_USER_KEYS)
};

// Fireworq's API, at its own address (docs/from-fireworq.md).
struct GatewayFireworq {
  ALLOT_SECTION("[gateway.fireworq]", ALLOT_GATEWAY_FIREWORQ_KEYS)
  Server address;  // after load(): listen
};

struct Gateway {
  ALLOT_SECTION("[gateway]", ALLOT_GATEWAY_KEYS)
  Database database;                          // after load(): missing keys from [database]
  std::vector<Server> addresses;              // after load(): listen
  std::vector<GatewayToken> tokens;           // in the order of the file
  std::vector<GatewayUser> users;             // in the order of the file
  std::optional<GatewayFireworq> fireworq{};  // only with the section
};

struct Logging {
  ALLOT_SECTION("[logging]", ALLOT_LOGGING_KEYS)
};

#undef ALLOT_SECTION
#undef ALLOT_VISIT
#undef ALLOT_FIELD

// Exponential back-off with jitter: first, 2 x, 4 x ... up to `most`, each within +-20 %, so that
// tasks that failed together do not return together. Or a list of exact delays, whose last one
// repeats.
struct RetryDelays {
  milliseconds first{5'000};
  milliseconds most{3'600'000};
  std::vector<milliseconds> list{};  // if not empty, replaces the other two

  // Delay after attempt number `attempt` (from 1). `dice` is any random number.
  [[nodiscard]] std::chrono::microseconds delay(std::uint32_t attempt, std::uint32_t dice) const;
};

// Line of each key in the file: "pools.mail.size" -> line, "pools.mail" -> line of the section. A
// key that is missing here has its default.
using Lines = std::map<std::string, std::uint32_t>;

struct Settings {
  Database database;
  Daemon daemon;
  std::vector<Queue> queues;        // in the order of the file; after load() at least one
  std::vector<Type> types;          // in the order of the file
  std::vector<Pool> pools;          // in the order of the file; after load() at least one, each
                                    // with the names of all its queues; pools with fireworq have
                                    // none
  std::vector<Schedule> schedules;  // in the order of the file
  Plugins plugins;
  Notices notices;
  Metrics metrics;
  Wake wake;
  std::optional<Gateway> gateway;  // only with the section
  Logging logging;

  std::string file;        // the file that was read; empty = none
  std::string file_named;  // source of the name: "--config", "$ALLOT_CONFIG"; empty = default path
  Files files;             // contents, for other processes
  Lines lines;
  std::map<std::string, std::string> origins;  // of values from neither the file nor the defaults:
                                               // "database.embedded" -> "--embedded"
  std::string drain_budget;           // of a drain: its counters for workers (peer/drain_budget.h)
  std::vector<std::string> warnings;  // for the log, one line each; they do not prevent a start
};

// The line of a key or, without the key, of its section; 0: the file has neither.
[[nodiscard]] std::uint32_t line_of(const Settings& settings, std::string path);

inline constexpr const char* kDefaultFile = "/etc/allot/allot.toml";
inline constexpr std::uint32_t kMaxPools = 16;  // and the steward's, which exists in every daemon
inline constexpr const char* kStewardPool = "steward";
inline constexpr std::uint32_t kMaxWorkers = 256;

struct LoadOptions {
  std::string file;      // --config; empty: $ALLOT_CONFIG, then default_file if it exists
  std::string embedded;  // --embedded: overrides [database] embedded; relative to the work folder
  std::string default_file = kDefaultFile;
  int copy = -1;  // descriptor of Files::keep(), used instead of all files
};

// Reads, checks and completes the settings. Throws Error(kExitConfig) with every problem of the
// file, one `FILE:LINE: message` per line.
[[nodiscard]] Settings load(const LoadOptions& options);

// The folder of lock, slot and board files: [daemon] runtime_dir, else DIR/run of the embedded
// database, else $RUNTIME_DIRECTORY, else /run/allot/INSTANCE for root, else
// $XDG_RUNTIME_DIR/allot/INSTANCE, else /tmp/allot-UID/INSTANCE. Does not create it. Throws
// Error(kExitConfig) if the folder under /tmp belongs to another user.
[[nodiscard]] std::string runtime_dir(const Settings& settings);

// The same folder, with its source: "$RUNTIME_DIRECTORY"; empty for [daemon] runtime_dir.
struct Named {
  std::string value;
  std::string origin;
};
[[nodiscard]] Named named_runtime_dir(const Settings& settings);

// Unix socket of the gateway, which must be configured: its own setting, else gateway.sock in the
// runtime folder. Throws as runtime_dir() does.
[[nodiscard]] std::string gateway_socket(const Settings& settings);

// The supervisor kills a worker without a heartbeat for this time (S27): frozen_after, or its
// computed default.
[[nodiscard]] milliseconds frozen_limit(const Daemon& daemon);
// Its workers serve all queues that programs created by requests.
[[nodiscard]] inline bool serves_made_queues(const Pool& pool) {
  return pool.fireworq;
}

// The settings of a type are in the section of its exact name, else of the longest prefix; no two
// sections are combined.

// Time limit for a task of that type: from the type, else from the daemon.
[[nodiscard]] milliseconds task_timeout(const Settings& settings, std::string_view type);

// When a handler is asked to stop: 10 s before task_timeout, or halfway through if it is short.
[[nodiscard]] milliseconds soft_task_timeout(milliseconds task_timeout);

// The queue of that name, or nullptr.
[[nodiscard]] const Queue* find_queue(const Settings& settings, const std::string& name);

// Attempt limit and retry delays for a task of that type: from the type, else from the queue.
[[nodiscard]] std::uint32_t max_attempts(const Settings& settings, const Queue& queue,
                                         std::string_view type);
[[nodiscard]] RetryDelays retry_delays(const Settings& settings, const Queue& queue,
                                       std::string_view type);

}  // namespace allot::config
