// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/asking.h"

#include <exception>
#include <utility>

#include "base/error.h"
#include "log/log.h"

namespace allot::gateway::http {
namespace {

Response defect(Application& application, const std::exception& error) {
  log::error("gateway.answer_failed", {{"error", error.what()}});
  return application.refuse(500, "this is a defect; the log says more");
}

}  // namespace

Admission admission_of(Application& application, const Head& head) {
  try {
    return application.admit(head);
  } catch (const std::exception& error) {
    Admission admission;
    admission.refusal = defect(application, error);
    return admission;
  }
}

void answer_of(Application& application, const Admission& admission, Request request,
               const Reply& reply) {
  try {
    admission.answer(std::move(request), reply);
  } catch (const std::exception& error) {
    reply(defect(application, error));
  }
}

std::string head_of(Application& application, Response& response, const Framing& framing) {
  try {
    return response_head(response, framing);
  } catch (const Error& error) {
    response = defect(application, error);
    return response_head(response, framing);
  }
}

}  // namespace allot::gateway::http
