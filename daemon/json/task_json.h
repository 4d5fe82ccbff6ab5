// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/look/history.h"
#include "queue/look/inspect.h"
#include "queue/look/unique_key.h"
#include "queue/operate/cancel.h"
#include "queue/submit/owners.h"
#include "queue/submit/submit.h"
#include "queue/verbs/cancel_request.h"

// Tasks as JSON: what `allot ... --json` prints is what the gateway answers.
namespace allot::as_json {

// How much of a payload is shown beside the other fields.
inline constexpr std::size_t kShownPayload = 4096;

// "waiting", "running" (detached) or "dead".
[[nodiscard]] const char* state_of(const queue::TaskView& task);
[[nodiscard]] const char* state_of(queue::KeyOwner::State state);

// One of a list.
[[nodiscard]] nlohmann::json task(const queue::TaskView& task, const std::string& queue);
[[nodiscard]] nlohmann::json done(const queue::Done& done, const std::string& queue);

// All that is known of one task. It has `task` or `done`.
struct Shown {
  std::optional<queue::TaskView> task{};  // its payload as the handler sees it
  std::optional<queue::Done> done{};
  std::string queue{};
  std::optional<queue::CancelRequest> cancel{};
  std::optional<queue::UniqueKey> unique{};
  std::vector<queue::AttemptView> attempts{};
  std::string damage{};  // why the payload is as it is written, and not as the handler sees it
};
// nullopt: the task has finished, or was never submitted.
std::optional<Shown> look_at(db::Connection& db, const queue::TaskId& id);

[[nodiscard]] nlohmann::json document(const Shown& shown);
[[nodiscard]] nlohmann::json attempts(const std::vector<queue::AttemptView>& attempts);
[[nodiscard]] nlohmann::json key_owner(const queue::KeyOwner& owner, const std::string& queue,
                                       std::string_view unique_key);

// What a cancel did; of a task that was found, and is to end so.
[[nodiscard]] nlohmann::json cancelled(const queue::Cancelled& cancelled, const queue::TaskId& id,
                                       bool as_done);

// What a submission made, and of a task that existed where it is.
[[nodiscard]] nlohmann::json submitted(const queue::Submitted& made, queue::Owner owner);

}  // namespace allot::as_json
