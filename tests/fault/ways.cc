// SPDX-License-Identifier: Apache-2.0
// Promises of routes and rates: the queue of a submission, and the number of starts.
#include <algorithm>
#include <deque>

#include "fault/attempts.h"
#include "fault/ledger.h"
#include "fault/work.h"

namespace allot::fault {
namespace {

constexpr Nanoseconds kWindow = 10 * kSecond;
constexpr double kTolerance = 1.05;

// From the answer of a command that changed the route until the next one began.
struct Stretch {
  Nanoseconds from = 0;
  Nanoseconds to = INT64_MAX;
  bool routed = false;
};

std::vector<Stretch> stretches_of(const std::vector<Operation>& operations) {
  std::vector<Stretch> stretches(1);
  bool known = true;
  for (const Operation& operation : operations) {
    if (operation.act != Act::kRoute) continue;
    if (known) stretches.back().to = operation.begin;
    known = operation.landed == Landed::kYes;
    if (known) stretches.push_back({operation.end, INT64_MAX, !operation.lifts});
  }
  return stretches;
}

}  // namespace

// Each submission is a separate command, which looks up the queue after its start.
std::vector<std::string> broken_routes(const Ledger& ledger) {
  if (ledger.draw.routes.empty() || ledger.draw.does(Act::kMove)) return {};
  const std::string named = ledger.draw.queues.front().name;
  const auto stretches = stretches_of(ledger.operations);
  const Attempts attempts = attempts_in(ledger.evidence.traces);
  std::vector<std::string> broken;
  for (const Reply& reply : ledger.evidence.replies) {
    const auto in = std::find_if(stretches.begin(), stretches.end(), [&](const Stretch& one) {
      return reply.begin > one.from && reply.end < one.to;
    });
    if (in == stretches.end()) continue;
    for (std::uint64_t i = 0; i < reply.count; ++i) {
      const std::string tag = tag_of(reply.submitter, reply.first + i);
      const auto item = item_of(ledger.draw, tag);
      const auto ran = attempts.find(tag);
      if (!item || item->queue != named || ran == attempts.end()) continue;
      const std::string wanted = in->routed && item->type == kRoutedType ? kAside : named;
      const std::string& found = ran->second.front().start->queue;
      if (found != wanted)
        broken.push_back("a task of queue " + wanted + " ran in " + found + ": " + tag);
    }
  }
  return broken;
}

std::vector<std::string> broken_rate(const Ledger& ledger) {
  const RatePlan& rate = ledger.draw.rate;
  if (rate.per_second == 0) return {};
  const double bound =
      kTolerance * rate.per_second * (static_cast<double>(kWindow) / kSecond) + rate.burst;
  std::vector<Nanoseconds> starts;
  for (const Trace& trace : ledger.evidence.traces) {
    const bool start = trace.mark == Mark::kStart || trace.mark == Mark::kBeside;
    if (start && trace.queue == ledger.draw.queues.front().name && trace.at < ledger.rated_until)
      starts.push_back(trace.at);
  }
  std::sort(starts.begin(), starts.end());
  std::deque<Nanoseconds> window;
  std::size_t most = 0;
  for (const Nanoseconds at : starts) {
    window.push_back(at);
    while (window.front() < at - kWindow) window.pop_front();
    most = std::max(most, window.size());
  }
  if (static_cast<double>(most) <= bound) return {};
  return {std::to_string(most) + " tasks started in 10 s, more than the rate of " +
          std::to_string(rate.per_second) + " a second allows"};
}

}  // namespace allot::fault
