// SPDX-License-Identifier: Apache-2.0
#include "connector.h"

#include <Poco/Net/SocketAddress.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/mutant.h"
#include "trouble.h"

namespace http_plugin {
namespace {

namespace mutant = allot::mutant;
namespace net = Poco::Net;

using std::chrono::milliseconds;

constexpr milliseconds kPollSlice{50};  // interval of the check for the end of the request

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
  const net::SocketAddress to(net::IPAddress(address.bytes.data(), address.is_v6 ? 16 : 4), port);
  UniqueFd fd(::socket(to.af(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) {
    error = errno;
    return fd;
  }
  error = 0;
  if (::connect(fd.get(), to.addr(), to.length()) != 0) {
    error = errno == EINPROGRESS ? wait_for(fd.get(), deadline, watch) : errno;
  }
  if (error != 0) return fd;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return fd;
}

// The permitted ones of these addresses. Throws Trouble if there are none.
std::vector<Address> permitted(const AllowList& allowed, const Origin& origin,
                               const std::vector<Address>& addresses) {
  std::vector<Address> fine;
  std::string why;
  for (const Address& address : addresses) {
    const std::string refusal = allowed.refusal(origin, address);
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

}  // namespace

AllowList::AllowList(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    try {
      entries_.push_back(parse_origin(entry));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("allow: '" + entry + "': " + error.what() +
                                  "; write scheme, host and port: \"https://example.com\", "
                                  "\"http://10.1.2.3:8080\"");
    }
  }
}

bool AllowList::has(const Origin& origin) const {
  return mutant::removed("http_allow_origin") ||
         std::find(entries_.begin(), entries_.end(), origin) != entries_.end();
}

std::string AllowList::refusal(const Origin& origin, const Address& address) const {
  const std::string why = special_purpose_of(address);
  if (why.empty() || mutant::removed("http_allow_address")) return {};
  const Origin named = {origin.tls, text_of(address), origin.port};
  if (has(named)) return {};
  return text_of(address) + " is not globally reachable (" + why +
         "), and no entry of allow names " + text_of(named);
}

Connector::Connector(AllowList allowed, Lookup lookup)
    : allowed_(std::move(allowed)), resolver_(std::move(lookup)) {}

UniqueFd Connector::connect(const Origin& origin, const Limits& limits, const Watch& watch) {
  if (!allowed_.has(origin)) {
    throw Trouble("target " + text_of(origin) + " is refused: no entry of allow names it",
                  Trouble::Kind::kRefused);
  }
  const auto name_deadline = std::min(watch.deadline(), Clock::now() + limits.name);
  const auto addresses =
      permitted(allowed_, origin, resolver_.addresses_of(origin.host, name_deadline, watch));
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
