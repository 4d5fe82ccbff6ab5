// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gateway/access/caller.h"
#include "gateway/api/application.h"
#include "gateway/ui/page.h"

namespace allot::gateway::ui {

// A request of the API as the server would pass it on.
[[nodiscard]] http::Request api_request(const std::string& base, const ApiRequest& from);
[[nodiscard]] Document document_of(http::Response response);

// Sends the requests for that caller and calls `done` once with the documents, in their order, in
// the thread in which the last of them arrives; at once where there are none. `done` throws
// nothing.
void gather(api::Application& api, const std::string& base, const access::Caller& caller,
            const std::vector<ApiRequest>& requests,
            std::function<void(std::vector<Document>)> done);

}  // namespace allot::gateway::ui
