// SPDX-License-Identifier: Apache-2.0
// The route table as an OpenAPI 3.1 document.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "base/version.h"
#include "gateway/api/route.h"
#include "gateway/api/schemas_text.h"  // generated from schemas.json
#include "gateway/http/response_text.h"

namespace allot::gateway::api {
namespace {

using nlohmann::ordered_json;

ordered_json reference_to(std::string_view schema) {
  return {{"$ref", "#/components/schemas/" + std::string(schema)}};
}

ordered_json schema_of(const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::kFlag:
      return {{"type", "boolean"}};
    case Kind::kNumber:
      return {{"type", "integer"}, {"minimum", parameter.least}, {"maximum", parameter.most}};
    case Kind::kDecimal:
      return {{"type", "number"}};
    case Kind::kText:
      break;
  }
  return {{"type", "string"}};
}

ordered_json example_of(const Parameter& parameter) {
  if (parameter.kind == Kind::kText) return parameter.example;
  return ordered_json::parse(parameter.example);
}

const char* name_of(In in) {
  switch (in) {
    case In::kPath:
      return "path";
    case In::kHeader:
      return "header";
    default:
      return "query";
  }
}

ordered_json parameters_of(const Route& route) {
  ordered_json list = ordered_json::array();
  for (const Parameter& parameter : route.parameters) {
    if (parameter.in == In::kBody) continue;
    list.push_back({{"name", parameter.name},
                    {"in", name_of(parameter.in)},
                    {"required", parameter.required},
                    {"description", parameter.what},
                    {"schema", schema_of(parameter)},
                    {"example", example_of(parameter)}});
  }
  return list;
}

ordered_json options_of(const Route& route) {
  ordered_json schema{{"type", "object"}, {"additionalProperties", false}};
  ordered_json required = ordered_json::array();
  for (const Parameter& parameter : route.parameters) {
    if (parameter.in != In::kBody) continue;
    ordered_json property = schema_of(parameter);
    property["description"] = parameter.what;
    property["examples"] = {example_of(parameter)};
    schema["properties"][std::string(parameter.name)] = std::move(property);
    if (parameter.required) required.push_back(parameter.name);
  }
  if (!required.empty()) schema["required"] = required;
  return {{"required", !required.empty()},
          {"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
}

ordered_json tasks_of(const Route& route) {
  const ordered_json json{
      {"schema",
       {{"anyOf",
         {reference_to("NewTask"), {{"type", "array"}, {"items", reference_to("NewTask")}}}}}},
      {"example", ordered_json::parse(route.example)}};
  return {
      {"required", true},
      {"content",
       {{"application/json", json},
        {"application/x-ndjson", {{"schema", reference_to("NewTask")}}},
        {"application/octet-stream", {{"schema", {{"type", "string"}, {"format", "binary"}}}}}}}};
}

ordered_json responses_of(const Route& route) {
  ordered_json responses;
  for (const Answer& answer : route.answers) {
    ordered_json& response = responses[std::to_string(answer.status)];
    response["description"] = answer.what;
    ordered_json& content = response["content"][std::string(answer.type)];
    content = ordered_json::object();
    if (!answer.schema.empty()) content["schema"] = reference_to(answer.schema);
  }
  std::vector<unsigned> refusals = route.refusals;
  if (route.role) refusals.insert(refusals.end(), {400, 401, 403});
  if (route.body != Body::kNone) refusals.insert(refusals.end(), {413, 415});
  // A scrape reports in its text whether the database answers.
  const bool asks = route.executor != Executor::kServer && route.executor != Executor::kScrape;
  if (asks) refusals.push_back(503);
  if (asks && route.role) refusals.push_back(500);
  if (route.writes()) refusals.push_back(504);
  std::sort(refusals.begin(), refusals.end());
  for (const unsigned status : refusals) {
    responses[std::to_string(status)] = {
        {"description", http::reason_of(status)},
        {"content", {{"application/problem+json", {{"schema", reference_to("Problem")}}}}}};
  }
  return responses;
}

ordered_json operation_of(const Route& route) {
  ordered_json operation{{"operationId", route.name}, {"summary", route.summary}};
  if (ordered_json list = parameters_of(route); !list.empty()) {
    operation["parameters"] = std::move(list);
  }
  if (route.body == Body::kOptions) operation["requestBody"] = options_of(route);
  if (route.body == Body::kTasks) operation["requestBody"] = tasks_of(route);
  operation["responses"] = responses_of(route);
  if (route.role) {
    operation["x-role"] = access::name_of(*route.role);
    operation["security"] = {{{"token", ordered_json::array()}}};
  } else {
    operation["security"] = ordered_json::array();
  }
  return operation;
}

}  // namespace

std::string openapi(std::string_view base_path, bool read_only) {
  ordered_json document{
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Allot"},
        {"version", kVersion},
        {"description", "Background jobs on MySQL and MariaDB: submit, look and operate."},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", {{{"url", base_path.empty() ? std::string("/") : std::string(base_path)}}}}};
  for (const Route& route : routes()) {
    if (read_only && route.writes()) continue;
    document["paths"][std::string(route.path)][lower(route.method)] = operation_of(route);
  }
  document["components"]["schemas"] = ordered_json::parse(texts::kFiles[0].second);
  document["components"]["securitySchemes"]["token"] = {{"type", "http"}, {"scheme", "bearer"}};
  return document.dump(2) + "\n";
}

}  // namespace allot::gateway::api
