// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/gather.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace allot::gateway::ui {
namespace {

// Pending answers for one page. Each answer sets its own document; the last one calls done.
struct Gathering {
  Gathering(std::size_t count, std::function<void(std::vector<Document>)> then)
      : documents(count), left(count), done(std::move(then)) {}
  std::vector<Document> documents;
  std::atomic<std::size_t> left;
  const std::function<void(std::vector<Document>)> done;
};

}  // namespace

http::Request api_request(const std::string& base, const ApiRequest& from) {
  http::Request request;
  const std::size_t query = from.target.find('?');
  request.head.method = from.method;
  request.head.path = base + from.target.substr(0, query);
  if (query != std::string::npos) request.head.query = from.target.substr(query + 1);
  request.body = from.body;
  return request;
}

Document document_of(http::Response response) {
  if (response.type.find("json") == std::string::npos) {
    return {response.status, json(), std::move(response.body)};
  }
  return {response.status, json::parse(response.body, nullptr, false)};
}

void gather(api::Application& api, const std::string& base, const access::Caller& caller,
            const std::vector<ApiRequest>& requests,
            std::function<void(std::vector<Document>)> done) {
  if (requests.empty()) return done({});
  const auto all = std::make_shared<Gathering>(requests.size(), std::move(done));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    api.answer_as(caller, api_request(base, requests[i]), [all, i](http::Response response) {
      all->documents[i] = document_of(std::move(response));
      if (all->left.fetch_sub(1) == 1) all->done(std::move(all->documents));
    });
  }
}

}  // namespace allot::gateway::ui
