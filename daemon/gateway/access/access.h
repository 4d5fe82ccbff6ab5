// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "config/settings.h"
#include "gateway/access/caller.h"
#include "gateway/http/message.h"

namespace allot::gateway::access {

// Finds out who sends a request: by its token, by the unix socket that it came through, or by what
// a trusted proxy says. Pure but for the wall clock, by which tokens expire; any thread may ask.
class Access {
 public:
  explicit Access(const config::Gateway& settings);

  struct Verdict {
    std::optional<Caller> caller{};  // without one, the request is refused with:
    unsigned status = 0;             // 400, 401, 403 or 421
    std::string title{};             // what is wrong and how to mend it, without a secret
  };
  [[nodiscard]] Verdict judge(const http::Head& head) const;

 private:
  const config::Gateway& settings_;
};

}  // namespace allot::gateway::access
