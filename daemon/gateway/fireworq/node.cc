// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/node.h"

#include <vector>

#include "queue/fireworq/jobs.h"
#include "queue/views/health.h"

namespace allot::gateway::fireworq {
namespace {

constexpr const char* kDuty = "fireworq";
constexpr const char* kConnection = "connection ";  // prefix of holder_instance

queue::DutyNames own_duty() {
  return {{0, kDuty}};
}

}  // namespace

Node::Node() : holder_(queue::make_holder("", "")) {}

void Node::round(db::Connection& db) {
  const MutexLock held(mutex_);
  const Nanos sent = boot_ns();
  const bool ours = (until_ns_ != 0 && renew(db)) || take_term(db);
  until_ns_ = ours ? sent + static_cast<Nanos>(queue::kDutyTtl.count()) * kSecond : 0;
}

bool Node::renew(db::Connection& db) {
  return queue::DutyStore(holder_).renew(db, own_duty(), {own_duty(), {}}) == 1;
}

bool Node::take_term(db::Connection& db) {
  std::vector<queue::SeenDuty> seen = queue::DutyStore::watch(db, own_duty());
  if (seen.empty()) {
    queue::make_duties(db, own_duty());
    seen = queue::DutyStore::watch(db, own_duty());
  }
  if (seen.empty() || !seen.front().over) return false;
  holder_.host = queue::own_address(db).substr(0, 64);
  holder_.instance = kConnection + std::to_string(db.id());
  return queue::DutyStore(holder_).take_terms(db, seen) == 1;
}

bool Node::is_active() const {
  const MutexLock held(mutex_);
  return until_ns_ != 0 && boot_ns() < until_ns_;
}

void Node::leave(db::Connection& db) {
  const MutexLock held(mutex_);
  if (until_ns_ != 0) static_cast<void>(queue::return_duties(db, holder_.id));
  until_ns_ = 0;
}

std::optional<ActiveNode> active_node(db::Connection& db) {
  for (const queue::DutyView& duty : queue::list_duties(db)) {
    if (duty.queue_id != 0 || duty.duty != kDuty || !duty.led) continue;
    const std::string_view id = duty.instance;
    const std::string_view prefix = kConnection;
    return ActiveNode{std::string(id.starts_with(prefix) ? id.substr(prefix.size()) : id),
                      duty.host};
  }
  return std::nullopt;
}

}  // namespace allot::gateway::fireworq
