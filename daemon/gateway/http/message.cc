// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/message.h"

namespace allot::gateway::http {

const std::string* Head::field(std::string_view name) const {
  for (const Field& each : fields) {
    if (each.name == name) return &each.value;
  }
  return nullptr;
}

}  // namespace allot::gateway::http
