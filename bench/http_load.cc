// SPDX-License-Identifier: Apache-2.0
#include "bench/http_load.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "base/posix.h"
#include "bench/loopback.h"

namespace allot::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kTasks[] = "/api/v1/tasks";
constexpr char kJson[] = "application/json";
constexpr auto kAnswerPatience = std::chrono::seconds(30);

[[noreturn]] void fail(const std::string& what) {
  throw Error("the gateway: " + what +
              (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
}

UniqueFd connected(std::uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = loopback(port);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    fail("no connection");
  }
  send_at_once(fd.get());
  const timeval patience{kAnswerPatience.count(), 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return fd;
}

std::string head_of(const Endpoint& endpoint, const std::string& what, const char* type,
                    std::size_t length, bool keeps) {
  return what + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
         (endpoint.token.empty() ? "" : "Authorization: Bearer " + endpoint.token + "\r\n") +
         "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(length) +
         (keeps ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n");
}

std::string post_of(const Endpoint& endpoint, const Submit& submit, bool keeps) {
  return head_of(endpoint, "POST " + submit.path, kJson, submit.body.size(), keeps) + submit.body;
}

// Reads until the other side ends the connection.
std::string read_all(const UniqueFd& fd) {
  std::string text;
  std::array<char, 16384> part{};
  for (ssize_t n = 0; (n = recv(fd.get(), part.data(), part.size(), 0)) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(n));
  }
  return text;
}

// Length of the response at the front of `text`; 0: it is incomplete.
std::size_t answer_length(std::string_view text) {
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  const auto* at =
      std::search(text.begin(), text.begin() + end, kLength.begin(), kLength.end(), same);
  std::size_t length = end + 4;
  if (at != text.begin() + end) {
    length += std::strtoul(at + kLength.size(), nullptr, 10);
  }
  return text.size() >= length ? length : 0;
}

}  // namespace

std::uint16_t free_port() {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0 ||
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    throw Error("no port is free");
  }
  return ntohs(at.sin_port);
}

void wait_for_endpoint(const Endpoint& endpoint, Child& gateway) {
  const sockaddr_in to = loopback(endpoint.port);
  const auto deadline = Clock::now() + kAnswerPatience;
  for (;;) {
    const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return;
    if (!gateway.running()) gateway.finish();
    if (Clock::now() > deadline) throw Error("the gateway does not answer");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Figures figures_of(std::vector<std::uint32_t>& took_us, Seconds elapsed) {
  if (took_us.empty()) throw Error("nothing was answered in time; take more --seconds");
  const auto at = took_us.begin() + static_cast<std::ptrdiff_t>(took_us.size() * 99 / 100);
  std::nth_element(took_us.begin(), at, took_us.end());
  return {static_cast<double>(took_us.size()) / elapsed.count(), *at / 1000.0};
}

class HttpLoad::Impl {
 public:
  Impl(const Endpoint& endpoint, std::size_t connections, bool keeps, const Submit& submit)
      : endpoint_(endpoint),
        keeps_(keeps),
        good_(submit.good),
        request_(post_of(endpoint, submit, keeps)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        lines_(connections) {
    if (endpoint.encrypted) {
      tls_.reset(SSL_CTX_new(TLS_client_method()));
      SSL_CTX_set_read_ahead(tls_.get(), 1);  // read a record with one system call
    }
    if (!keeps) return;
    for (std::size_t i = 0; i < connections; ++i) {
      open(i);
      // The first response also delivers the data that TLS sends after its handshake.
      send(lines_[i]);
      while (!receive(lines_[i], 0)) {
      }
      lines_[i].have = 0;
    }
  }

  Figures run(Seconds length) {
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration_cast<Clock::duration>(length);
    took_us_.clear();
    under_way_ = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) ask(i);
    auto last = begin;
    std::array<epoll_event, 64> events{};
    while (under_way_ > 0) {
      const int count = epoll_wait(epoll_.get(), events.data(), events.size(), 30'000);
      if (count == 0) fail("no answer for 30 s");
      for (int i = 0; i < count; ++i) {
        const std::size_t which = events[static_cast<std::size_t>(i)].data.u64;
        if (!receive(lines_[which], MSG_DONTWAIT)) continue;
        last = answered(which);
        if (last < end) ask(which);
      }
    }
    return figures_of(took_us_, last - begin);
  }

 private:
  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };

  // A connection and the state of the awaited response.
  struct Line {
    UniqueFd fd{};
    std::unique_ptr<SSL, FreeSsl> tls{};
    std::array<char, 4096> in{};
    std::size_t have = 0;
    Clock::time_point sent{};
  };

  void open(std::size_t which) {
    Line& line = lines_[which];
    line.fd = connected(endpoint_.port);
    if (tls_) {
      line.tls.reset(SSL_new(tls_.get()));
      SSL_set_fd(line.tls.get(), line.fd.get());
      if (SSL_connect(line.tls.get()) != 1) fail("no TLS");
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = which;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, line.fd.get(), &event);
  }

  void send(Line& line) {
    const int size = static_cast<int>(request_.size());
    const bool sent =
        line.tls ? SSL_write(line.tls.get(), request_.data(), size) == size
                 : ::send(line.fd.get(), request_.data(), request_.size(), MSG_NOSIGNAL) == size;
    if (!sent) fail("a request was not taken");
  }

  void ask(std::size_t which) {
    Line& line = lines_[which];
    line.sent = Clock::now();
    if (!keeps_) open(which);
    send(line);
    ++under_way_;
  }

  // True: the response is complete.
  bool receive(Line& line, int flags) {
    for (;;) {
      if (receive_some(line, flags)) return true;
      // Data that TLS has read ahead does not make the descriptor readable.
      if (!line.tls || SSL_has_pending(line.tls.get()) == 0) return false;
    }
  }

  bool receive_some(Line& line, int flags) {
    char* to = line.in.data() + line.have;
    const std::size_t room = line.in.size() - line.have;
    errno = 0;
    const auto count = line.tls ? SSL_read(line.tls.get(), to, static_cast<int>(room))
                                : recv(line.fd.get(), to, room, flags);
    if (count < 0 && errno == EAGAIN && flags != 0) return false;
    if (count <= 0) fail("a connection ended");
    line.have += static_cast<std::size_t>(count);
    const std::string_view text(line.in.data(), line.have);
    if (answer_length(text) == 0) return false;
    if (!text.starts_with(good_)) throw Error("the gateway: " + std::string(text));
    return true;
  }

  Clock::time_point answered(std::size_t which) {
    Line& line = lines_[which];
    const auto now = Clock::now();
    took_us_.push_back(static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now - line.sent).count()));
    line.have = 0;
    --under_way_;
    if (!keeps_) line.fd.reset();
    return now;
  }

  Endpoint endpoint_;
  bool keeps_;
  std::string good_;
  std::string request_;
  UniqueFd epoll_;
  std::unique_ptr<SSL_CTX, FreeSsl> tls_{};
  std::vector<Line> lines_;
  std::vector<std::uint32_t> took_us_{};
  std::size_t under_way_ = 0;
};

