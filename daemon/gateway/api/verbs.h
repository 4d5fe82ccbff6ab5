// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gateway/api/call.h"

// What each route does. A verb answers, or throws what is answered: see problem.h.
namespace allot::gateway::api {

http::Response show_live(Call& call);
http::Response show_ready(Call& call);
http::Response show_openapi(Call& call);

http::Response show_task(Call& call);

}  // namespace allot::gateway::api
