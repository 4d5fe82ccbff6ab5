// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/connections.h"

#include <utility>
#include <vector>

namespace allot::gateway::http {

Connections::Place Connections::add(std::shared_ptr<Connection> connection, const LimitKey& key) {
  const Place place = all_.insert(all_.end(), Entry{std::move(connection), key});
  ++count_.at(index(key.kind));
  if (!key.group.empty()) ++groups_[key.group].count;
  waits(place);
  return place;
}

void Connections::remove(Place place) {
  discount(place);
  all_.erase(place);
}

void Connections::discount(Place place) {
  if (!place->counts) return;
  works(place);
  place->counts = false;
  --count_.at(index(place->key.kind));
  const auto group = groups_.find(place->key.group);
  if (group != groups_.end() && --group->second.count == 0) groups_.erase(group);
}

void Connections::waits(Place place) {
  if (place->waits || !place->counts) return;
  place->waits = true;
  Waiting& of_kind = waiting_.at(index(place->key.kind));
  place->in_kind = of_kind.insert(of_kind.end(), place);
  if (place->key.group.empty()) return;
  Waiting& of_group = groups_.at(place->key.group).waiting;
  place->in_group = of_group.insert(of_group.end(), place);
}

void Connections::works(Place place) {
  if (!place->waits) return;
  place->waits = false;
  waiting_.at(index(place->key.kind)).erase(place->in_kind);
  if (!place->key.group.empty()) groups_.at(place->key.group).waiting.erase(place->in_group);
}

std::size_t Connections::of_group(const std::string& group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? 0 : found->second.count;
}

bool Connections::make_way(Kind kind) {
  return end_first(waiting_.at(index(kind)));
}

bool Connections::make_way_in(const std::string& group) {
  const auto found = groups_.find(group);
  return found != groups_.end() && end_first(found->second.waiting);
}

bool Connections::end_first(const Waiting& waiting) {
  if (waiting.empty()) return false;
  const Place place = waiting.front();
  discount(place);
  place->connection->cut();
  return true;
}

void Connections::for_all(const std::function<void(Connection&)>& act) const {
  std::vector<std::shared_ptr<Connection>> all;
  for (const Entry& each : all_) all.push_back(each.connection);
  for (const auto& each : all) act(*each);
}

void Connections::expire_late(Clock::time_point now) {
  for_all([now](Connection& each) {
    if (each.deadline() <= now) each.expire();
  });
}

void Connections::leave_all() {
  for_all([](Connection& each) { each.leave(); });
}

void Connections::cut_all() {
  for_all([](Connection& each) { each.cut(); });
}

}  // namespace allot::gateway::http
