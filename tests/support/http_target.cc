// SPDX-License-Identifier: Apache-2.0
#include "support/http_target.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "support/bound_socket.h"

namespace allot::support {
namespace {

constexpr const char* kHeadEnd = "\r\n\r\n";

std::shared_ptr<SSL_CTX> context_of(const HttpTarget::Tls& tls) {
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  bool done = SSL_CTX_use_certificate_chain_file(context.get(), tls.cert.c_str()) == 1 &&
              SSL_CTX_use_PrivateKey_file(context.get(), tls.key.c_str(), SSL_FILETYPE_PEM) == 1;
  if (!tls.client_ca.empty()) {
    done =
        done && SSL_CTX_load_verify_locations(context.get(), tls.client_ca.c_str(), nullptr) == 1;
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (!done) throw std::runtime_error("TLS handshake failed with " + tls.cert);
  return context;
}

}  // namespace

std::string HttpTarget::Request::field(const std::string& name) const {
  const std::size_t at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

bool HttpTarget::Peer::shake_hands() {
  if (target_->tls_ == nullptr) return true;
  ssl_ = {SSL_new(target_->tls_.get()), &SSL_free};
  SSL_set_fd(ssl_.get(), fd_.get());
  return SSL_accept(ssl_.get()) == 1;
}

bool HttpTarget::Peer::read_more() {
  std::array<char, 65536> part{};
  ssize_t got = 0;
  do {
    got = ssl_ ? SSL_read(ssl_.get(), part.data(), static_cast<int>(part.size()))
               : ::recv(fd_.get(), part.data(), part.size(), 0);
  } while (!ssl_ && got < 0 && errno == EINTR);
  if (got > 0) in_.append(part.data(), static_cast<std::size_t>(got));
  return got > 0;
}

std::optional<HttpTarget::Request> HttpTarget::Peer::head() {
  std::size_t end = 0;
  while ((end = in_.find(kHeadEnd)) == std::string::npos) {
    if (!read_more()) return std::nullopt;
  }
  Request request;
  request.head = in_.substr(0, end + 4);
  in_.erase(0, end + 4);
  return request;
}

std::optional<HttpTarget::Request> HttpTarget::Peer::request() {
  auto request = head();
  if (!request) return std::nullopt;
  const std::string length = request->field("Content-Length");
  const std::size_t size = length.empty() ? 0 : std::stoul(length);
  while (in_.size() < size) {
    if (!read_more()) return std::nullopt;
  }
  request->body = in_.substr(0, size);
  in_.erase(0, size);
  const std::lock_guard lock(target_->mutex_);
  target_->requests_.push_back(*request);
  return request;
}

bool HttpTarget::Peer::send(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t sent =
        ssl_ ? SSL_write(ssl_.get(), bytes.data() + at, static_cast<int>(bytes.size() - at))
             : ::send(fd_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (!ssl_ && sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += static_cast<std::size_t>(sent);
  }
  return true;
}

bool HttpTarget::Peer::answer(int status, const std::string& body, const std::string& fields) {
  return send("HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body);
}

void HttpTarget::Peer::wait_for_end() {
  while (read_more()) in_.clear();
}

void HttpTarget::Peer::hold() const {
  pollfd event = {fd_.get(), POLLRDHUP, 0};
  while (::poll(&event, 1, -1) < 0 && errno == EINTR) {
  }
}

void HttpTarget::Peer::reset() {
  const linger at_once = {1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  const std::lock_guard lock(target_->mutex_);
  fd_.reset();
}

HttpTarget::Script HttpTarget::always(int status, const std::string& body,
                                      const std::string& fields) {
  return [status, body, fields](Peer& peer) {
    while (peer.request()) peer.answer(status, body, fields);
  };
}

HttpTarget::HttpTarget(Script script, const std::optional<Tls>& tls) : script_(std::move(script)) {
  if (tls) tls_ = context_of(*tls);
  BoundSocket made = listening_socket(SOMAXCONN);
  listener_ = std::move(made.fd);
  port_ = made.port;
  acceptor_ = std::thread([this] { accept_all(); });
}

void HttpTarget::accept_all() {
  while (true) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::lock_guard lock(mutex_);
    if (stops_) return;
    if (!fd.valid()) continue;
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Peer& peer = peers_.emplace_back();
    peer.target_ = this;
    peer.fd_ = std::move(fd);
    peer.number_ = peers_.size();
    threads_.emplace_back([this, &peer] {
      if (peer.shake_hands()) script_(peer);
      const std::lock_guard closing(mutex_);
      peer.fd_.reset();
    });
  }
}

HttpTarget::~HttpTarget() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    for (const Peer& peer : peers_) {
      if (peer.fd_.valid()) ::shutdown(peer.fd_.get(), SHUT_RDWR);
    }
  }
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
}

std::string HttpTarget::origin() const {
  return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
}

std::vector<HttpTarget::Request> HttpTarget::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t HttpTarget::connections() const {
  const std::lock_guard lock(mutex_);
  return peers_.size();
}

}  // namespace allot::support
