// SPDX-License-Identifier: Apache-2.0
#include "model/explore.h"

#include <string>
#include <utility>
#include <vector>

#include "model/moves.h"
#include "model/walk.h"

namespace allot::model {
namespace {

struct LeaseWorld {
  using State = model::State;
  using Step = model::Step;
  using Move = model::Move;

  const Scenario& scenario;

  [[nodiscard]] State first() const { return first_state(scenario); }
  void moves(const State& state, std::vector<Move>& out) const {
    model::moves(state, scenario, out);
  }
  bool make_canonical(State& state) const { return model::make_canonical(state, scenario); }
  [[nodiscard]] bool ended(const State& state) const { return model::ended(state); }
  [[nodiscard]] std::string line(const Step& step, bool swapped) const {
    std::string text;
    if (step.task >= 0) text += "task " + std::to_string(step.task) + ": ";
    if (step.who >= 0) text += std::string("worker ") + ((step.who == 1) == swapped ? "A" : "B");
    const bool spaced = step.who >= 0 && step.what[0] != '\'';
    return text + (spaced ? " " : "") + step.what + step.how;
  }
};

}  // namespace

Findings explore(const Scenario& scenario, std::size_t most) {
  const LeaseWorld world{scenario};
  Walked walked = Walk(world, most).run();
  return {walked.states,    walked.steps,
          walked.whole,     static_cast<Broken>(walked.broken),
          walked.dead_ends, std::move(walked.story)};
}

const char* name_of(Broken broken) {
  static constexpr const char* kNames[] = {
      "nothing",
      "a task was acknowledged whose handler did not succeed",
      "a task was buried that did not run",
      "a task started while another worker's lease was valid",
      "a worker whose lease is gone changed something",
      "a partition is leased without a holder",
      "a lease was taken over whose holder renews it in time",
      "an epoch was assigned that is still remembered",
      "an attempt was not counted",
      "more attempts were charged than were started",
      "a finished task ran again, and no fault explains it",
      "a task killed more often than its attempts allow",
      "a settled worker holds a lease",
      "a task that moved has lost its id",
      "more tasks ran with care than the lost holder may have been running",
  };
  return kNames[static_cast<int>(broken)];
}

}  // namespace allot::model
