// SPDX-License-Identifier: Apache-2.0
#include "queue/look/health.h"

#include <nlohmann/json.hpp>

#include "gateway/api/verbs.h"

namespace allot::gateway::api {

http::Response show_live(Call& /*call*/) {
  return answer_of({{"live", true}});
}

http::Response show_ready(Call& call) {
  (void)queue::database_clock(call.db());
  return answer_of({{"ready", true}});
}

http::Response show_openapi(Call& call) {
  http::Response response;
  response.body = openapi(call.service().base_path, call.service().read_only);
  return response;
}

}  // namespace allot::gateway::api
