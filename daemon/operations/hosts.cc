// SPDX-License-Identifier: Apache-2.0
// GET /api/v1/workers: the workers of all hosts.
// Rule: S91.
#include "operations/hosts.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "db/error.h"
#include "json/host_json.h"
#include "log/log.h"
#include "operations/verbs.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute_view.h"
#include "queue/verbs/duty.h"

namespace allot::operations {
namespace {

using nlohmann::json;

constexpr Nanos kReadEvery = kSecond;
constexpr Nanos kTellEvery = 2 * kSecond;
constexpr Nanos kAfterRefusal = 60 * kSecond;  // the account may only read

}  // namespace

struct Hosts::Seen {
  struct Host {
    queue::HostSnapshot row;
    json state{};  // as_json::host_state()
  };
  std::vector<Host> hosts{};
  Nanos read_ns = 0;
};

namespace {

json document_of(const Hosts::Seen::Host& host, Nanos read_ns, json state) {
  const std::chrono::microseconds age =
      host.row.age + std::chrono::microseconds((boot_ns() - read_ns) / kMicro);
  state["host"] = host.row.host;
  state["instance"] = host.row.instance;
  state["taken_at"] = host.row.taken_at;
  state["age_ms"] = age.count() / 1'000;
  state["silent"] = age >= queue::kInstanceSilent;
  return state;
}

}  // namespace

// Without the privilege for this statement, hosts keep writing once a minute.
void Hosts::tell(db::Connection& db) {
  const Nanos now = boot_ns();
  if (now < tell_ns_) return;
  try {
    queue::note_viewer(db);
    tell_ns_ = now + kTellEvery;
  } catch (const db::DbError& error) {
    if (error.error_class() != db::ErrorClass::kRefused) throw;
    tell_ns_ = now + kAfterRefusal;
    log::warn("viewer.write_failed", {{"error", error.what()}, {"fallback", "once a minute"}});
  }
}

std::shared_ptr<const Hosts::Seen> Hosts::read(db::Connection& db) {
  const MutexLock held(mutex_);
  tell(db);
  if (seen_ && boot_ns() < seen_->read_ns + kReadEvery) return seen_;
  auto seen = std::make_shared<Seen>();
  for (queue::HostSnapshot& row : queue::list_snapshots(db)) {
    json state = json::parse(row.state, nullptr, false);
    if (!state.is_object()) continue;  // written by a steward of another version
    row.state.clear();
    seen->hosts.push_back({std::move(row), std::move(state)});
  }
  seen->read_ns = boot_ns();
  seen_ = std::move(seen);
  return seen_;
}

Document list_workers(Call& call) {
  const bool all = call.caller().may_everywhere(gateway::access::Role::kRead);
  const auto may = [&call](const std::string& queue) { return call.may(queue); };
  const auto shared = call.shared("hosts", Call::CacheTime::kState,
                                  [&](auto& db) { return call.service().hosts->read(db); });
  const Hosts::Seen* seen = shared->get();
  json items = json::array();
  for (const Hosts::Seen::Host& host : seen->hosts) {
    json state = all ? host.state : as_json::host_state_for(host.state, may);
    items.push_back(document_of(host, seen->read_ns, std::move(state)));
  }
  return list_of(std::move(items));
}

}  // namespace allot::operations
