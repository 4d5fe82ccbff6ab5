// SPDX-License-Identifier: Apache-2.0
#include "steward/snapshots.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "log/log.h"
#include "queue/minutes/deployment.h"
#include "queue/minutes/host_snapshot.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kWhileViewed = 2 * kSecond;
constexpr Nanos kOtherwise = 60 * kSecond;

}  // namespace

Snapshots::Snapshots(worker::Session& session, Leadership& leadership, queue::Holder holder,
                     std::string runtime_dir, as_json::HostFacts facts)
    : session_(session),
      leadership_(leadership),
      holder_(std::move(holder)),
      runtime_dir_(std::move(runtime_dir)),
      facts_(std::move(facts)) {
  leadership.want_with({0, queue::kViewersDuty}, {0, queue::kMinutesDuty});
}

Nanos Snapshots::next_ns() const {
  if (written_ns_ == 0) return 0;
  return written_ns_ + (leadership_.viewed() ? kWhileViewed : kOtherwise);
}

// A failure is retried when the next one is due.
void Snapshots::look() {
  const Nanos now = boot_ns();
  if (now < next_ns()) return;
  written_ns_ = now;
  try {
    write();
  } catch (const db::DbError& error) {
    log::warn("snapshot.not_written", {{"error", error.what()}});
  }
}

void Snapshots::write() {
  const as_json::InstanceView view = as_json::read_instance(runtime_dir_);
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
  try {
    session_.call_while([] { return false; },
                        [&](db::Connection& db) {
                          queue::remove_snapshot(db, holder_);
                          return true;
                        });
  } catch (const db::DbError& error) {
    log::warn("snapshot.not_removed", {{"error", error.what()}});
  }
}

}  // namespace allot::steward
