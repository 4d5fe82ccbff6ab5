// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "address.h"
#include "watchdog.h"

namespace http_plugin {

// Resolves a name to addresses. May take long; throws Trouble if there are none.
using Lookup = std::function<std::vector<Address>(const std::string& host)>;
// System resolver: /etc/hosts, DNS.
std::vector<Address> look_up(const std::string& host);

// Resolves names with a time limit. A look-up cannot be cancelled, so each has its own thread,
// which may outlive the call and this object. Simultaneous calls for the same name share a look-up.
// Results are not cached. Any thread may call it.
class Resolver {
 public:
  explicit Resolver(Lookup lookup = look_up);

  // An address literal is returned as such. Throws Trouble if the name has no addresses, or if the
  // time or the request is over.
  std::vector<Address> addresses_of(const std::string& host, Clock::time_point deadline,
                                    const Watch& watch);

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

  std::shared_ptr<Shared> shared_;
};

}  // namespace http_plugin
