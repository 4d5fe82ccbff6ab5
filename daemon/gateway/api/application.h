// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gateway/access/access.h"
#include "gateway/api/request_counts.h"
#include "gateway/api/route.h"
#include "gateway/api/service.h"
#include "gateway/api/shared_reads.h"
#include "gateway/http/application.h"
#include "gateway/work/combiner.h"
#include "gateway/work/thread_pool.h"
#include "metrics/snapshot.h"

namespace allot::gateway::api {

// Answers the requests of the API: finds the route, authenticates and authorizes the caller, and
// posts the verb to a thread that may wait for the database. Outlives the server that calls it.
class Application final : public http::Application {
 public:
  // Authenticates a request. Also checks Host and Origin.
  using Authorizer = std::function<access::Access::Verdict(const http::Head&)>;

  Application(Service service, Authorizer authorize);
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application() override;  // admitted requests are answered first

  http::Admission admit(const http::Head& head) override;
  // Answers a request of a caller that the dashboard has authenticated. Any thread may call it.
  void answer_as(access::Caller caller, http::Request request, const http::Reply& reply);
  http::Response refuse(unsigned status, const std::string& title) override;

 private:
  // A request after authorization.
  struct Asked {
    const Route& route;
    access::Caller caller;
    Values path;
    bool of_page = false;  // the dashboard asks, which shares its reads
  };
  // Both throw Refusal.
  [[nodiscard]] Asked find(const http::Head& head) const;
  [[nodiscard]] static Asked allowed(Match found, access::Caller caller, const http::Head& head);
  void answer(const Asked& asked, http::Request request, http::Reply reply);
  // These return false if too many requests are waiting, and throw if the request is refused.
  [[nodiscard]] bool serve(const Asked& asked, http::Request request, const http::Reply& reply);
  [[nodiscard]] bool send(const std::shared_ptr<Call>& call, const http::Reply& reply);
  [[nodiscard]] bool send_without_connection(const std::shared_ptr<Call>& call,
                                             const http::Reply& reply);
  [[nodiscard]] bool submit(const Asked& asked, http::Request request, const http::Reply& reply);
  [[nodiscard]] bool combine(const Asked& asked, http::Request& request, const http::Reply& reply);
  [[nodiscard]] bool scrape(const http::Reply& reply);
  [[nodiscard]] http::Response page(const metrics::Snapshot& snapshot) const;

  const Service service_;
  const Authorizer authorizer_;
  RequestCounts counts_;
  metrics::Snapshots snapshots_;
  SharedReads reads_;
  std::unique_ptr<work::ThreadPool> pool_;
  const queue::Submitter::Environment submission_;
  work::Combiner combiner_;
};

}  // namespace allot::gateway::api
