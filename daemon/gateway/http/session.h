// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/unique_fd.h"
#include "gateway/http/application.h"
#include "gateway/http/body_budget.h"
#include "gateway/http/connections.h"
#include "gateway/http/mailbox.h"
#include "gateway/http/server.h"

namespace boost::asio {
class io_context;
namespace ssl {
class context;
}
}  // namespace boost::asio

namespace allot::gateway::http {

// State shared by all sessions of a server. Outlives them.
struct ServerState {
  Application& application;  // default for listeners without their own
  const Limits& limits;
  boost::asio::io_context& io;
  boost::asio::ssl::context* tls = nullptr;  // nullptr: no TLS listener
  std::shared_ptr<Mailbox> mailbox;
  std::shared_ptr<BodyBudget> bodies;
  Connections connections{};
  bool stopping = false;
  bool keeps = false;  // stops for another server, which receives these:
  std::vector<UniqueFd> kept{};
};

// Serves one connection until it ends, in the server's thread.
void start_session(ServerState& state, Application& app, UniqueFd fd, Peer peer, LimitKey key);
// Serves a connection that another server has kept between two requests.
void continue_session(ServerState& state, Application& app, UniqueFd fd, Peer peer, LimitKey key);

}  // namespace allot::gateway::http
