// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "queue/model/task_facts.h"
#include "queue/operate/cancel.h"
#include "queue/submit/submit.h"
#include "queue/views/full_task.h"
#include "queue/views/task_lists.h"

// Tasks as JSON, the same for `allot ... --json` and the gateway.
namespace allot::as_json {

// Limit of a payload shown with the other fields.
inline constexpr std::size_t kShownPayload = 4096;

// "waiting", "running" (detached) or "dead".
[[nodiscard]] const char* state_of(const queue::TaskView& task);

// Entries of a list.
[[nodiscard]] nlohmann::json task(const queue::TaskView& task, const std::string& queue);
[[nodiscard]] nlohmann::json done(const queue::Done& done, const std::string& queue);

[[nodiscard]] nlohmann::json document(const queue::FullTask& full);
[[nodiscard]] nlohmann::json attempts(const std::vector<queue::AttemptView>& attempts);
[[nodiscard]] nlohmann::json key_owner(const queue::KeyOwner& owner, const std::string& queue,
                                       std::string_view unique_key);

// Result of a cancel request for an existing task; `as_done`: the requested end.
[[nodiscard]] nlohmann::json cancelled(const queue::Cancelled& cancelled, const queue::TaskId& id,
                                       bool as_done);

// Result of a submission, with the owner of a taken unique key.
[[nodiscard]] nlohmann::json submitted(const queue::Submitted& made);

}  // namespace allot::as_json
