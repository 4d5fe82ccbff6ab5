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
#include "gateway/http/application.h"
#include "gateway/work/combiner.h"
#include "gateway/work/crew.h"
#include "metrics/snapshot.h"

namespace allot::gateway::api {

// Answers requests: it finds the route, asks who is calling and whether he may, and gives the verb
// to a thread that may wait for the database. It lives longer than the server that asks it.
class Application final : public http::Application {
 public:
  // Who sends a request. Host and Origin are this function's, too.
  using Judge = std::function<access::Access::Verdict(const http::Head&)>;

  Application(Service service, Judge judge);
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application() override;  // what was admitted is answered first

  http::Admission admit(const http::Head& head) override;
  void answer(http::Request request, http::Reply reply) override;
  // The same for a caller that is known already: the dashboard's. Any thread may call it.
  void answer_as(access::Caller caller, http::Request request, http::Reply reply);
  http::Response refuse(unsigned status, const std::string& title) override;

 private:
  // Who asks for what.
  struct Asked {
    const Route& route;
    access::Caller caller;
    Values path;
  };
  // Both throw Refusal.
  [[nodiscard]] Asked find(const http::Head& head) const;
  [[nodiscard]] static Asked allowed(Match found, access::Caller caller, const http::Head& head);
  void serve_counted(const Asked& asked, http::Request request, http::Reply& reply);
  void serve(const Asked& asked, http::Request request, const http::Reply& reply);
  void send(Asked asked, const http::Request& request, const http::Reply& reply);
  void submit(Asked asked, http::Request request, const http::Reply& reply);
  void scrape(const http::Reply& reply);
  void renew_snapshot(const http::Reply& reply);
  [[nodiscard]] http::Response page(const metrics::Snapshot& snapshot) const;
  [[nodiscard]] queue::QueueInfo find_queue(db::Connection& db, const std::string& name) const;
  [[nodiscard]] work::Surroundings surroundings();

  const Service service_;
  const Judge judge_;
  RequestCounts counts_;
  metrics::Snapshots snapshots_;
  std::unique_ptr<work::Crew> crew_;
  const work::Surroundings surroundings_;
  work::Combiner combiner_;
};

}  // namespace allot::gateway::api
