// SPDX-License-Identifier: Apache-2.0
#include "contract/world.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "log/log.h"

namespace allot::contract {
namespace {

using support::Database;

// The caller may do everything: roles are the gateway's own (tests/db/gateway).
gateway::access::Access::Verdict anybody(const gateway::http::Head& /*head*/) {
  const gateway::access::Reach all{true, {}};
  return {gateway::access::Caller("all", {all, all, all}), 200, {}};
}

gateway::http::Listener listener_at(const std::string& path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, sizeof at.sun_path - 1);
  gateway::http::Listener listener;
  listener.fd.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  listener.local = true;
  if (::bind(listener.fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(listener.fd.get(), SOMAXCONN) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
  return listener;
}

// The gateway's lines would appear between lines that a command prints.
void log_elsewhere() {
  static const support::TempDir folder;
  static const bool done = [] {
    log::setup("contract", log::Level::kInfo, folder / "log");
    return true;
  }();
  (void)done;
}

std::vector<gateway::http::Listener> listeners_at(const std::string& path) {
  std::vector<gateway::http::Listener> all;
  all.push_back(listener_at(path));
  return all;
}

}  // namespace

// The gateway's server, in a thread of its own until this ends.
class World::Served {
 public:
  Served(gateway::http::Application& application, const std::string& path)
      : url_("unix:" + path),
        server_(application, gateway::http::Limits(), listeners_at(path), {}),
        thread_([this] { server_.run(); }) {}
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    server_.stop(std::chrono::milliseconds(0));
    thread_.join();
  }
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  std::string url_;
  gateway::http::Server server_;
  std::thread thread_;
};

World::World()
    : name_(support::emptied_database()),
      observer_(connect()),
      socket_(Database::shared().socket()) {
  using queue::Placement;
  log_elsewhere();
  queue::ensure_queue(observer_, "default", {4, Placement::kSpread, 1});
  queue::ensure_queue(observer_, "narrow", {1, Placement::kSpread, 1});
  queue::ensure_queue(observer_, "ordered", {4, Placement::kOrdered, 1});
  queue::ensure_queue(observer_, "limited", {4, Placement::kLimited, 2});
  queue::ensure_queue(observer_, "fair", {4, Placement::kFair, 1});
}

World::~World() = default;

db::Connection World::connect() const {
  return Database::shared().connect(name_);
}

Client& World::client() {
  if (client_) return *client_;
  ClientSettings settings;
  settings.socket = socket_;
  settings.user = "root";
  settings.name = name_;
  settings.call_timeout = call_timeout_;
  client_ = std::make_unique<Client>(settings);
  return *client_;
}

const std::string& World::config_file() {
  if (config_file_.empty()) {
    config_file_ = folder_.write(
        "allot.toml", "[database]\nsocket = \"" + socket_ + "\"\nuser = \"root\"\nname = \"" +
                          name_ + "\"\ncall_timeout = \"" + std::to_string(call_timeout_.count()) +
                          "ms\"\n[daemon]\nruntime_dir = \"run\"\n" +
                          (history_ ? "[queues.default]\npartitions = 4\nhistory = \"1h\"\n" : ""));
  }
  return config_file_;
}

gateway::api::Application& World::gateway() {
  if (gateway_) return *gateway_;
  gateway::api::Service service;
  service.database = Database::shared().options(name_);
  service.database.socket = socket_;
  service.database.call_timeout = call_timeout_;
  config::LoadOptions load;
  load.file = config_file();
  service.queues = config::load(load).queues;
  service.threads = 4;
  service.snapshot_for = 0;
  service.calendar = {ALLOT_GATEWAY_PROGRAM, "--calendar"};
  gateway_ = std::make_unique<gateway::api::Application>(service, anybody);
  return *gateway_;
}

const std::string& World::gateway_url() {
  if (!served_) served_ = std::make_unique<Served>(gateway(), folder_ / "gateway");
  return served_->url();
}

}  // namespace allot::contract
