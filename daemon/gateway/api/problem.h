// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "gateway/api/route.h"
#include "gateway/http/message.h"

namespace allot::gateway::api {

// Converts an exception into the problem for the client. `writes`: the request changes something,
// so the outcome is unknown after a lost reply.
[[nodiscard]] Problem problem_of(const std::exception_ptr& error, bool writes);

// The error document of a refused request (RFC 9457). Its kind is an error kind of the client
// library (bad_input, config, unavailable, outcome_unknown or failed), or the name of the status
// for errors that exist only in HTTP.
[[nodiscard]] http::Response response_of(const Problem& problem);
[[nodiscard]] http::Response to_http(Document document);

[[nodiscard]] std::string kind_of(unsigned status);

}  // namespace allot::gateway::api
