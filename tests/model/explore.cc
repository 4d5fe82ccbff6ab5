// SPDX-License-Identifier: Apache-2.0
#include "model/explore.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "model/moves.h"

namespace allot::model {
namespace {

class Explorer {
 public:
  Explorer(const Scenario& scenario, std::size_t most)
      : scenario_(scenario), most_(most), table_(kFirstTable, 0) {}

  Findings run() {
    Findings findings;
    State first = first_state(scenario_);
    make_canonical(first, scenario_);
    add(first, {0, {"", "", -1, -1, false}, false});
    std::vector<Move> next;
    std::uint32_t at = 0;
    for (; at < states_.size() && states_.size() < most_; ++at) {
      next.clear();
      // By value: add() moves the states.
      const State state = states_[at];
      moves(state, scenario_, next);
      for (Move& move : next) {
        const bool swapped = make_canonical(move.after, scenario_);
        const std::uint32_t to = add(move.after, {at, move.step, swapped});
        ++findings.steps;
        // Recovery is what happens without new faults.
        if (!move.step.fault) edges_.push_back({to, at});
        if (move.after.broken == 0) continue;
        findings.broken = static_cast<Broken>(move.after.broken);
        findings.states = states_.size();
        findings.story = story(to);
        return findings;
      }
    }
    findings.states = states_.size();
    findings.whole = at == states_.size();
    if (findings.whole) find_dead_ends(findings);
    return findings;
  }

 private:
  static constexpr std::size_t kFirstTable = 1 << 16;
  struct Origin {
    std::uint32_t from;
    Step step;
    bool swapped;  // the workers have changed places since
  };
  struct Edge {
    std::uint32_t to;
    std::uint32_t from;
  };

  static std::size_t hash(const State& state) {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&state), sizeof state});
  }

  // The place of `state` in the table: its own, or the empty one for it.
  std::uint32_t& place(const State& state) {
    for (std::size_t at = hash(state) & (table_.size() - 1);; at = (at + 1) & (table_.size() - 1)) {
      std::uint32_t& entry = table_[at];
      if (entry == 0 || std::memcmp(&states_[entry - 1], &state, sizeof state) == 0) return entry;
    }
  }

  std::uint32_t add(const State& state, const Origin& origin) {
    std::uint32_t& entry = place(state);
    if (entry != 0) return entry - 1;
    states_.push_back(state);
    origins_.push_back(origin);
    const auto number = static_cast<std::uint32_t>(states_.size());
    entry = number;
    if (states_.size() * 2 > table_.size()) grow();
    return number - 1;
  }

  void grow() {
    table_.assign(table_.size() * 2, 0);
    for (std::uint32_t i = 0; i < states_.size(); ++i) place(states_[i]) = i + 1;
  }

  // The search goes backwards from the ends.
  void find_dead_ends(Findings& findings) {
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge& a, const Edge& b) { return a.to < b.to; });
    std::vector<bool> ends(states_.size());
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      if (!ended(states_[i])) continue;
      ends[i] = true;
      open.push_back(i);
    }
    while (!open.empty()) {
      const std::uint32_t to = open.back();
      open.pop_back();
      auto edge = std::lower_bound(edges_.begin(), edges_.end(), to,
                                   [](const Edge& a, std::uint32_t b) { return a.to < b; });
      for (; edge != edges_.end() && edge->to == to; ++edge) {
        if (ends[edge->from]) continue;
        ends[edge->from] = true;
        open.push_back(edge->from);
      }
    }
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      if (ends[i]) continue;
      if (findings.dead_ends++ == 0) findings.story = story(i);
    }
  }

  // The steps from the first state to `at`, with names that stay with their workers.
  [[nodiscard]] std::string story(std::uint32_t at) const {
    std::vector<Origin> path;
    for (; at != 0; at = origins_[at].from) path.push_back(origins_[at]);
    std::reverse(path.begin(), path.end());
    bool swapped = false;
    std::string text;
    for (const Origin& origin : path) {
      const Step& step = origin.step;
      text += step.fault ? "  ! " : "    ";
      if (step.task >= 0) text += "task " + std::to_string(step.task) + ": ";
      if (step.who >= 0) text += std::string("worker ") + ((step.who == 1) == swapped ? "A" : "B");
      const bool spaced = step.who >= 0 && step.what[0] != '\'';
      text += (spaced ? " " : "") + std::string(step.what) + step.how + "\n";
      swapped ^= origin.swapped;
    }
    return text;
  }

  const Scenario& scenario_;
  const std::size_t most_;
  std::vector<State> states_;
  std::vector<Origin> origins_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> table_;  // state + 1; 0 is empty
};

}  // namespace

Findings explore(const Scenario& scenario, std::size_t most) {
  return Explorer(scenario, most).run();
}

const char* name_of(Broken broken) {
  static constexpr const char* kNames[] = {
      "nothing",
      "a task was acknowledged whose handler did not succeed",
      "a task was buried that did not run",
      "a task started while another worker's lease was valid",
      "a worker whose lease is gone changed something",
      "a partition is leased by nobody",
      "a lease was taken over whose holder renews it in time",
      "an epoch was given out that somebody remembers",
      "an attempt was not counted",
      "more attempts were charged than were started",
      "a finished task ran again, and no fault explains it",
      "a task killed more often than its attempts allow",
      "a settled worker holds a lease",
      "a task that moved has lost its id",
  };
  return kNames[static_cast<int>(broken)];
}

}  // namespace allot::model
