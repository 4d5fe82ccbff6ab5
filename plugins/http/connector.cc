// SPDX-License-Identifier: Apache-2.0
#include "connector.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "trouble.h"

namespace http_plugin {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPollSlice{50};  // interval of the check for the end of the request

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress socket_address(const Address& address, std::uint16_t port) {
  SocketAddress made;
  if (address.is_v6) {
    sockaddr_in6 in = {};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    std::memcpy(&in.sin6_addr, address.bytes.data(), 16);
    std::memcpy(&made.storage, &in, sizeof in);
    made.size = sizeof in;
  } else {
    sockaddr_in in = {};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, address.bytes.data(), 4);
    std::memcpy(&made.storage, &in, sizeof in);
    made.size = sizeof in;
  }
  return made;
}

// Error of the connection attempt; 0: connected.
int wait_for(int fd, Clock::time_point deadline, const Watch& watch) {
  while (watch.end() == Watchdog::End::kNone) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return ETIMEDOUT;
    pollfd event = {fd, POLLOUT, 0};
    if (::poll(&event, 1, static_cast<int>(std::min(left, kPollSlice).count())) <= 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
  }
  return ECANCELED;
}

// Sets `error` on failure.
UniqueFd connect_one(const Address& address, std::uint16_t port, Clock::time_point deadline,
                     const Watch& watch, int& error) {
  const int family = address.is_v6 ? AF_INET6 : AF_INET;
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) {
    error = errno;
    return fd;
  }
  const SocketAddress to = socket_address(address, port);
  error = 0;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.size) != 0) {
    error = errno == EINPROGRESS ? wait_for(fd.get(), deadline, watch) : errno;
  }
  if (error != 0) return fd;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return fd;
}

}  // namespace

Connector::Connector(AllowList allowed, Lookup lookup)
    : allowed_(std::move(allowed)), resolver_(std::move(lookup)) {}

std::vector<Address> Connector::allowed_of(const std::vector<Address>& addresses,
                                           const Origin& origin) const {
  std::vector<Address> fine;
  std::string why;
  for (const Address& address : addresses) {
    const std::string refusal = allowed_.refusal(origin, address);
    if (refusal.empty()) {
      fine.push_back(address);
    } else {
      why += (why.empty() ? "" : "; ") + refusal;
    }
  }
  if (fine.empty()) {
    throw Trouble("target " + text_of(origin) + " is refused: " + why, Trouble::Kind::kRefused);
  }
  return fine;
}

UniqueFd Connector::connect(const Origin& origin, const Limits& limits, const Watch& watch) {
  if (!allowed_.has(origin)) {
    throw Trouble("target " + text_of(origin) + " is refused: no entry of allow names it",
                  Trouble::Kind::kRefused);
  }
  const auto name_deadline = std::min(watch.deadline(), Clock::now() + limits.name);
  const auto addresses =
      allowed_of(resolver_.addresses_of(origin.host, name_deadline, watch), origin);
  const auto deadline = std::min(watch.deadline(), Clock::now() + limits.connect);
  std::string why;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    // Divides the remaining time among the remaining addresses.
    const auto now = Clock::now();
    const auto share = (deadline - now) / static_cast<long>(addresses.size() - i);
    int error = 0;
    UniqueFd fd = connect_one(addresses[i], origin.port, now + share, watch, error);
    if (error == 0) return fd;
    why += (why.empty() ? "" : "; ") + text_of(addresses[i]) + ": " + std::strerror(error);
  }
  throw Trouble("no connection to " + text_of(origin) + ": " + why);
}

}  // namespace http_plugin
