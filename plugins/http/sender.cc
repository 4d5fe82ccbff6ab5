// SPDX-License-Identifier: Apache-2.0
#include "sender.h"

#include <optional>
#include <utility>

#include "trouble.h"

namespace http_plugin {
namespace {

// Lets the watch guard the connection in its scope.
class Guard {
 public:
  Guard(Watch& watch, const Connection& connection) : watch_(watch) {
    watch_.guard(connection.socket());
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { watch_.let_go(); }

 private:
  Watch& watch_;
};

}  // namespace

// Key of a reusable connection. It includes the client certificate, which identifies the client.
std::string Sender::name_of(const Target& target) {
  const Origin& origin = target.url.origin;
  std::string name;
  name.reserve(origin.host.size() + target.tls.ca.size() + target.tls.cert.size() +
               target.tls.key.size() + 16);
  name.append(origin.tls ? "s" : "").append(std::to_string(origin.port)).append(1, '\n');
  for (const auto* part : {&origin.host, &target.tls.ca, &target.tls.cert, &target.tls.key}) {
    name.append(*part).append(1, '\n');
  }
  return name;
}

Sender::Sender(const Targets& targets, Lookup lookup)
    : connector_(targets.allowed, std::move(lookup)) {
  for (const auto& [type, target] : targets.by_type) {
    if (!target.url.origin.tls) continue;
    auto& tls = tls_[name_of(target)];
    if (tls == nullptr) tls = std::make_unique<Tls>(target.url.origin, target.tls);
  }
  if (!targets.jobs) return;
  // A job may use any permitted origin.
  Target target = targets.jobs->request;
  for (const Origin& origin : targets.allowed.entries()) {
    target.url.origin = origin;
    auto& tls = tls_[name_of(target)];
    if (origin.tls && tls == nullptr) tls = std::make_unique<Tls>(origin, target.tls);
  }
}

std::unique_ptr<Connection> Sender::connect(const Target& target, Watch& watch) {
  auto connection =
      std::make_unique<Connection>(connector_.connect(target.url.origin, target.limits, watch));
  if (target.url.origin.tls) {
    const Guard guard(watch, *connection);
    connection->secure(*tls_.at(name_of(target)));
  }
  return connection;
}

Answer Sender::send(const Target& target, const std::string& head, std::string_view body,
                    Watch& watch) {
  const std::string name = name_of(target);
  auto connection = pool_.take(name);
  std::optional<Answer> answer;
  if (connection != nullptr) {
    // A target may close an idle connection at any time, even while the request is sent. In this
    // case the request is repeated once over a new connection.
    try {
      const Guard guard(watch, *connection);
      answer = connection->ask(head, body);
    } catch (const Trouble&) {
      if (connection->was_heard() || watch.end() != Watchdog::End::kNone) throw;
    }
  }
  if (!answer) {
    connection = connect(target, watch);
    const Guard guard(watch, *connection);
    answer = connection->ask(head, body);
  }
  // A connection shut down by the watch does not mark the end of an answer, and is not reused.
  const bool is_over = watch.end() != Watchdog::End::kNone;
  if (is_over && answer->ends_with_connection) {
    throw Trouble("the answer broke off", Trouble::Kind::kFailed, answer->status);
  }
  const bool keep = target.keep_alive.count() > 0 && connection->may_be_kept() && !is_over;
  if (keep) pool_.keep(name, std::move(connection), target.keep_alive);
  return *answer;
}

}  // namespace http_plugin
