// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "gateway/http/complaint.h"
#include "gateway/http/response_text.h"
#include "gateway/http/session.h"
#include "log/log.h"

namespace allot::gateway::http {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using Descriptor = asio::posix::stream_descriptor;

// Limit of guests: connections above a limit, which get 503 or the health. Above it, the guest that
// has been idle longest is closed without an answer.
constexpr std::size_t kMostGuests = 64;
// Number of connections reserved for the unix socket, at most an eighth of all.
constexpr std::size_t kMostReserved = 100;
constexpr std::size_t kAcceptsAtOnce = 64;
constexpr std::chrono::milliseconds kAcceptBackoff{100};

UniqueFd any_fd() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

std::string address_of(const sockaddr_storage& from) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    return inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  }
  if (from.ss_family != AF_INET6) return {};
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
  std::string address = inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  // The same host over IPv4 and over IPv6.
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) address.erase(0, address.rfind(':') + 1);
  return address;
}

// The owner of one address of an IPv6 network of 64 bits usually owns all of them.
std::string group_of(const sockaddr_storage& from) {
  if (from.ss_family != AF_INET6) return address_of(from);
  sockaddr_storage network = from;
  auto& v6 = reinterpret_cast<sockaddr_in6&>(network);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return address_of(from);
  std::memset(&v6.sin6_addr.s6_addr[8], 0, 8);
  return address_of(network) + "/64";
}

Peer peer_of(int fd, bool encrypted, const sockaddr_storage& from) {
  Peer peer;
  peer.encrypted = encrypted;
  if (from.ss_family != AF_UNIX) {
    peer.address = address_of(from);
    return peer;
  }
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) peer.uid = who.uid;
  return peer;
}

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

asio::ssl::context tls_of(const Tls& files) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  std::string file = files.cert_file;
  try {
    context.use_certificate_chain_file(file);
    file = files.key_file;
    // A daemon has no terminal for a passphrase.
    context.set_password_callback([](std::size_t, auto) { return std::string(); });
    context.use_private_key_file(file, asio::ssl::context::pem);
  } catch (const boost::system::system_error& error) {
    throw Error("cannot use " + file + " for TLS: " + error.code().message() +
                    "; it must be readable PEM, and the key must match the certificate",
                kExitConfig);
  }
  return context;
}

