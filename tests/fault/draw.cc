// SPDX-License-Identifier: Apache-2.0
#include "fault/draw.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "fault/dice.h"
#include "fault/tags.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;

constexpr std::array<const char*, kFeatures> kFeatureNames{
    "ordered",     "limited",      "fair",     "exclusive", "history",      "on_dead",   "on_stuck",
    "unique",      "expiry",       "priority", "delay",     "retry_delays", "replace",   "effects",
    "checkpoint",  "snooze",       "hold",     "crash",     "hang",         "long",      "detach",
    "concurrency", "batch",        "compress", "ttls",      "second_pool",  "max_tasks", "max_age",
    "max_memory",  "small_blocks", "two_files"};
constexpr std::array<const char*, kActs + 1> kActNames{
    "reload",         "reload_bad", "edit",         "resize",  "move",  "pause", "cancel",
    "cancel_as_done", "retry_dead", "discard_dead", "upgrade", "drain", "route"};

// Features of every crowd, and features that would only make it slower or smaller.
constexpr std::array kOfACrowd{Feature::kPriority, Feature::kCrash, Feature::kConcurrency};
constexpr std::array kNotOfACrowd{Feature::kOrdered,    Feature::kLimited,  Feature::kExclusive,
                                  Feature::kHold,       Feature::kHang,     Feature::kLong,
                                  Feature::kBatch,      Feature::kMaxTasks, Feature::kMaxAge,
                                  Feature::kMaxMemory,  Feature::kUnique,   Feature::kTtls,
                                  Feature::kSmallBlocks};

