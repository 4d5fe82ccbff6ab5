// SPDX-License-Identifier: Apache-2.0
#include "bench/target.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/posix.h"
#include "bench/loopback.h"

namespace allot::bench {
namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
constexpr std::size_t kEvents = 64;

std::string answer_with(const std::string& body, bool closes) {
  if (body.empty() && !closes) return std::string(kAnswer);
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + (closes ? "\r\nConnection: close" : "") + "\r\n\r\n" + body;
}

// True if the whole request or response is there: its head, and a body of the declared length.
bool is_whole(std::string_view request) {
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const std::size_t end = request.find("\r\n\r\n");
  if (end == std::string_view::npos) return false;
  const std::size_t at = request.find(kLength);
  if (at >= end) return true;
  return request.size() >=
         end + 4 + std::strtoul(request.data() + at + kLength.size(), nullptr, 10);
}

void watch(const UniqueFd& epoll, int fd) {
  epoll_event event{EPOLLIN, {.fd = fd}};
  epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

Target::Target(std::chrono::milliseconds pause, const std::string& body, bool closes)
    : pause_(pause),
      answer_(answer_with(body, closes)),
      closes_(closes),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0 ||
      listen(listener_.get(), SOMAXCONN) != 0 ||
      getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    throw Error("no port is free");
  }
  port_ = ntohs(at.sin_port);
  watch(epoll_, listener_.get());
  watch(epoll_, stop_.get());
  thread_ = std::thread([this] { serve(); });
}

Target::~Target() {
  const std::uint64_t one = 1;
  (void)write_all(stop_.get(), &one, sizeof one);
  thread_.join();
}

void Target::serve() {
  std::array<epoll_event, kEvents> events{};
  for (;;) {
    const timespec left = until_next();
    const int happened =
        epoll_pwait2(epoll_.get(), events.data(), kEvents, due_.empty() ? nullptr : &left, nullptr);
    for (int i = 0; i < happened; ++i) {
      const int fd = events.at(static_cast<std::size_t>(i)).data.fd;
      if (fd == stop_.get()) return;
      if (fd == listener_.get()) {
        accept_one();
      } else {
        read_from(fd);
      }
    }
    answer_what_is_due();
  }
}

timespec Target::until_next() const {
  if (due_.empty()) return {};
  const auto left = std::max(due_.front().when - Clock::now(), Clock::duration::zero());
  const auto nanos = std::chrono::nanoseconds(left).count();
  return {nanos / 1'000'000'000, nanos % 1'000'000'000};
}

void Target::accept_one() {
  UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd.valid()) return;
  send_at_once(fd.get());
  watch(epoll_, fd.get());
  const int number = fd.get();
  requests_[number].clear();
  connections_[number] = std::move(fd);
}

void Target::read_from(int fd) {
  std::array<char, 16384> part{};
  const ssize_t got = recv(fd, part.data(), part.size(), 0);
  if (got <= 0) {
    requests_.erase(fd);
    connections_.erase(fd);
    return;
  }
  std::string& request = requests_[fd];
  request.append(part.data(), static_cast<std::size_t>(got));
  if (!is_whole(request)) return;
  request.clear();
  due_.push_back({Clock::now() + pause_, fd});
}

void Target::answer_what_is_due() {
  while (!due_.empty() && (pause_.count() == 0 || due_.front().when <= Clock::now())) {
    const int fd = due_.front().fd;
    due_.pop_front();
    ++answered_;  // before its client can see it
    // The client of a connection that ended does not wait for the response.
    (void)send(fd, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    if (!closes_) continue;
    requests_.erase(fd);
    connections_.erase(fd);
  }
}

namespace {

UniqueFd connected_to(std::uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = loopback(port);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    throw Error("the target does not listen");
  }
  send_at_once(fd.get());
  return fd;
}

// Sends requests until the deadline, at least once. Returns the number of responses.
std::uint64_t ask(std::uint16_t port, const std::string& request,
                  std::chrono::steady_clock::time_point until) {
  const UniqueFd fd = connected_to(port);
  std::uint64_t answers = 0;
  std::array<char, 4096> part{};
  do {
    if (!write_all(fd.get(), request.data(), request.size())) throw Error("the target is gone");
    for (std::size_t have = 0; have < kAnswer.size();) {
      const ssize_t got = recv(fd.get(), part.data() + have, part.size() - have, 0);
      if (got <= 0) throw Error("the target is gone");
      have += static_cast<std::size_t>(got);
    }
    ++answers;
  } while (std::chrono::steady_clock::now() < until);
  return answers;
}

}  // namespace

double answers_a_second(std::size_t sessions, std::chrono::duration<double> length,
                        const Asker& ask) {
  using Steady = std::chrono::steady_clock;
  const auto began = Steady::now();
  const auto until = began + std::chrono::duration_cast<Steady::duration>(length);
  std::vector<std::exception_ptr> failures(sessions);
  std::atomic<std::uint64_t> answers = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < sessions; ++i) {
      threads.emplace_back([&, i] {
        try {
          answers += ask(until);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return static_cast<double>(answers) /
         std::chrono::duration<double>(Steady::now() - began).count();
}

double ready_requests(std::uint16_t port, std::size_t sessions, const std::string& request,
                      std::chrono::duration<double> length) {
  return answers_a_second(sessions, length, [&](auto until) { return ask(port, request, until); });
}

std::string post(std::uint16_t port, const std::string& request) {
  const UniqueFd fd = connected_to(port);
  if (!write_all(fd.get(), request.data(), request.size())) throw Error("the target is gone");
  std::string answer;
  std::array<char, 4096> part{};
  while (!is_whole(answer)) {
    const ssize_t got = recv(fd.get(), part.data(), part.size(), 0);
    if (got <= 0) throw Error("the target is gone");
    answer.append(part.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

}  // namespace allot::bench