HttpLoad::HttpLoad(const Endpoint& endpoint, std::size_t connections, bool keeps,
                   const Submit& submit)
    : impl_(std::make_unique<Impl>(endpoint, connections, keeps, submit)) {}
HttpLoad::~HttpLoad() = default;
Figures HttpLoad::run(Seconds length) {
  return impl_->run(length);
}

std::string ask(const Endpoint& endpoint, const char* method, const std::string& path,
                const std::string& body) {
  const UniqueFd fd = connected(endpoint.port);
  const std::string request =
      head_of(endpoint, std::string(method) + " " + path, kJson, body.size(), false) + body;
  if (!write_all(fd.get(), request.data(), request.size())) fail("a request was not taken");
  return read_all(fd);
}

Seconds upload(const Endpoint& endpoint, const std::string& lines) {
  const auto begin = Clock::now();
  const UniqueFd fd = connected(endpoint.port);
  const std::string head =
      head_of(endpoint, std::string("POST ") + kTasks, "application/x-ndjson", lines.size(), false);
  // The responses about batches are small, and wait in the socket.
  if (!write_all(fd.get(), head.data(), head.size()) ||
      !write_all(fd.get(), lines.data(), lines.size())) {
    fail("the lines were not taken");
  }
  const std::string answer = read_all(fd);
  if (answer.find("\"ok\":true") == std::string::npos) throw Error("the gateway: " + answer);
  return Clock::now() - begin;
}

Crowd::Crowd(const Endpoint& endpoint, std::size_t idle, std::size_t dripping)
    : endpoint_(endpoint) {
  for (std::size_t i = 0; i < idle; ++i) idle_.push_back(connected(endpoint.port));
  dripping_.resize(dripping);
  thread_ = std::jthread([this](const std::stop_token& stop) { drip(stop); });
}

Crowd::~Crowd() = default;

std::size_t Crowd::open() const {
  return static_cast<std::size_t>(std::count_if(idle_.begin(), idle_.end(), [](const UniqueFd& fd) {
    char byte = 0;
    return recv(fd.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
  }));
}

void Crowd::drip(const std::stop_token& stop) {
  const std::string head =
      head_of(endpoint_, std::string("POST ") + kTasks, kJson, Submit().body.size(), true);
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::vector<std::size_t> sent(dripping_.size());
  for (;;) {
    for (std::size_t i = 0; i < dripping_.size(); ++i) {
      UniqueFd& fd = dripping_[i];
      if (fd.valid() && ::send(fd.get(), head.data() + sent[i], 1, MSG_NOSIGNAL) == 1) {
        sent[i] = std::min(sent[i] + 1, head.size() - 5);  // the head stays incomplete
        continue;
      }
      try {
        fd = connected(endpoint_.port);
      } catch (const Error&) {
        return;  // the gateway ended, which the measurement reports
      }
      sent[i] = 0;
    }
    std::unique_lock held(mutex);
    stopped.wait_for(held, stop, std::chrono::seconds(1), [] { return false; });
    if (stop.stop_requested()) return;
  }
}

}  // namespace allot::bench