// Number of the second dice, added later: with this number the seeds of README.md's table still
// give the same draws.
constexpr std::uint64_t kSecondDice = 24;
// Number of the third dice, for the same reason.
constexpr std::uint64_t kThirdDice = 18;
constexpr std::uint64_t kFourthDice = 13;

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}
std::string ms(std::uint64_t count) {
  return quoted(std::to_string(count) + "ms");
}

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed)
      : dice_(seed * 6364136223846793005ULL + 1),
        more_dice_(seed * 6364136223846793005ULL + kSecondDice),
        third_dice_(seed * 6364136223846793005ULL + kThirdDice),
        fourth_dice_(seed * 6364136223846793005ULL + kFourthDice) {
    draw_.seed = seed;
  }

  Draw draw() {
    if (more_dice_.one_of(8)) draw_.load = Load::kCrowd;
    choose_features();
    choose_actions();
    make_queues();
    choose_numbers();
    make_hosts();
    choose_verbs();
    choose_faults();
    choose_more();
    choose_ways();
    draw_.tls = fourth_dice_.one_of(3);
    return std::move(draw_);
  }

 private:
  [[nodiscard]] bool on(Feature feature) const { return draw_.has(feature); }
  [[nodiscard]] bool crowd() const { return draw_.load == Load::kCrowd; }

  // A draw has few features or many, so that pairs also occur alone.
  void choose_features() {
    const std::uint64_t of = 2 + dice_.below(4);
    for (std::size_t i = 0; i < kFeatures; ++i) {
      if (dice_.one_of(of)) draw_.features.insert(static_cast<Feature>(i));
    }
    if (!crowd()) return;
    for (const Feature feature : kNotOfACrowd) draw_.features.erase(feature);
    draw_.features.insert(kOfACrowd.begin(), kOfACrowd.end());
  }

  void choose_actions() {
    if (crowd() && !dice_.one_of(4)) return;
    const std::uint64_t of = 2 + dice_.below(5);
    for (std::size_t i = 0; i < kActs; ++i) {
      if (dice_.one_of(of)) add_action(static_cast<Act>(i));
    }
    // Dead tasks are revived, and held ones removed, only by an operator.
    if (on(Feature::kHold) && !draw_.does(Act::kCancel)) add_action(Act::kCancel);
    std::sort(draw_.actions.begin(), draw_.actions.end(),
              [](const Action& a, const Action& b) { return a.at < b.at; });
  }
  void add_action(Act act) {
    for (std::uint64_t i = 1 + dice_.below(3); i > 0; --i) {
      draw_.actions.push_back(
          {dice_.between(300, 5'500), act, dice_.any(), dice_.between(300, 2'000)});
    }
  }

  void make_queues() {
    add_queue("default", "spread");
    if (draw_.does(Act::kMove)) add_queue("other", "spread");
    if (on(Feature::kOrdered)) add_queue("ordered", "ordered");
    if (on(Feature::kLimited)) add_queue("limited", "limited");
    if (on(Feature::kFair)) add_queue("fair", "fair");
    if (on(Feature::kExclusive)) add_queue("exclusive", "spread");
    if (on(Feature::kOnDead) || on(Feature::kOnStuck)) add_queue("hooks", "spread");
  }

  void add_queue(const std::string& name, const std::string& placement) {
    QueuePlan queue;
    queue.name = name;
    queue.placement = placement;
    queue.exclusive = placement == "ordered" || placement == "limited" || name == "exclusive";
    if (placement == "ordered") queue.max_running = 1;
    if (placement == "limited") queue.max_running = static_cast<unsigned>(1 + dice_.below(3));
    const unsigned partitions = dice_.of(std::vector{1U, 2U, 4U, 8U});
    queue.keys = {{"placement", quoted(placement)},
                  {"partitions", std::to_string(std::max(partitions, queue.max_running))}};
    if (placement == "limited") {
      queue.keys.emplace_back("max_running", std::to_string(queue.max_running));
    }
    if (name == "exclusive") queue.keys.emplace_back("exclusive", "true");
    if (name != "hooks") add_options(queue);
    draw_.queues.push_back(std::move(queue));
  }

  void add_options(QueuePlan& queue) {
    Keys& keys = queue.keys;
    queue.history = on(Feature::kHistory) && !dice_.one_of(3);
    if (queue.history) keys.emplace_back("history", quoted("3h"));
    queue.on_dead = on(Feature::kOnDead) && !dice_.one_of(3);
    if (queue.on_dead) keys.emplace_back("on_dead", quoted("hooks/swarm.hook"));
    if (on(Feature::kOnStuck)) {
      keys.emplace_back("on_stuck", quoted("hooks/swarm.hook"));
      keys.emplace_back("stuck_after", quoted("1s"));
    }
    if (on(Feature::kCompress)) keys.emplace_back("compress_above", "100");
    if (on(Feature::kRetryDelays)) {
      keys.emplace_back("retry_delays", "[" + ms(dice_.below(50)) + ", " + ms(300) + "]");
    } else {
      keys.emplace_back("retry_delay", ms(dice_.below(100)));
      keys.emplace_back("retry_delay_max", ms(200));
    }
    if (on(Feature::kDetach) && !queue.exclusive)
      keys.emplace_back("detach_after", ms(dice_.of(std::vector{50U, 200U, 1'000U})));
    else if (!dice_.one_of(3))
      keys.emplace_back("detach_after", quoted("0s"));
  }

  void choose_numbers() {
    draw_.max_attempts = static_cast<unsigned>(3 + dice_.below(4));
    draw_.cancel_grace = dice_.between(200, 1'000);
    // A worker for each task or for each second, and tasks of several seconds, are slow; a draw
    // should be short.
    const auto any = [this](std::initializer_list<Feature> features) {
      return std::any_of(features.begin(), features.end(), [this](Feature one) { return on(one); });
    };
    draw_.per_second = dice_.of(std::vector{10U, 40U, 120U, 200U});
    if (any({Feature::kLong, Feature::kHang, Feature::kCrash, Feature::kHold}))
      draw_.per_second = std::min<std::uint64_t>(draw_.per_second, 30);
    if (any({Feature::kMaxTasks, Feature::kMaxAge, Feature::kMaxMemory}))
      draw_.per_second = std::min<std::uint64_t>(draw_.per_second, 8);
    if (crowd()) draw_.per_second = 600;
    draw_.keys = static_cast<unsigned>(1 + dice_.below(6));
    for (QueuePlan& queue : draw_.queues) {
      queue.keys.emplace_back("max_attempts", std::to_string(draw_.max_attempts));
      queue.keys.emplace_back("cancel_grace",
                              ms(static_cast<std::uint64_t>(draw_.cancel_grace.count())));
    }
  }

  void make_hosts() {
    Keys queue_keys = blocks();
    for (unsigned i = 0; i < 2; ++i) {
      HostPlan host;
      if (on(Feature::kTtls))
        host.ttl = milliseconds(dice_.of(std::vector{1'000, 1'500, 2'000, 4'000, 12'000, 30'000}));
      if (i != 0 && on(Feature::kTwoFiles)) queue_keys = blocks();
      host.queue_keys = queue_keys;
      host.pools.push_back(pool("default", i == 0 || crowd()));
      draw_.hosts.push_back(std::move(host));
    }
    if (!on(Feature::kSecondPool)) return;
    PoolPlan second = pool("second", true);
    for (const QueuePlan& queue : draw_.queues) {
      if (dice_.one_of(2)) second.queues.push_back(queue.name);
    }
    if (second.queues.empty()) second.queues.push_back(draw_.queues.back().name);
    draw_.hosts.back().pools.push_back(std::move(second));
  }

  Keys blocks() {
    const bool small = on(Feature::kSmallBlocks);
    if (crowd()) return {{"block_size", std::to_string(8 + dice_.below(9))}};
    return {{"block_size", std::to_string(small ? 1 + dice_.below(4) : 20 + dice_.below(81))},
            {"block_seconds", ms(dice_.of(std::vector{10U, 200U, 1'000U, 3'000U}))}};
  }

  PoolPlan pool(const std::string& name, bool concurrent) {
    PoolPlan pool;
    pool.name = name;
    pool.size = static_cast<unsigned>(1 + dice_.below(3));
    if (concurrent && on(Feature::kConcurrency))
      pool.keys.emplace_back("concurrency",
                             std::to_string(crowd() ? 8 + dice_.below(9) : 2 + dice_.below(7)));
    if (on(Feature::kMaxTasks))
      pool.keys.emplace_back("max_tasks", std::to_string(dice_.of(std::vector{1, 7, 30})));
    if (on(Feature::kMaxAge)) pool.keys.emplace_back("max_age", quoted("1s"));
    if (on(Feature::kMaxMemory))
      pool.keys.emplace_back("max_memory", std::to_string(dice_.of(std::vector{1, 12, 100})));
    return pool;
  }

  void choose_verbs() {
    auto& verbs = draw_.verbs;
    verbs = {{"ok", 60}, {"retry", 3}, {"soon", 3}, {"throw", 2}, {"fail", 2}};
    if (crowd()) {
      verbs = {{"tick", 300}, {"retry", 3}, {"crash", 3}};
      return;
    }
    const auto add = [&](Feature feature, const char* verb, unsigned weight) {
      if (on(feature)) verbs[verb] = weight;
    };
    add(Feature::kReplace, "replace", 4);
    add(Feature::kEffects, "effect", 6);
    if (on(Feature::kReplace)) add(Feature::kEffects, "both", 3);
    add(Feature::kCheckpoint, "keep", 5);
    add(Feature::kSnooze, "snooze", 5);
    add(Feature::kSnooze, "release", 5);
    add(Feature::kHold, "hold", 2);
    // Usually they are rare; otherwise many tasks run with care.
    const unsigned crashes = dice_.one_of(3) ? 6 : 1;
    add(Feature::kCrash, "crash", crashes);
    if (dice_.one_of(2)) add(Feature::kCrash, "poison", 1);
    add(Feature::kHang, "hang", 1);
    add(Feature::kLong, "long", 1);
  }

  // Four in ten have none: there nothing is excused by a fault.
  void choose_faults() {
    draw_.faults = {};
    const std::uint64_t dice = dice_.below(10);
    if (dice < 4 || crowd()) return;
    if (dice < 6) {
      draw_.faults = only(Kind::kKillWorker);
    } else {
      for (std::uint64_t i = 1 + dice_.below(4); i > 0; --i) {
        const auto kind = static_cast<std::size_t>(dice_.below(kCampaignKinds));
        draw_.faults.at(kind) = std::max(1U, kAllKinds.at(kind));
      }
    }
    const auto fill_disk = static_cast<std::size_t>(Kind::kFillDisk);
    if (!dice_.one_of(4)) draw_.faults.at(fill_disk) = 0;
    // A daemon that restarts reads the file, which must be valid then.
    if (draw_.does(Act::kReloadBad) || draw_.does(Act::kEdit)) {
      draw_.faults.at(static_cast<std::size_t>(Kind::kKillDaemon)) = 0;
      draw_.faults.at(static_cast<std::size_t>(Kind::kKillHost)) = 0;
    }
    const milliseconds pause = dice_.between(100, 1'000);
    draw_.events = make_schedule(dice_.any(), draw_.length, pause, draw_.faults);
  }

  void choose_more() {
    draw_.binlog = more_dice_.one_of(4);
    // Expiry depends on the clock alone.
    const bool clock = more_dice_.one_of(6) && !on(Feature::kExpiry);
    // A starting daemon needs space.
    const bool runtime = more_dice_.one_of(6) && !draw_.suffers(Kind::kKillDaemon) &&
                         !draw_.suffers(Kind::kKillHost);
    if (crowd()) return;
    if (clock) add_faults(Kind::kClockStep);
    if (runtime) add_faults(Kind::kFillRuntime);
    std::stable_sort(draw_.events.begin(), draw_.events.end(),
                     [](const Event& a, const Event& b) { return a.at < b.at; });
    draw_.schedule = more_dice_.one_of(3);
  }
  void add_faults(Kind kind) {
    draw_.faults.at(static_cast<std::size_t>(kind)) = 1;
    for (std::uint64_t i = 1 + more_dice_.below(3); i > 0; --i) {
      Event event;
      event.at = more_dice_.between(300, 5'500);
      event.kind = kind;
      event.pick = more_dice_.any();
      event.length = more_dice_.between(50, 3'500);
      draw_.events.push_back(event);
    }
  }

  // Chooses routes, a rate, shares.
  void choose_ways() {
    const bool route = third_dice_.one_of(2);
    const bool rate = third_dice_.one_of(4);
    const bool shares = third_dice_.one_of(4);
    if (crowd()) return;
    // Two queues may have a task of the same unique key each.
    if (route && !on(Feature::kUnique)) add_routes();
    // A clock set ahead fills the buckets each time.
    if (rate && !draw_.suffers(Kind::kClockStep)) {
      draw_.rate = {third_dice_.of(std::vector{2U, 5U, 10U}), third_dice_.of(std::vector{1U, 5U})};
    }
    if (shares) add_shares();
  }
  void add_routes() {
    QueuePlan aside = draw_.queues.front();
    aside.name = kAside;
    const bool hooks = draw_.queues.back().name == "hooks";  // it stays the last one
    draw_.queues.insert(draw_.queues.end() - (hooks ? 1 : 0), std::move(aside));
    for (std::uint64_t i = 1 + third_dice_.below(3); i > 0; --i) {
      draw_.routes.push_back({third_dice_.between(300, 4'500), Act::kRoute, third_dice_.any(),
                              third_dice_.between(300, 2'000)});
    }
  }
  void add_shares() {
    const bool strict = third_dice_.one_of(2);
    for (HostPlan& host : draw_.hosts) {
      PoolPlan& pool = host.pools.front();
      std::string weights;
      for (const QueuePlan& queue : draw_.queues) {
        pool.queues.push_back(queue.name);
        weights += (weights.empty() ? "" : ", ") + queue.name + " = " +
                   std::to_string(1 + third_dice_.below(4));
      }
      if (draw_.schedule) pool.queues.emplace_back(kTicks);
      pool.keys.emplace_back(strict ? "strict" : "weights",
                             strict ? "true" : "{ " + weights + " }");
    }
  }

  Dice dice_;
  Dice more_dice_;    // for later features, so that earlier seeds draw the same
  Dice third_dice_;   // for features added after that
  Dice fourth_dice_;  // for TLS, added last
  Draw draw_;
};

void print(std::ostream& out, const Keys& keys) {
  for (const auto& [key, value] : keys) out << " " << key << "=" << value;
}

}  // namespace

const char* name_of(Feature feature) {
  return kFeatureNames.at(static_cast<std::size_t>(feature));
}

const char* name_of(Act act) {
  return kActNames.at(static_cast<std::size_t>(act));
}

bool Draw::does(Act act) const {
  return std::any_of(actions.begin(), actions.end(),
                     [act](const Action& action) { return action.act == act; });
}

milliseconds Draw::longest_ttl() const {
  milliseconds longest(0);
  for (const HostPlan& host : hosts) longest = std::max(longest, host.ttl);
  return longest;
}

milliseconds Draw::longest_block() const {
  milliseconds longest(0);
  for (const HostPlan& host : hosts) {
    for (const auto& [key, value] : host.queue_keys) {
      if (key == "block_seconds")
        longest = std::max(longest, milliseconds(std::stol(value.substr(1))));
    }
  }
  return longest;
}

unsigned Draw::at_once() const {
  if (load == Load::kCrowd) return 16;
  return has(Feature::kConcurrency) || has(Feature::kBatch) ? 8 : 1;
}

Draw make_draw(std::uint64_t seed) {
  return Drawer(seed).draw();
}

std::string text_of(const Draw& draw) {
  std::ostringstream out;
  out << "draw " << draw.seed << ": max_attempts=" << draw.max_attempts
      << " cancel_grace=" << draw.cancel_grace.count() << "ms, " << draw.per_second
      << " tasks/s of each submitter, " << draw.keys << " keys"
      << (draw.load == Load::kCrowd ? ", a crowd" : "") << (draw.binlog ? ", a binary log" : "")
      << (draw.tls ? ", TLS" : "") << (draw.schedule ? ", a schedule" : "");
  if (draw.rate.per_second != 0)
    out << ", " << draw.rate.per_second << " starts/s of " << draw.queues.front().name
        << " and a burst of " << draw.rate.burst;
  out << "\n  features:";
  for (const Feature feature : draw.features) out << " " << name_of(feature);
  for (const QueuePlan& queue : draw.queues) {
    out << "\n  queue " << queue.name << ":";
    print(out, queue.keys);
  }
  for (const HostPlan& host : draw.hosts) {
    out << "\n  host: lease_ttl=" << host.ttl.count() << "ms";
    print(out, host.queue_keys);
    for (const PoolPlan& pool : host.pools) {
      out << "; pool " << pool.name << " of " << pool.size;
      print(out, pool.keys);
      for (const std::string& queue : pool.queues) out << " " << queue;
    }
  }
  out << "\n  tasks:";
  for (const auto& [verb, weight] : draw.verbs) out << " " << verb << ":" << weight;
  out << "\n  actions:";
  for (const Action& action : draw.actions)
    out << " " << name_of(action.act) << "@" << action.at.count();
  for (const Action& route : draw.routes)
    out << " " << name_of(route.act) << "@" << route.at.count() << "-"
        << (route.at + route.length).count();
  out << "\n  faults:";
  for (const Event& event : draw.events) out << " " << name_of(event) << "@" << event.at.count();
  if (draw.events.empty()) out << " none";
  out << "\n";
  return out.str();
}

}  // namespace allot::fault
