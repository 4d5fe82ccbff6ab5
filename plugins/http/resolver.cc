// SPDX-License-Identifier: Apache-2.0
#include "resolver.h"

#include <Poco/Net/SocketAddress.h>
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "thread/deaf_thread.h"
#include "trouble.h"

namespace http_plugin {
namespace {

constexpr std::chrono::milliseconds kSlice{50};  // interval of the check for the end of the request

Address address_of(const addrinfo& info) {
  const auto host = Poco::Net::SocketAddress(info.ai_addr, info.ai_addrlen).host();
  Address address;
  address.is_v6 = info.ai_family == AF_INET6;
  std::memcpy(address.bytes.data(), host.addr(), host.length());
  return address;
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

Resolver::Resolver(Lookup lookup) : shared_(std::make_shared<Shared>(std::move(lookup))) {}

Resolver::Found Resolver::find(Shared& shared, const std::string& host) {
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

std::shared_future<Resolver::Found> Resolver::ask(const std::string& host) {
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

std::vector<Address> Resolver::addresses_of(const std::string& host, Clock::time_point deadline,
                                            const Watch& watch) {
  if (const auto address = parse_address(host)) return {*address};
  const auto answer = ask(host);
  while (answer.wait_until(std::min(deadline, Clock::now() + kSlice)) !=
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

}  // namespace http_plugin
