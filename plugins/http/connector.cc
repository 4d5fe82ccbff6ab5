// SPDX-License-Identifier: Apache-2.0
#include "connector.h"

#include <Poco/Net/SocketAddress.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/mutant.h"
#include "thread/deaf_thread.h"
#include "trouble.h"

namespace http_plugin {
namespace {

namespace mutant = allot::mutant;
namespace net = Poco::Net;

using std::chrono::milliseconds;

constexpr milliseconds kPollSlice{50};  // interval of the check for the end of the request

Address address_of(const addrinfo& info) {
  const auto host = net::SocketAddress(info.ai_addr, info.ai_addrlen).host();
  Address address;
  address.is_v6 = info.ai_family == AF_INET6;
  std::memcpy(address.bytes.data(), host.addr(), host.length());
  return address;
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

std::vector<Address> look_up(const std::string& host) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (code != 0) {
    throw Trouble("no address of " + host + ": " +
                  (code == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(code)));
  }
  std::vector<Address> addresses;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    if (at->ai_family == AF_INET || at->ai_family == AF_INET6) addresses.push_back(address_of(*at));
  }
  ::freeaddrinfo(list);
  if (addresses.empty()) throw Trouble("no address of " + host);
  return addresses;
}

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
    : allowed_(std::move(allowed)), shared_(std::make_shared<Shared>(std::move(lookup))) {}

Connector::Found Connector::find(Shared& shared, const std::string& host) {
  Found found;
  try {
    found.addresses = shared.lookup(host);
  } catch (const std::exception& error) {
    found.trouble = error.what();
  }
  const std::lock_guard lock(shared.mutex);
  shared.open.erase(host);
  return found;
}

std::shared_future<Connector::Found> Connector::ask(const std::string& host) {
  const std::lock_guard lock(shared_->mutex);
  if (const auto open = shared_->open.find(host); open != shared_->open.end()) return open->second;
  std::packaged_task<Found()> task([shared = shared_, host] { return find(*shared, host); });
  const auto answer = task.get_future().share();
  try {
    allot::deaf_thread(std::move(task)).detach();
  } catch (const std::system_error& error) {
    throw Trouble(std::string("no thread to look up ") + host + ": " + error.what());
  }
  shared_->open.emplace(host, answer);
  return answer;
}

std::vector<Address> Connector::addresses_of(const std::string& host, Clock::time_point deadline,
                                             const Watch& watch) {
  if (const auto address = parse_address(host)) return {*address};
  const auto answer = ask(host);
  while (answer.wait_until(std::min(deadline, Clock::now() + kPollSlice)) !=
         std::future_status::ready) {
    if (watch.end() != Watchdog::End::kNone) throw Trouble("the request is over");
    if (Clock::now() >= deadline) {
      throw Trouble("the address of " + host + " was not found in time");
    }
  }
  const Found& found = answer.get();
  if (!found.trouble.empty()) throw Trouble(found.trouble);
  return found.addresses;
}

UniqueFd Connector::connect(const Origin& origin, const Limits& limits, const Watch& watch) {
  if (!allowed_.has(origin)) {
    throw Trouble("target " + text_of(origin) + " is refused: no entry of allow names it",
                  Trouble::Kind::kRefused);
  }
  const auto name_deadline = std::min(watch.deadline(), Clock::now() + limits.name);
  const auto addresses =
      permitted(allowed_, origin, addresses_of(origin.host, name_deadline, watch));
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
