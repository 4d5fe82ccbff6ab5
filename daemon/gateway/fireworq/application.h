// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "gateway/access/access.h"
#include "gateway/fireworq/allowed.h"
#include "gateway/fireworq/authenticator.h"
#include "gateway/fireworq/body.h"
#include "gateway/fireworq/figures.h"
#include "gateway/fireworq/node.h"
#include "gateway/fireworq/path.h"
#include "gateway/http/application.h"
#include "gateway/work/combiner.h"
#include "gateway/work/thread_pool.h"
#include "queue/fireworq/definition.h"

namespace allot::gateway::fireworq {

// Environment of the application.
struct Service {
  db::ConnectOptions database;
  config::GatewayFireworq settings;
  config::Plugins plugins{};  // for the allowed targets and for /settings
  std::string runtime_dir{};  // of an instance of this host; empty: none
  bool read_only = false;     // no submissions and no changes
  std::size_t threads = 4;    // number of threads that send statements
  std::size_t most_waiting = 1'000;
};

// Serves clients written for Fireworq, compatible with its API. Outlives the server that calls it.
class Application final : public http::Application {
 public:
  Application(Service service, Authenticator::OfToken of_token);
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application() override;  // admitted requests are answered first

  http::Admission admit(const http::Head& head) override;
  // curl sends a name exactly as typed.
  [[nodiscard]] bool takes_raw_targets() const override { return true; }
  http::Response refuse(unsigned status, const std::string& title) override;

  // Called once a second in the server thread: updates the per-second counts, and takes part in the
  // choice of the active node unless it is read_only.
  void turn();

 private:
  // A request whose caller is known.
  struct Asked {
    Target target;
    std::string method;  // effective method: GET, PUT, DELETE or POST
    std::string query;
    access::Caller caller;
    std::string body{};
  };
  // Throws Refused.
  void require(const Asked& asked) const;
  [[nodiscard]] http::Response finished(http::Response response) const;
  void answer(Asked asked, const http::Reply& reply);
  void send(Asked asked, const http::Reply& reply);
  void push(Asked asked, const http::Reply& reply);
  void parse_and_push(const Asked& asked, const http::Reply& reply);

  // The functions below run with a connection.
  [[nodiscard]] http::Response read(db::Connection& db, const Asked& asked);
  [[nodiscard]] http::Response queue_verb(db::Connection& db, const Asked& asked);
  [[nodiscard]] http::Response routing_verb(db::Connection& db, const Asked& asked);
  [[nodiscard]] http::Response job_verb(db::Connection& db, const Asked& asked);
  [[nodiscard]] http::Response failed_verb(db::Connection& db, const Asked& asked);
  [[nodiscard]] http::Response list_verb(db::Connection& db, const Asked& asked);
  [[nodiscard]] std::string stats_of(db::Connection& db, const queue::FireworqQueue& queue,
                                     const Figures::Now& now);
  [[nodiscard]] queue::FireworqQueue defaults() const;
  [[nodiscard]] std::string settings() const;
  // The queue for the jobs of a category.
  [[nodiscard]] queue::QueueInfo find_queue(db::Connection& db, const std::string& category);
  void make_default(db::Connection& db);

  const Service service_;
  const Authenticator authenticator_;
  const Allowed allowed_;
  Node node_;
  Figures figures_;
  std::atomic<std::uint64_t> changes_ = 0;  // number of local changes of queues and routings
  std::atomic<std::uint64_t> turns_ = 0;
  std::atomic<bool> turning_ = false;
  std::atomic<bool> has_default_ = false;
  std::unique_ptr<work::ThreadPool> pool_;
  work::Combiner combiner_;
};

}  // namespace allot::gateway::fireworq
