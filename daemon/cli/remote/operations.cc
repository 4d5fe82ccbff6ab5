// SPDX-License-Identifier: Apache-2.0
#include "cli/remote/operations.h"

#include <nlohmann/json.hpp>

#include "operations/route.h"

namespace allot::cli {
namespace {

using nlohmann::json;

ExitCode code_of(unsigned status) {
  switch (status) {
    case 400:
    case 413:
    case 414:
    case 415:
    case 431:
      return kExitBadInput;
    case 401:
    case 403:
      return kExitConfig;
    case 408:
    case 429:
    case 503:
      return kExitUnavailable;
    case 504:
      return kExitOutcomeUnknown;
    default:
      return kExitFailure;
  }
}

// An unknown name is bad input, as is a queue that a change is not for; a missing task may have
// existed.
ExitCode code_of(unsigned status, const std::string& field) {
  const bool unknown = status == 404 && !field.empty() && field != "id" && field != "unique_key";
  const bool unfit = status == 409 && (field == "queue" || field == "from" || field == "to");
  return unknown || unfit ? kExitBadInput : code_of(status);
}

json with_reason(json options, const std::string& reason) {
  if (!reason.empty()) options["reason"] = reason;
  return options;
}

}  // namespace

Refused::Refused(const std::string& detail, unsigned status, std::string field)
    : Error(detail, code_of(status, field)), status_(status), field_(std::move(field)) {}

json Operations::read(const std::string& path) const {
  return send({"GET", path});
}

json Operations::post(const std::string& path, const json& options) const {
  return send({"POST", path, body_of(with_reason(options, reason_))});
}

json Operations::put(const std::string& path, const json& options) const {
  return send({"PUT", path, body_of(with_reason(options, reason_))});
}

json Operations::remove(const std::string& path) const {
  if (reason_.empty()) return send({"DELETE", path});
  const char* sign = path.find('?') == std::string::npos ? "?" : "&";
  return send({"DELETE", path + sign + "reason=" + operations::escaped(reason_)});
}

Refused refused_as(unsigned status, const json& problem) {
  const auto field = problem.find("field");
  const bool none = field == problem.end() || field->is_null();
  return {problem.at("detail").get<std::string>(), status, none ? "" : field->get<std::string>()};
}

std::string body_of(const json& options) {
  try {
    return options.dump();
  } catch (const json::type_error&) {
    throw Error("an option is not valid UTF-8, which JSON requires", kExitBadInput);
  }
}

}  // namespace allot::cli
