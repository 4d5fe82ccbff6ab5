// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/access/caller.h"
#include "gateway/api/route.h"
#include "gateway/ui/html.h"

// Building blocks of pages. A page names the API requests that it needs, gets their documents and
// writes HTML. It has no other input: no SQL, no clock, no configuration.
namespace allot::gateway::ui {

using nlohmann::json;

// An API request, below the base path.
struct ApiRequest {
  std::string target;  // "/api/v1/queues?..."
  std::string method = "GET";
  std::string body{};  // JSON
};

class Document {
 public:
  Document() = default;
  // `raw`: an answer that is not JSON.
  Document(unsigned status, json body, std::string raw = {});
  [[nodiscard]] unsigned status() const { return status_; }
  [[nodiscard]] bool ok() const { return status_ >= 200 && status_ < 300; }
  [[nodiscard]] const json& body() const;  // null: not JSON
  [[nodiscard]] const std::string& raw() const { return raw_; }
  // The detail of a problem document.
  [[nodiscard]] std::string detail() const;

 private:
  unsigned status_ = 0;
  std::shared_ptr<const json> body_{};
  std::string raw_{};
};

// The caller and the requested page.
struct Visit {
  std::string root;  // BASE + "/ui/"
  access::Caller caller{access::kAnonymous, {}};
  std::string session{};     // empty: the caller has no login session
  std::string form_token{};  // for this caller
  api::Values path{};        // "{id}" of the page's path
  api::Values query{};
  std::chrono::sys_seconds now{};
  std::string target{};  // path and query of this page

  [[nodiscard]] std::string at(std::string_view path_name) const;  // from `path`; "": missing
  [[nodiscard]] std::string asked(std::string_view query_name) const;
  [[nodiscard]] bool may_operate(std::string_view queue) const {
    return caller.may(access::Role::kOperate, queue);
  }
  [[nodiscard]] bool sees_all() const { return caller.may_everywhere(access::Role::kRead); }
};

struct View {
  Visit visit;
  std::vector<Document> documents{};  // in the order of the requests
  [[nodiscard]] const Document* document(std::size_t at) const {
    return at < documents.size() ? &documents[at] : nullptr;
  }
};

struct Page {
  std::string_view path;     // below /ui/: "tasks/{id}"
  std::string_view section;  // its entry in the navigation
  std::string (*title)(const Visit& visit);
  std::vector<ApiRequest> (*requests)(const Visit& visit);
  // Additional requests, based on the documents of `requests`; nullptr: none.
  std::vector<ApiRequest> (*further)(const View& view);
  void (*render)(const View& view, Html& html);
  // Whether the page itself reports that its first request failed; otherwise a problem page does.
  bool shows_failure = false;
  // Whether it reads for one viewer only: at most two such pages are read at a time.
  bool takes_turn = false;
};

// A change by a form. It becomes the API request with the same path.
struct Action {
  std::string_view path;                  // below /ui/ and below /api/v1/
  std::string_view title;                 // "Cancel task"
  std::string_view what;                  // its effect, in a sentence
  std::vector<std::string_view> texts{};  // form fields passed to the request
  std::vector<std::string_view> numbers{};
  // Whether the confirmation first counts the tasks, with the same request without `token`.
  bool counts = false;
  // The equivalent command, for people to copy.
  std::string (*command)(const View& view);
  // The next page, below `root`.
  std::string (*then)(const Visit& visit, const json& answer);
  // Documents that the confirmation needs; nullptr: none.
  std::vector<ApiRequest> (*requests)(const Visit& visit) = nullptr;
  // Why it is not offered for these documents; empty: it is. nullptr: always.
  std::string (*refusal)(const View& view) = nullptr;
  // Writes fields with a value from the documents. nullptr: the texts have no visible field.
  void (*fields)(const View& view, Html& html) = nullptr;
};

[[nodiscard]] const std::vector<Page>& pages();
[[nodiscard]] const std::vector<Action>& actions();
// Extracts the values of "{id}" and so on; false: no match. `path` is without `root`.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view path, api::Values& values);

// Pages outside the table.
void render_login(const View& view, Html& html, const std::string& message);
void render_confirmation(const Action& action, const View& view, Html& html);
void render_problem(unsigned status, const std::string& detail, Html& html);

// The complete page around its content, from <html> to </html>.
[[nodiscard]] std::string framed(const Visit& visit, std::string_view section,
                                 const std::string& title,
                                 const std::function<void(Html&)>& content);

}  // namespace allot::gateway::ui
