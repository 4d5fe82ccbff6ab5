// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "json/task_json.h"

// What a gateway answered, read back for texts: the other direction of task_json.h. All throw
// nlohmann::json::exception for a document of another form, and Error for an id that is none.
namespace allot::as_json {

// Of document(). The payload is not among it, because there it is text, and cut.
[[nodiscard]] Shown shown_of(const nlohmann::json& document);

// Of task(): one of a list.
[[nodiscard]] queue::TaskView task_of(const nlohmann::json& document);

// Of done(), likewise.
[[nodiscard]] queue::Done done_of(const nlohmann::json& document);

// Of cancelled().
[[nodiscard]] queue::Cancelled cancelled_of(const nlohmann::json& document);

}  // namespace allot::as_json