std::chrono::milliseconds turn_of(const Limits& limits) {
  const auto shortest =
      std::min({limits.head_time, limits.idle_time, limits.answer_time, limits.body_window});
  return std::clamp(shortest / 8, std::chrono::milliseconds(10), std::chrono::milliseconds(1'000));
}

}  // namespace

class Server::Impl {
 public:
  Impl(Application& application, const Limits& limits, std::vector<Listener> listeners,
       const Tls& tls);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  void run();
  void begin_stop(std::chrono::milliseconds grace, bool keeps);
  void adopt(UniqueFd connection, Application* application);
  void watch(int fd, std::function<void()> ready);
  [[nodiscard]] ServerState& state() { return state_; }

 private:
  // A listener and its accept timer.
  struct Acceptor {
    Acceptor(asio::io_context& io, Listener from)
        : listener(std::move(from)), watched(io, listener.fd.get()), backoff(io) {}
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;
    ~Acceptor() { watched.release(); }

    Listener listener;
    Descriptor watched;
    asio::steady_timer backoff;
  };
  struct Watch {
    Watch(asio::io_context& io, int fd, std::function<void()> then)
        : watched(io, fd), ready(std::move(then)) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() { watched.release(); }

    Descriptor watched;
    std::function<void()> ready;
  };

  void wait_at(Acceptor& acceptor);
  void accept_from(Acceptor& acceptor);
  void receive(UniqueFd fd, const Acceptor& acceptor, const sockaddr_storage& from);
  // `continued`: another server has kept the connection between two requests.
  void begin(UniqueFd fd, Application* application, Peer peer, LimitKey key, bool continued);
  [[nodiscard]] LimitKey limit_key_of(const Peer& peer, const sockaddr_storage& from) const;
  // Whether a connection may come in; may end others to make room.
  [[nodiscard]] bool find_room(const LimitKey& key);
  [[nodiscard]] bool find_room_over_tcp(const LimitKey& key);
  void complain_of(const LimitKey& key);
  void out_of(int error, Acceptor& acceptor);
  [[nodiscard]] Application& application_or_default(Application* own) const {
    return own == nullptr ? state_.application : *own;
  }
  void wait_for(Watch& watch);
  void keep_time();

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  Limits limits_;
  std::optional<asio::ssl::context> tls_;
  ServerState state_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::vector<std::unique_ptr<Watch>> watches_;
  asio::steady_timer clock_{io_};
  asio::steady_timer grace_{io_};
  bool keeps_time_ = false;
  UniqueFd reserve_ = any_fd();  // closed to accept and answer one peer without free descriptors
  Complaint poor_;
  Complaint crowded_;
};

Server::Impl::Impl(Application& application, const Limits& limits, std::vector<Listener> listeners,
                   const Tls& tls)
    : limits_(limits),
      state_{
          application,
          limits_,
          io_,
          nullptr,
          std::make_shared<Mailbox>([this](Mailbox::Act act) { asio::post(io_, std::move(act)); }),
          std::make_shared<BodyBudget>(limits.body_bytes)} {
  for (Listener& each : listeners) {
    if (each.encrypted && !tls_) tls_.emplace(tls_of(tls));
    fcntl(each.fd.get(), F_SETFL, fcntl(each.fd.get(), F_GETFL) | O_NONBLOCK);
    const int on = 1;  // inherited by its connections
    if (!each.local) setsockopt(each.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    acceptors_.push_back(std::make_unique<Acceptor>(io_, std::move(each)));
  }
  if (tls_) state_.tls = &*tls_;
}

Server::Impl::~Impl() {
  state_.mailbox->close();
  try {
    // A waiting coroutine must end before the objects that it uses.
    state_.connections.cut_all();
    io_.restart();
    while (state_.connections.size() > 0 && io_.poll_one() > 0) {
    }
  } catch (const std::exception& error) {
    log::error("gateway.connection_failed", {{"error", error.what()}});
  }
}

void Server::Impl::run() {
  signal(SIGPIPE, SIG_IGN);
  for (const auto& each : acceptors_) wait_at(*each);
  io_.run();
}

void Server::Impl::wait_at(Acceptor& acceptor) {
  acceptor.watched.async_wait(Descriptor::wait_read, [this, &acceptor](const Code& code) {
    if (!code && !state_.stopping) accept_from(acceptor);
  });
}

void Server::Impl::accept_from(Acceptor& acceptor) {
  for (std::size_t count = 0; count < kAcceptsAtOnce; ++count) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    UniqueFd fd(accept4(acceptor.listener.fd.get(), reinterpret_cast<sockaddr*>(&from), &size,
                        SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.valid()) {
      receive(std::move(fd), acceptor, from);
      continue;
    }
    // Any other error concerns a single connection that is already gone.
    if (is_shortage(errno)) return out_of(errno, acceptor);
    if (errno == EAGAIN) break;
  }
  wait_at(acceptor);
}

void Server::Impl::receive(UniqueFd fd, const Acceptor& acceptor, const sockaddr_storage& from) {
  Peer peer = peer_of(fd.get(), acceptor.listener.encrypted, from);
  LimitKey key = limit_key_of(peer, from);
  if (!find_room(key)) {
    complain_of(key);
    key = {Kind::kGuest};
    Connections& all = state_.connections;
    if (all.of(Kind::kGuest) >= kMostGuests && !all.make_way(Kind::kGuest)) return;
  }
  begin(std::move(fd), acceptor.listener.application, std::move(peer), std::move(key), false);
}

void Server::Impl::begin(UniqueFd fd, Application* application, Peer peer, LimitKey key,
                         bool continued) {
  std::make_shared<Session>(state_, application_or_default(application), std::move(fd),
                            std::move(peer), std::move(key), continued)
      ->start();
  if (!keeps_time_) keep_time();
}

LimitKey Server::Impl::limit_key_of(const Peer& peer, const sockaddr_storage& from) const {
  if (peer.address.empty()) return {Kind::kLocal};
  const bool for_many = limits_.speaks_for_many && limits_.speaks_for_many(peer.address);
  if (for_many || limits_.connections_of_peer == 0) return {Kind::kNetwork};
  return {Kind::kNetwork, group_of(from)};
}

bool Server::Impl::find_room(const LimitKey& key) {
  if (key.kind == Kind::kNetwork) return find_room_over_tcp(key);
  Connections& all = state_.connections;
  if (all.of(Kind::kLocal) + all.of(Kind::kNetwork) < limits_.connections) return true;
  return all.make_way(Kind::kNetwork) || all.make_way(Kind::kLocal);
}

// A TCP connection never ends one of the unix socket, and first ends one of its own address.
bool Server::Impl::find_room_over_tcp(const LimitKey& key) {
  Connections& all = state_.connections;
  if (!key.group.empty() && all.of_group(key.group) >= limits_.connections_of_peer) {
    return all.make_way_in(key.group);
  }
  const std::size_t reserved = std::min(kMostReserved, limits_.connections / 8);
  const std::size_t network = all.of(Kind::kNetwork);
  const bool room = network + reserved < limits_.connections &&
                    network + all.of(Kind::kLocal) < limits_.connections;
  return room || all.make_way(Kind::kNetwork);
}

void Server::Impl::complain_of(const LimitKey& key) {
  if (!crowded_.is_due(Clock::now())) return;
  const Connections& all = state_.connections;
  log::warn("gateway.connections_refused",
            {{"peer", key.group.empty() ? "any" : key.group},
             {"peer_connections", all.of_group(key.group)},
             {"connections", all.of(Kind::kLocal) + all.of(Kind::kNetwork)}});
}

// No descriptor, or no memory, for another connection. The reserve descriptor serves one peer,
// which gets 503; the others wait in the kernel's queue.
void Server::Impl::out_of(int error, Acceptor& acceptor) {
  if (poor_.is_due(Clock::now())) {
    log::error("gateway.accept_failed",
               {{"error", std::strerror(error)},
                {"connections", state_.connections.size()},
                {"hint", "raise LimitNOFILE, or lower the limit of connections"}});
  }
  reserve_.reset();
  const UniqueFd fd(
      accept4(acceptor.listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd.valid() && !acceptor.listener.encrypted) {
    Response response = application_or_default(acceptor.listener.application)
                            .refuse(503, "too many connections; try again in a second");
    response.fields.push_back({"Retry-After", "1"});
    const std::string text = response_head(response, {BodyForm::kCounted, true}) + response.body;
    static_cast<void>(send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL));
    shutdown(fd.get(), SHUT_WR);
    // Drain the input first; otherwise close() resets the connection and the response is lost.
    std::array<char, 4096> unread{};
    while (recv(fd.get(), unread.data(), unread.size(), 0) > 0) {
    }
  }
  const_cast<UniqueFd&>(fd).reset();
  reserve_ = any_fd();
  acceptor.backoff.expires_after(kAcceptBackoff);
  acceptor.backoff.async_wait([this, &acceptor](const Code& code) {
    if (!code && !state_.stopping) accept_from(acceptor);
  });
}

void Server::Impl::watch(int fd, std::function<void()> ready) {
  watches_.push_back(std::make_unique<Watch>(io_, fd, std::move(ready)));
  wait_for(*watches_.back());
}

void Server::Impl::wait_for(Watch& watch) {
  watch.watched.async_wait(Descriptor::wait_read, [this, &watch](const Code& code) {
    if (code) return;
    pollfd state{watch.watched.native_handle(), POLLIN, 0};
    poll(&state, 1, 0);
    watch.ready();
    // The end of a pipe stays readable, so it is reported only once.
    if ((state.revents & POLLHUP) == 0) wait_for(watch);
  });
}

// Runs while there are connections, so that an idle server sleeps.
void Server::Impl::keep_time() {
  keeps_time_ = state_.connections.size() > 0;
  if (!keeps_time_) return;
  clock_.expires_after(turn_of(limits_));
  clock_.async_wait([this](const Code& code) {
    if (code) return;
    state_.connections.expire_late(Clock::now());
    keep_time();
  });
}

void Server::Impl::adopt(UniqueFd connection, Application* application) {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  // The peer may have closed the connection.
  if (getpeername(connection.get(), reinterpret_cast<sockaddr*>(&from), &size) != 0) return;
  Peer peer = peer_of(connection.get(), false, from);
  LimitKey key = limit_key_of(peer, from);
  begin(std::move(connection), application, std::move(peer), std::move(key), true);
}

void Server::Impl::begin_stop(std::chrono::milliseconds grace, bool keeps) {
  state_.stopping = true;
  state_.keeps = keeps;
  for (const auto& each : acceptors_) {
    Code ignored;
    each->watched.cancel(ignored);
    each->backoff.cancel();
    each->watched.release();
    each->listener.fd.reset();
  }
  state_.connections.leave_all();
  if (state_.connections.size() == 0) return io_.stop();
  grace_.expires_after(grace);
  grace_.async_wait([this](const Code& code) {
    if (!code) state_.connections.cut_all();
  });
}

Server::Server(Application& application, const Limits& limits, std::vector<Listener> listeners,
               const Tls& tls)
    : impl_(std::make_unique<Impl>(application, limits, std::move(listeners), tls)) {}
Server::~Server() = default;
void Server::run() {
  impl_->run();
}
void Server::stop(std::chrono::milliseconds grace, bool keeps) {
  post([impl = impl_.get(), grace, keeps] { impl->begin_stop(grace, keeps); });
}
std::vector<UniqueFd> Server::kept() {
  return std::exchange(impl_->state().kept, {});
}
void Server::adopt(UniqueFd connection, Application* application) {
  impl_->adopt(std::move(connection), application);
}
void Server::post(std::function<void()> act) {
  impl_->state().mailbox->post(std::move(act));
}
void Server::watch(int fd, std::function<void()> ready) {
  impl_->watch(fd, std::move(ready));
}

}  // namespace allot::gateway::http
