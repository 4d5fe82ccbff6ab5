// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Walk over all states of a model: breadth-first, and backwards from the end states. A state is
// compared and hashed as bytes.
namespace allot::model {

// Result of a walk.
struct Walked {
  std::size_t states = 0;
  std::size_t steps = 0;
  bool whole = false;         // every reachable state was seen
  std::uint8_t broken = 0;    // State::broken of the first broken state, with the shortest path
  std::size_t dead_ends = 0;  // states from which every run without further faults is endless
  std::string story;          // the steps to the broken state or to a dead end
};

// `World` defines a model:
//   State, Step (with `fault`), Move{Step step; State after;}
//   State first() const
//   void moves(const State&, std::vector<Move>&) const
//   bool make_canonical(State&) const   true: its two actors changed places
//   bool ended(const State&) const
//   std::string line(const Step&, bool swapped) const
template <typename World>
class Walk {
 public:
  using State = typename World::State;
  using Step = typename World::Step;
  using Move = typename World::Move;
  static_assert(std::has_unique_object_representations_v<State>);

  // Stops at the first broken state, or at `most` states.
  Walk(const World& world, std::size_t most) : world_(world), most_(most), table_(kFirstTable, 0) {}

  Walked run() {
    Walked found;
    State first = world_.first();
    world_.make_canonical(first);
    add(first, {0, {}, false});
    std::vector<Move> next;
    std::uint32_t at = 0;
    for (; at < states_.size() && states_.size() < most_; ++at) {
      next.clear();
      // By value: add() moves the states.
      const State state = states_[at];
      world_.moves(state, next);
      for (Move& move : next) {
        const bool swapped = world_.make_canonical(move.after);
        const std::uint32_t to = add(move.after, {at, move.step, swapped});
        ++found.steps;
        // Recovery uses only steps without faults.
        if (!move.step.fault) edges_.push_back({to, at});
        if (move.after.broken == 0) continue;
        found.broken = move.after.broken;
        found.states = states_.size();
        found.story = story(to);
        return found;
      }
    }
    found.states = states_.size();
    found.whole = at == states_.size();
    if (found.whole) find_dead_ends(found);
    return found;
  }

 private:
  static constexpr std::size_t kFirstTable = 1 << 16;
  struct Origin {
    std::uint32_t from;
    Step step;
    bool swapped;  // the actors have changed places since
  };
  struct Edge {
    std::uint32_t to;
    std::uint32_t from;
  };

  static std::size_t hash(const State& state) {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&state), sizeof state});
  }

  // Slot of `state` in the table: its own, or the empty one for it.
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

  // Searches backwards from the end states.
  void find_dead_ends(Walked& found) {
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge& a, const Edge& b) { return a.to < b.to; });
    std::vector<bool> ends(states_.size());
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      if (!world_.ended(states_[i])) continue;
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
      if (found.dead_ends++ == 0) found.story = story(i);
    }
  }

  // The steps from the first state to `at`, with consistent names of the actors.
  [[nodiscard]] std::string story(std::uint32_t at) const {
    std::vector<Origin> path;
    for (; at != 0; at = origins_[at].from) path.push_back(origins_[at]);
    std::reverse(path.begin(), path.end());
    bool swapped = false;
    std::string text;
    for (const Origin& origin : path) {
      text += (origin.step.fault ? "  ! " : "    ") + world_.line(origin.step, swapped) + "\n";
      swapped ^= origin.swapped;
    }
    return text;
  }

  const World& world_;
  const std::size_t most_;
  std::vector<State> states_;
  std::vector<Origin> origins_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> table_;  // state + 1; 0 is empty
};

}  // namespace allot::model
