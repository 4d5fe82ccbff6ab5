// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/access/caller.h"
#include "operations/document.h"

// All requests of the API. One table (table.cc) yields the router, the roles, openapi.json, the
// reference in docs/http.md, and the tests.
namespace allot::operations {

class Call;

enum class In { kPath, kQuery, kHeader, kBody };
enum class Kind { kText, kFlag, kNumber, kDecimal };

// A parameter of a request. If it is optional and omitted, the verb has a default.
struct Parameter {
  In in = In::kQuery;
  std::string_view name;
  std::string_view what;     // for people
  std::string_view example;  // as written in a path, or as JSON without quotes
  Kind kind = Kind::kText;
  bool required = false;
  std::uint64_t least = 0;  // for a number
  std::uint64_t most = 0;
};

enum class Body {
  kNone,
  kOptions,  // a JSON object of the body parameters; optional
  kTasks     // a submission: JSON, NDJSON, or the bytes of one payload
};

struct Answer {
  unsigned status = 200;
  std::string_view schema;  // of schemas.json; empty: `type` is sufficient
  std::string_view what;
  std::string_view type = "application/json";
};

// The thread that answers.
enum class Executor {
  kServer,      // the server thread, at once
  kThreadPool,  // a thread of the pool, with a connection
  kCombiner,    // the combiner
  kScrape,      // a thread of the pool, with a connection only if the last snapshot is old
};

using Verb = Document (*)(Call& call);

struct Route {
  std::string_view method;
  std::string_view path;  // "/api/v1/tasks/{id}"
  std::string_view name;  // "show_task"
  // nullopt: open to all, without a token.
  std::optional<gateway::access::Role> role;
  bool everywhere;  // the role must cover all queues
  std::string_view summary;
  std::vector<Parameter> parameters;
  Body body;
  std::vector<Answer> answers;     // on success
  std::vector<unsigned> refusals;  // statuses in addition to the ones of every request
  Executor executor;
  Verb verb;                 // nullptr for the combiner and for a scrape
  std::string_view example;  // the body of a submission

  [[nodiscard]] bool writes() const { return method != "GET"; }
};

// The rows of the table, in the order of the reference.
[[nodiscard]] const std::vector<Route>& routes();

using Values = std::map<std::string, std::string, std::less<>>;

// Router result for a path. Without a route, `allowed` has the methods of the path.
struct Match {
  const Route* route = nullptr;
  Values path{};  // the values of {id} and so on, without escapes
  std::set<std::string_view> allowed{};
};
// Throws Refusal for invalid escapes.
[[nodiscard]] Match match(std::string_view method, std::string_view path,
                          std::string_view base_path, bool read_only);

// Decodes %41; and '+' as a blank in a query. nullopt: a '%' without two digits.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text, bool in_query);
// Escapes all characters except letters, digits and "-._~".
[[nodiscard]] std::string escaped(std::string_view text);
// Throws Refusal for a repeated name, or for invalid escapes.
[[nodiscard]] Values query_of(std::string_view query);

// Begin of a payload that an adapter has signed with its application's key (S82): only that
// application can make another one.
inline constexpr std::string_view kSignedPayload = "allot-hmac-sha256 ";

}  // namespace allot::operations
