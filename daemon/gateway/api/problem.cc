// SPDX-License-Identifier: Apache-2.0
#include "gateway/api/problem.h"

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"
#include "db/error.h"
#include "gateway/http/response_text.h"
#include "gateway/work/thread_pool.h"
#include "json/task_reader.h"
#include "queue/submit/submit.h"

namespace allot::gateway::api {
namespace {

constexpr std::size_t kMostDetail = 2'000;

Problem unavailable(const std::string& detail) {
  return {503, detail, {}, {{"retry-after", "1"}}};
}

Problem of_database(const db::DbError& error, bool writes) {
  switch (error.error_class()) {
    case db::ErrorClass::kGone:
      if (!writes || !error.outcome_unknown()) {
        return unavailable((error.is_read_only()
                                ? "the database is read-only; make it writable, or name the "
                                  "server that is the writer in [database] "
                                : "the database does not respond; try again ") +
                           work::note_cause(error));
      }
      return {504, "outcome unknown, because the reply of the database was lost " +
                       work::note_cause(error)};
    case db::ErrorClass::kRetryable:
    case db::ErrorClass::kDuplicate:
    case db::ErrorClass::kFull:
      return unavailable("nothing was changed; try again " + work::note_cause(error));
    default:
      return {500, "the database refused the request of the gateway " + work::note_cause(error)};
  }
}

Problem of_error(const Error& error) {
  switch (error.exit_code()) {
    case kExitUsage:
    case kExitBadInput:
      return {400, error.what(), as_json::field_of(error.what())};
    case kExitUnavailable:
      return unavailable(error.what());
    case kExitOutcomeUnknown:
      return {504, error.what()};
    default:
      return {500, error.what()};
  }
}

std::vector<http::Field> fields_of(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::vector<http::Field> all;
  for (const auto& [name, value] : fields) all.push_back({name, value});
  return all;
}

// Truncates long words of a client in the answer.
std::string shown(std::string text) {
  if (text.size() > kMostDetail) text.resize(kMostDetail);
  return text;
}

}  // namespace

Problem problem_of(const std::exception_ptr& error, bool writes) {
  try {
    std::rethrow_exception(error);
  } catch (const Refusal& refusal) {
    return refusal.problem();
  } catch (const db::DbError& failed) {
    return of_database(failed, writes);
  } catch (const queue::OutcomeUnknown& unknown) {
    return {504, unknown.outcome() + " " + work::note_cause(unknown)};
  } catch (const Error& failed) {
    return of_error(failed);
  } catch (const std::bad_alloc&) {
    return unavailable("out of memory");
  } catch (const std::exception& failed) {
    return {500, std::string("defect: ") + failed.what()};
  } catch (...) {
    return {500, "defect"};
  }
}

std::string kind_of(unsigned status) {
  switch (status) {
    case 400:
      return "bad_input";
    case 500:
      return "failed";
    case 503:
      return "unavailable";
    case 504:
      return "outcome_unknown";
    default:
      break;
  }
  std::string kind = lower(http::reason_of(status));
  std::replace(kind.begin(), kind.end(), ' ', '_');
  return kind;
}

http::Response response_of(const Problem& problem) {
  nlohmann::ordered_json document{{"type", "about:blank"},
                                  {"title", http::reason_of(problem.status)},
                                  {"status", problem.status},
                                  {"detail", shown(problem.detail)},
                                  {"kind", kind_of(problem.status)}};
  if (!problem.field.empty()) document["field"] = shown(problem.field);
  using nlohmann::ordered_json;
  http::Response response{
      problem.status, "application/problem+json",
      document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n",
      fields_of(problem.fields)};
  return response;
}

http::Response to_http(Document document) {
  return {document.status, std::move(document.type), std::move(document.text),
          fields_of(document.fields)};
}

}  // namespace allot::gateway::api
