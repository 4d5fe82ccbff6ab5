// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/connections.h"

#include <utility>
#include <vector>

namespace allot::gateway::http {

Connections::Place Connections::add(std::shared_ptr<Connection> connection,
                                    const std::string& address) {
  // A peer that comes through the unix socket has no address, and no limit of its own.
  if (!address.empty()) ++of_address_[address];
  return all_.insert(all_.end(), std::move(connection));
}

void Connections::remove(Place place, const std::string& address) {
  all_.erase(place);
  const auto found = of_address_.find(address);
  if (found != of_address_.end() && --found->second == 0) of_address_.erase(found);
}

std::size_t Connections::of_address(const std::string& address) const {
  const auto found = of_address_.find(address);
  return found == of_address_.end() ? 0 : found->second;
}

void Connections::expire_late(Clock::time_point now) {
  std::vector<std::shared_ptr<Connection>> late;
  for (const auto& each : all_) {
    if (each->deadline() <= now) late.push_back(each);
  }
  for (const auto& each : late) each->expire();
}

void Connections::leave_all() {
  for (const auto& each : copy()) each->leave();
}

void Connections::cut_all() {
  for (const auto& each : copy()) each->cut();
}

}  // namespace allot::gateway::http
