// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/access/caller.h"
#include "gateway/http/message.h"

// Which requests there are. One table (table.cc) yields the router, the roles, openapi.json, the
// reference in docs/http.md, and the tests.
namespace allot::gateway::api {

class Call;

enum class In { kPath, kQuery, kHeader, kBody };
enum class Kind { kText, kFlag, kNumber, kDecimal };

// A value that a request names. Where it is left out and is not required, the verb has a default.
struct Parameter {
  In in = In::kQuery;
  std::string_view name;
  std::string_view what;     // for people
  std::string_view example;  // as it stands in a path, or as JSON without quotes
  Kind kind = Kind::kText;
  bool required = false;
  std::uint64_t least = 0;  // of a number
  std::uint64_t most = 0;
};

enum class Body {
  kNone,
  kOptions,  // a JSON object of the parameters that are in the body; may be left out
  kTasks     // what is submitted: JSON, NDJSON, or the bytes of one payload
};

struct Answer {
  unsigned status = 200;
  std::string_view schema;  // of schemas.json; empty: `type` says all
  std::string_view what;
  std::string_view type = "application/json";
};

// Who answers, and in which thread.
enum class Doer {
  kServer,    // the server's own thread, at once
  kCrew,      // a thread of the crew, with a connection
  kCombiner,  // the combiner
  kScrape,    // a thread of the crew, with a connection only where the last snapshot is old
};

using Verb = http::Response (*)(Call& call);

struct Route {
  std::string_view method;
  std::string_view path;  // "/api/v1/tasks/{id}"
  std::string_view name;  // "show_task"
  // None: for anybody, without a token.
  std::optional<access::Role> role;
  bool everywhere;  // the role has to be for all queues
  std::string_view summary;
  std::vector<Parameter> parameters;
  Body body;
  std::vector<Answer> answers;     // when all goes well
  std::vector<unsigned> refusals;  // statuses beside those that any request may get
  Doer doer;
  Verb verb;                 // nullptr with the combiner, and of a scrape
  std::string_view example;  // the body of a submission

  [[nodiscard]] bool writes() const { return method != "GET"; }
};

// The rows of the table, in the order of the reference.
[[nodiscard]] const std::vector<Route>& routes();

using Values = std::map<std::string, std::string, std::less<>>;

// What the router finds for a path. Without a route, `allowed` has the methods that the path has.
struct Match {
  const Route* route = nullptr;
  Values path{};  // the values of {id} and the like, without escapes
  std::set<std::string_view> allowed{};
};
// Throws Refusal for escapes that are none.
[[nodiscard]] Match match(const http::Head& head, std::string_view base_path, bool read_only);

// Decodes %41; and '+' as a blank in a query. nullopt: a '%' without two digits.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text, bool in_query);
// Escapes all but letters, digits and "-._~".
[[nodiscard]] std::string escaped(std::string_view text);
// Throws Refusal for a name that is there twice, or for wrong escapes.
[[nodiscard]] Values query_of(std::string_view query);

// The OpenAPI document, as JSON.
[[nodiscard]] std::string openapi(std::string_view base_path, bool read_only);
// docs/http.md with its reference section made anew; empty: the page has no place for it.
[[nodiscard]] std::string with_reference(const std::string& page);

}  // namespace allot::gateway::api
