// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "db/migrate.h"
#include "operations/verbs.h"

namespace allot::operations {

Document show_live(Call& /*call*/) {
  return answer_of({{"live", true}});
}

Document show_ready(Call& call) {
  db::require_schema(call.db(), db::Newer::kTaken);
  return answer_of({{"ready", true}});
}

Document show_openapi(Call& call) {
  Document document;
  document.text = call.service().openapi;
  return document;
}

}  // namespace allot::operations
