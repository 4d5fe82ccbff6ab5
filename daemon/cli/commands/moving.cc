// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/moving.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "base/error.h"
#include "cli/sources/far.h"
#include "cli/sources/ring_local.h"
#include "cli/words/terminal.h"

namespace allot::cli {
namespace {

using nlohmann::json;

using std::chrono::steady_clock;

// Maximum wait for a leased partition: workers release it after block_seconds.
constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kPause = std::chrono::milliseconds(10);

class Move {
 public:
  Move(db::Connection& db, const config::Settings& settings, const queue::QueueInfo& from,
       const queue::QueueInfo& to, const Candidates& chosen, std::uint32_t rate)
      : db_(db),
        mover_(queue::make_holder(settings.daemon.instance, config::runtime_dir(settings)), from),
        to_(to),
        rate_(rate),
        progress_(chosen.tasks) {
    // Even a few tasks are spread over several partitions (S18).
    const std::uint64_t share = chosen.tasks / std::max(1U, to.partitions()) + 1;
    const std::uint64_t a_tenth = rate == 0 ? queue::kMoveBatch : std::max(1U, rate / 10);
    batch_ = std::min<std::uint64_t>({share, a_tenth, queue::kMoveBatch});
  }

  // Moves all tasks of one partition; stops if its holder does not release it.
  void run(std::span<const queue::Waiting> tasks) {
    while (!tasks.empty()) {
      const auto some = tasks.first(std::min<std::size_t>(batch_, tasks.size()));
      std::this_thread::sleep_until(next_);
      const auto moved = patiently(some);
      if (!moved) {
        leased_ += tasks.size();
        return;
      }
      moved_ += *moved;
      gone_ += some.size() - *moved;
      progress_.show(moved_ + gone_ + leased_, moved_);
      if (rate_ > 0) next_ += std::chrono::nanoseconds(1'000'000'000ULL * some.size() / rate_);
      tasks = tasks.subspan(some.size());
    }
  }

  // Call before another line is written.
  void end() { progress_.wipe(); }

  [[nodiscard]] std::uint64_t moved() const { return moved_; }
  [[nodiscard]] std::uint64_t leased() const { return leased_; }
  [[nodiscard]] std::uint64_t gone() const { return gone_; }

 private:
  std::optional<std::uint64_t> patiently(std::span<const queue::Waiting> tasks) {
    const queue::Partition to{to_.queue_id, turn_++ % to_.partitions()};
    const auto until = steady_clock::now() + kPatience;
    for (;;) {
      const auto moved = mover_.move(db_, tasks, to);
      if (moved || steady_clock::now() >= until) return moved;
      std::this_thread::sleep_for(kPause);
    }
  }

  db::Connection& db_;
  queue::Mover mover_;
  const queue::QueueInfo& to_;
  std::uint32_t rate_;
  Progress progress_;
  std::uint64_t batch_ = 1;
  std::uint32_t turn_ = 0;
  steady_clock::time_point next_ = steady_clock::now();
  std::uint64_t moved_ = 0;
  std::uint64_t leased_ = 0;
  std::uint64_t gone_ = 0;
};

// "2 tasks stay".
std::string stay_text(std::uint64_t tasks) {
  return waiting_text(tasks) + (tasks == 1 ? " stays" : " stay");
}

}  // namespace

// Waiting tasks would run concurrently with new ones of the same keys (S16).
void require_spread(const queue::QueueInfo& queue) {
  if (queue.alone()) {
    throw Error("queue '" + queue.name + "' is " +
                    std::string(queue::name_of(queue.shape.placement)) +
                    ": its tasks cannot be moved; create another queue, submit to it, and let this "
                    "one run empty",
                kExitBadInput);
  }
  if (queue.shape.placement == queue::Placement::kSpread) return;
  throw Error(
      "queue '" + queue.name + "' is fair: its tasks belong to the partitions of their keys",
      kExitBadInput);
}

Candidates choose(db::Connection& db, const queue::QueueInfo& from,
                  const std::function<bool(const std::string& type)>& takes) {
  Candidates chosen;
  queue::each_waiting(db, from, [&](const queue::Waiting& task) {
    if (!takes(task.type)) return true;
    if (task.unique) {
      ++chosen.unique;
    } else {
      chosen.partitions[task.partition].push_back(task);
      ++chosen.tasks;
    }
    return true;
  });
  return chosen;
}

Moved move_chosen(db::Connection& db, const config::Settings& settings,
                  const queue::QueueInfo& from, const queue::QueueInfo& to,
                  const Candidates& chosen, std::uint32_t rate) {
  Move move(db, settings, from, to, chosen, rate);
  for (const auto& [partition, tasks] : chosen.partitions) move.run(tasks);
  move.end();
  ring_local(settings, {{to.queue_id, move.moved()}});
  return {move.moved(), move.gone(), move.leased(), chosen.unique};
}

void Moved::then(const Moved& later) {
  moved += later.moved;
  gone += later.gone;
  leased = later.leased;
  unique = later.unique;
}

Moved move_far(const remote::Session& gateway, const std::string& from, const std::string& to,
               const std::string& type) {
  const auto number = [](const json& page, const char* name) {
    return page.at(name).get<std::uint64_t>();
  };
  json body{{"to", to}};
  if (!type.empty()) body["type"] = type;
  Moved all;
  for (;;) {
    const json page = gateway.post(far::queue_path(from, "/move"), body);
    all.moved += number(page, "moved");
    all.gone += number(page, "gone");
    all.leased += number(page, "leased");
    all.unique += number(page, "unique");
    if (page.at("next").is_null()) return all;
    body["cursor"] = page.at("next");
  }
}

void add_moved(json& told, const Moved& moved) {
  told["moved"] = moved.moved;
  told["gone"] = moved.gone;
  told["leased"] = moved.leased;
  told["unique"] = moved.unique;
}

std::string waiting_text(std::uint64_t tasks) {
  return std::to_string(tasks) + " task" + (tasks == 1 ? "" : "s");
}

void print_moved(const Moved& moved) {
  std::printf("moved %s\n", waiting_text(moved.moved).c_str());
  if (moved.gone > 0) {
    std::printf("%s ran in the meantime, or started\n", waiting_text(moved.gone).c_str());
  }
  if (moved.unique > 0) {
    std::printf("%s: a unique key belongs to its queue\n", stay_text(moved.unique).c_str());
  }
}

int end_of_move(const Moved& moved) {
  if (moved.leased == 0) return kExitOk;
  std::fprintf(stderr, "%s %s: workers have the partitions; pause the queue, or try again\n",
               error_head().c_str(), stay_text(moved.leased).c_str());
  return kExitFailure;
}

}  // namespace allot::cli
