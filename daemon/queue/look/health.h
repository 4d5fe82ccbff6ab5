// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"

// What `allot doctor` asks the database. It only shows this; nothing acts on it (S12).
namespace allot::queue {

// Those of the relevant settings that the server knows.
std::map<std::string, std::string> server_variables(db::Connection& db);

// Whether somebody changed it for all sessions. False also where this account may not know.
bool optimizer_switch_changed(db::Connection& db);

// The database's clock, UTC.
std::chrono::sys_time<std::chrono::microseconds> database_clock(db::Connection& db);

struct HeldLease {
  std::string queue;
  std::uint32_t partition_no = 0;
  std::string host;
  std::string instance;
  std::uint32_t pid = 0;
  std::uint64_t origin = 0;                   // Holder::origin
  std::string until;                          // UTC, ISO 8601
  bool overdue = false;                       // by the database's clock
  std::optional<std::string> silent_since{};  // its holder should have renewed it after that
};

// At most `limit` leases.
std::vector<HeldLease> held_leases(db::Connection& db, std::uint32_t most);

// Tasks that are due later than `after` from now.
struct FarTasks {
  std::uint64_t count = 0;  // up to kMostFarTasks
  std::string last;         // when the last one is due: UTC, ISO 8601
};
inline constexpr std::uint64_t kMostFarTasks = 10'000;
FarTasks far_tasks(db::Connection& db, std::chrono::microseconds after);

// How far the oldest row is past its retention; nullopt: none is.
struct PurgeLag {
  std::optional<std::chrono::seconds> history{};
  std::optional<std::chrono::seconds> dead{};
};
PurgeLag purge_lag(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds history,
                   std::chrono::microseconds dead);

// A duty, and who leads it. Times are UTC, ISO 8601.
struct DutyView {
  std::uint32_t queue_id = 0;  // 0: of the cluster
  std::string queue;           // its name; empty: of the cluster
  std::string duty;
  bool led = false;  // if so, by whom, and since when:
  std::string host;
  std::string instance;
  std::uint32_t pid = 0;
  std::optional<std::string> since{};
  std::optional<std::string> last_run{};
  std::optional<std::string> last_error{};
  // For how long nobody has led it; nullopt: somebody does, or the row cannot tell.
  std::optional<std::chrono::seconds> leaderless{};
};
// "mail/purge", or "schedules" for a duty of the cluster.
[[nodiscard]] std::string name_of(const DutyView& duty);
std::vector<DutyView> list_duties(db::Connection& db);

}  // namespace allot::queue
