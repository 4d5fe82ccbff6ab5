// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "queue/minutes/instances.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

constexpr Nanos kWhileViewed = 2 * kSecond;
constexpr Nanos kOtherwise = 60 * kSecond;

struct Written {
  Nanos at_ns = 0;        // 0: never
  bool deployed = false;  // the deployment of this host is written
};

}  // namespace

Chore snapshots(process::Session& session, Leadership& leadership, const queue::Holder& holder,
                const std::string& runtime_dir, const as_json::HostFacts& facts) {
  leadership.want_with({0, queue::kViewersDuty}, {0, queue::kMinutesDuty});
  const auto written = std::make_shared<Written>();
  const auto write = [=, &session] {
    const host::InstanceView view = host::read_instance(runtime_dir);
    if (!view.running) return;
    const std::string state = as_json::host_state(view, facts)
                                  .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    ask(session, [&](db::Connection& db) {
      if (!written->deployed) {
        queue::put_deployment(db, holder, facts.version,
                              as_json::configuration_text(facts.config_mark));
      }
      queue::put_snapshot(db, holder, state);
    });
    written->deployed = true;
  };
  const auto run = [=, &leadership](bool /*fresh*/) -> Again {
    written->at_ns = boot_ns();
    write();
    return leadership.viewed() ? kWhileViewed : kDone;
  };
  // Viewers come before the next one is due.
  const auto rung = [written, &leadership] {
    return leadership.viewed() && boot_ns() >= written->at_ns + kWhileViewed;
  };
  // Removes the rows of this steward, whose state ends.
  const auto leave = [&session, holder] {
    try_once(session, "snapshot.not_removed",
             [&](db::Connection& db) { queue::remove_snapshot(db, holder); });
  };
  return {.name = "snapshot", .every = kOtherwise, .run_once = run, .rung = rung, .leave = leave};
}

}  // namespace allot::steward
