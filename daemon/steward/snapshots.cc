// SPDX-License-Identifier: Apache-2.0
#include "steward/snapshots.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "queue/minutes/deployment.h"
#include "queue/minutes/host_snapshot.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kWhileViewed = 2 * kSecond;
constexpr Nanos kOtherwise = 60 * kSecond;

}  // namespace

Snapshots::Snapshots(process::Session& session, Leadership& leadership, queue::Holder holder,
                     std::string runtime_dir, as_json::HostFacts facts)
    : session_(session),
      leadership_(leadership),
      holder_(std::move(holder)),
      runtime_dir_(std::move(runtime_dir)),
      facts_(std::move(facts)) {
  leadership.want_with({0, queue::kViewersDuty}, {0, queue::kMinutesDuty});
}

Chore Snapshots::chore() {
  const auto run = [this](bool /*fresh*/) -> Again {
    written_ns_ = boot_ns();
    write();
    return leadership_.viewed() ? kWhileViewed : kDone;
  };
  // Viewers come before the next one is due.
  const auto rung = [this] {
    return leadership_.viewed() && boot_ns() >= written_ns_ + kWhileViewed;
  };
  return {.name = "snapshot", .every = kOtherwise, .run_once = run, .rung = rung};
}

void Snapshots::write() {
  const host::InstanceView view = host::read_instance(runtime_dir_);
  if (!view.running) return;
  const std::string state = as_json::host_state(view, facts_)
                                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  ask(session_, [&](db::Connection& db) {
    if (!deployed_) {
      queue::put_deployment(db, holder_, facts_.version,
                            as_json::configuration_text(facts_.config_mark));
    }
    queue::put_snapshot(db, holder_, state);
    return true;
  });
  deployed_ = true;
}

void Snapshots::leave() {
  try_once(session_, "snapshot.not_removed", [&](db::Connection& db) {
    queue::remove_snapshot(db, holder_);
    return true;
  });
}

}  // namespace allot::steward
