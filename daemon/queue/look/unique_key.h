// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "queue/model/task.h"

namespace allot::queue {

// A unique key that is taken (A4), as shown to people.
struct UniqueKey {
  std::string key;      // bytes, as the submitter gave them
  std::string free_at;  // UTC, ISO 8601: when it is free again; empty while its task lives
};

// The key that the task has, or had and nobody else may have yet. nullopt: it has none.
std::optional<UniqueKey> show_unique(db::Connection& db, const TaskId& id);

// Where the task of a unique key is, in one look.
struct KeyOwner {
  enum class State { kWaiting, kRunning, kDead, kDone };  // kRunning: detached

  TaskId id;
  State state = State::kWaiting;
  bool due = false;     // of one that waits
  bool leased = false;  // likewise: its partition is
  std::string free_at;  // as in UniqueKey
};

// The task that has the key, or had it and nobody else may have it yet. nullopt: nobody's.
std::optional<KeyOwner> find_unique(db::Connection& db, std::uint32_t queue_id,
                                    std::string_view unique_key);

}  // namespace allot::queue
