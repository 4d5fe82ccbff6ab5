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

// What pages are made from. A page names the requests of the API that it needs, gets their
// documents and writes HTML. It has no other input: no SQL, no clock, no configuration.
namespace allot::gateway::ui {

using nlohmann::json;

// A request of the API, below the base path.
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
  [[nodiscard]] const json& body() const;  // null: it is not JSON
  [[nodiscard]] const std::string& raw() const { return raw_; }
  // Of a problem.
  [[nodiscard]] std::string detail() const;

 private:
  unsigned status_ = 0;
  std::shared_ptr<const json> body_{};
  std::string raw_{};
};

// Who looks at which page.
struct Visit {
  std::string root;  // BASE + "/ui/"
  access::Caller caller{"nobody", {}};
  std::string session{};     // empty: the caller did not log in here
  std::string form_token{};  // of this caller
  api::Values path{};        // "{id}" of the page's path
  api::Values query{};
  std::chrono::sys_seconds now{};
  std::string target{};  // path and query of this page

  [[nodiscard]] std::string at(std::string_view path_name) const;  // of `path`; "": none
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
  std::string_view section;  // which entry of the navigation it belongs to
  std::string (*title)(const Visit& visit);
  std::vector<ApiRequest> (*requests)(const Visit& visit);
  // What else is needed, once the documents of `requests` are there; nullptr: nothing.
  std::vector<ApiRequest> (*further)(const View& view);
  void (*render)(const View& view, Html& html);
  // Whether the page itself says that its first request failed, instead of a page about that.
  bool shows_failure = false;
};

// A change that a form asks for. It is the request of the API with the same path.
struct Action {
  std::string_view path;                  // below /ui/ and below /api/v1/
  std::string_view title;                 // "Cancel task"
  std::string_view what;                  // what it does, in a sentence
  std::vector<std::string_view> texts{};  // fields of the form that the request has, too
  std::vector<std::string_view> numbers{};
  // Whether the confirmation counts first, by the same request without `token`.
  bool counts = false;
  // The command that does the same, for people to copy.
  std::string (*command)(const Visit& visit);
  // Where to go on after it, below `root`.
  std::string (*then)(const Visit& visit, const json& answer);
};

[[nodiscard]] const std::vector<Page>& pages();
[[nodiscard]] const std::vector<Action>& actions();
// Values of "{id}" and the like; false: the path is another one. `path` is without `root`.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view path, api::Values& values);

// The pages that no row of the table has.
void render_login(const View& view, Html& html, const std::string& message);
void render_confirmation(const Action& action, const View& view, Html& html);
void render_problem(unsigned status, const std::string& detail, Html& html);

// The whole page around its content, whose last part it is: <html> to </html>.
[[nodiscard]] std::string framed(const Visit& visit, std::string_view section,
                                 const std::string& title,
                                 const std::function<void(Html&)>& content);

}  // namespace allot::gateway::ui
