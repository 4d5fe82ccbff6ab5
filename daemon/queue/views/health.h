// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"

// Reads for `allot doctor`. The results are only shown; nothing acts on them (S12).
namespace allot::queue {

struct HeldLease {
  std::string queue;
  std::uint32_t partition_no = 0;
  std::string host;
  std::string instance;
  std::uint32_t pid = 0;
  std::uint64_t origin = 0;                   // Holder::origin
  std::string until;                          // UTC, ISO 8601
  bool overdue = false;                       // by the database's clock
  std::optional<std::string> silent_since{};  // the holder should have renewed it since then
};

// At most `most` leases.
std::vector<HeldLease> held_leases(db::Connection& db, std::uint32_t most);

// A duty and its leader. Times are UTC, ISO 8601.
struct DutyView {
  std::uint32_t queue_id = 0;  // 0: a duty of the cluster
  std::string queue;           // its name; empty: a duty of the cluster
  std::string duty;
  bool led = false;  // if so, by which holder and since when:
  std::string host;
  std::string instance;
  std::uint32_t pid = 0;
  std::optional<std::string> since{};
  std::optional<std::string> last_run{};
  std::optional<std::string> last_error{};
  // Time without a leader; nullopt: it has a leader, or the row cannot tell.
  std::optional<std::chrono::seconds> leaderless{};
};
// "mail/purge", or "schedules" for a duty of the cluster.
[[nodiscard]] std::string name_of(const DutyView& duty);
std::vector<DutyView> list_duties(db::Connection& db);

}  // namespace allot::queue
