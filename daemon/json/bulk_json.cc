// SPDX-License-Identifier: Apache-2.0
#include "json/bulk_json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace allot::as_json {

using nlohmann::json;

json bulk_action(const queue::BulkAction& action) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? json(nullptr) : json(text);
  };
  return {{"action", action.action_id},
          {"kind", queue::name_of(action.kind)},
          {"queue", action.queue},
          {"group", text_or_null(action.filter.group)},
          {"type", text_or_null(action.filter.type)},
          {"died_until", action.died_until},
          {"rate", action.rate == 0 ? json(nullptr) : json(action.rate)},
          {"tasks", action.counted},
          {"tasks_at_least", !action.counted_all},
          {"done", action.done},
          {"state", queue::name_of(action.state)},
          {"requested_by", action.requested_by},
          {"started_at", action.started_at},
          {"ended_at", text_or_null(action.ended_at)},
          {"stopped_by", text_or_null(action.stopped_by)},
          {"error", text_or_null(action.error)}};
}

}  // namespace allot::as_json
