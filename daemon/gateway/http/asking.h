// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "gateway/http/application.h"
#include "gateway/http/response_text.h"

// Calls an application. An exception is a defect: it is logged, and answered with 500.
namespace allot::gateway::http {

[[nodiscard]] Admission admission_of(Application& application, const Head& head);
void answer_of(Application& application, const Admission& admission, Request request,
               const Reply& reply);
// The head of an answer. Replaces `response` if it cannot be sent as it is.
[[nodiscard]] std::string head_of(Application& application, Response& response,
                                  const Framing& framing);

}  // namespace allot::gateway::http
