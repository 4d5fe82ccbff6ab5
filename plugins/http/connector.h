// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "address.h"
#include "base/unique_fd.h"
#include "url.h"
#include "watchdog.h"

namespace http_plugin {

using allot::UniqueFd;

// Resolves a name to addresses. May take long; throws Trouble if there are none.
using Lookup = std::function<std::vector<Address>(const std::string& host)>;
// System resolver: /etc/hosts, DNS.
std::vector<Address> look_up(const std::string& host);

// Time limits for the phases of a request.
struct Limits {
  std::chrono::milliseconds name = std::chrono::seconds(5);
  std::chrono::milliseconds connect = std::chrono::seconds(5);
  std::chrono::milliseconds all = std::chrono::minutes(1);
};

// The permitted targets of requests: scheme, host and port. Constant after construction; any thread
// may call it.
class AllowList {
 public:
  AllowList() = default;
  // Throws std::invalid_argument that names the entry.
  explicit AllowList(const std::vector<std::string>& entries);

  [[nodiscard]] const std::vector<Origin>& entries() const { return entries_; }
  [[nodiscard]] bool has(const Origin& origin) const;
  // The reason why a connection to this address is refused for `origin`; empty: permitted. An
  // address that is not globally reachable needs its own entry, with the scheme and port of the
  // target.
  [[nodiscard]] std::string refusal(const Origin& origin, const Address& address) const;

 private:
  std::vector<Origin> entries_;
};

// Opens connections to permitted targets. Any thread may call it.
//
// A look-up of a name cannot be cancelled, so each has its own thread, which may outlive the call
// and this object. Simultaneous calls for the same name share a look-up. Results are not cached.
class Connector {
 public:
  explicit Connector(AllowList allowed, Lookup lookup = look_up);

  // Returns a blocking socket connected to an address of the origin. Each name is resolved once,
  // and the checked addresses are used for the connection, so that a DNS server cannot change the
  // answer in between. Throws Trouble.
  UniqueFd connect(const Origin& origin, const Limits& limits, const Watch& watch);

 private:
  struct Found {
    std::vector<Address> addresses{};
    std::string trouble{};
  };
  // State shared between this object and the look-up threads.
  struct Shared {
    explicit Shared(Lookup with) : lookup(std::move(with)) {}
    const Lookup lookup;
    std::mutex mutex{};
    std::map<std::string, std::shared_future<Found>> open{};
  };
  static Found find(Shared& shared, const std::string& host);
  // The look-up in progress, or a new one.
  std::shared_future<Found> ask(const std::string& host);
  // An address literal is returned as such. Throws Trouble if the name has no addresses, or if the
  // time or the request is over.
  std::vector<Address> addresses_of(const std::string& host, Clock::time_point deadline,
                                    const Watch& watch);

  AllowList allowed_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace http_plugin
