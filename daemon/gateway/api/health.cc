// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "db/migrate.h"
#include "gateway/api/verbs.h"

namespace allot::gateway::api {

http::Response show_live(Call& /*call*/) {
  return answer_of({{"live", true}});
}

http::Response show_ready(Call& call) {
  db::require_schema(call.db(), db::Newer::kTaken);
  return answer_of({{"ready", true}});
}

http::Response show_openapi(Call& call) {
  http::Response response;
  response.body = call.service().openapi;
  return response;
}

}  // namespace allot::gateway::api
