// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "address.h"
#include "watchdog.h"

namespace http_plugin {

// The addresses of a name. It may take long, and throws Trouble where there are none.
using Lookup = std::function<std::vector<Address>(const std::string& host)>;
// That of the system: /etc/hosts, DNS.
std::vector<Address> look_up(const std::string& host);

// Asks for the addresses of names, for as long as one wants to wait: a look-up cannot be broken
// off, so each has a thread of its own, which may outlive the question and this object. Those who
// ask for one name at a time share the look-up. Nothing is remembered. Any thread may ask.
class Resolver {
 public:
  explicit Resolver(Lookup lookup = look_up);

  // An address written as such is its own. Throws Trouble: there is none, or the time is over, or
  // the request.
  std::vector<Address> addresses_of(const std::string& host, Clock::time_point deadline,
                                    const Watch& watch);

 private:
  struct Question {
    bool answered = false;
    std::vector<Address> addresses{};
    std::string trouble{};
  };
  // What the threads of the look-ups share with this object.
  struct Shared {
    explicit Shared(Lookup with) : lookup(std::move(with)) {}
    const Lookup lookup;
    std::mutex mutex{};
    std::condition_variable answered{};
    std::map<std::string, std::shared_ptr<Question>> open{};
  };
  static void answer(const std::shared_ptr<Shared>& shared, const std::string& host);

  std::shared_ptr<Shared> shared_;
};

}  // namespace http_plugin
