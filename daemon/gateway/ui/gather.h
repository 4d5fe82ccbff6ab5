// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gateway/access/caller.h"
#include "gateway/api/application.h"
#include "gateway/ui/page.h"

namespace allot::gateway::ui {

// A request of the API in the form in which the server passes it on.
[[nodiscard]] http::Request api_request(const std::string& base, const ApiRequest& from);
[[nodiscard]] Document document_of(http::Response response);

// Sends the requests for this caller and calls `done` once with the documents, in order, in the
// thread of the last answer; at once without requests. `done` must not throw.
void gather(api::Application& api, const std::string& base, const access::Caller& caller,
            const std::vector<ApiRequest>& requests,
            std::function<void(std::vector<Document>)> done);

}  // namespace allot::gateway::ui
