// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "db/connection.h"
#include "gateway/access/access.h"
#include "gateway/api/request_counts.h"
#include "gateway/api/route.h"
#include "gateway/api/shared_reads.h"
#include "gateway/http/application.h"
#include "gateway/work/combiner.h"
#include "gateway/work/thread_pool.h"
#include "meter/request_record.h"
#include "metrics/snapshot.h"
#include "operations/service.h"

namespace allot::gateway::api {

// Environment of the API. Constant while the gateway runs.
struct Service : operations::Service {
  db::ConnectOptions database;
  std::vector<std::string> metrics_types{};  // [metrics] types
  // Command that computes schedules (schedule::ComputingProcess): this program itself.
  std::vector<std::string> calendar{"/proc/self/exe", "--calendar"};
  bool read_only = false;            // without routes that change something
  std::size_t threads = 8;           // number of threads that send statements
  std::size_t most_waiting = 1'000;  // limit of jobs waiting for these threads
  // The database is queried at most once in this time, however many scrapes of /metrics arrive.
  Nanos snapshot_for = 5 * kSecond;
  // Shared request counts; outlives every writer. nullptr: counts start from 0.
  meter::RequestRecord* requests = nullptr;
};

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
  // These throw if the request is refused, also because too many requests are waiting.
  void send(const std::shared_ptr<Call>& call, const http::Reply& reply);
  void send_without_connection(const std::shared_ptr<Call>& call, const http::Reply& reply);
  void submit(const Asked& asked, http::Request request, const http::Reply& reply);
  void combine(const Asked& asked, http::Request& request, const http::Reply& reply);
  void scrape(const http::Reply& reply);
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
