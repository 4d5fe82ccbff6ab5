// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "gateway/api/problem.h"
#include "gateway/api/verbs.h"
#include "json/task_json.h"

namespace allot::gateway::api {
namespace {

as_json::Shown must_look_at(const Call& call, const queue::TaskId& id) {
  (void)call.queue_of(id);
  auto shown = as_json::look_at(call.db(), id);
  if (!shown) unknown_task(id);
  return std::move(*shown);
}

}  // namespace

http::Response show_task(Call& call) {
  return answer_of(as_json::document(must_look_at(call, call.id())));
}

}  // namespace allot::gateway::api
