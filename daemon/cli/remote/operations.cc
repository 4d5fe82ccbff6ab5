// SPDX-License-Identifier: Apache-2.0
#include "cli/remote/operations.h"

#include <nlohmann/json.hpp>

#include "operations/route.h"

namespace allot::cli {
namespace {

using nlohmann::json;

json with_reason(json options, const std::string& reason) {
  if (!reason.empty()) options["reason"] = reason;
  return options;
}

}  // namespace

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

operations::Refusal refusal_of(unsigned status, const json& problem) {
  const auto field = problem.find("field");
  const bool none = field == problem.end() || field->is_null();
  return operations::Refusal({status, problem.at("detail"), none ? "" : field->get<std::string>()});
}

std::string body_of(const json& options) {
  try {
    return options.dump();
  } catch (const json::type_error&) {
    throw Error("an option is not valid UTF-8, which JSON requires", kExitBadInput);
  }
}

}  // namespace allot::cli
