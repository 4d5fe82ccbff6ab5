// SPDX-License-Identifier: Apache-2.0
// Rule: S27.
#include "config/check.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "config/rows.h"
#include "config/schedules.h"
#include "config/served.h"

namespace allot::config {
namespace {

// In MiB: memory of a worker with three threads before a handler runs, and the stack of each
// further thread.
constexpr std::uint32_t kLeastMemory = 64;
constexpr std::uint32_t kStackMemory = 8;

// In percent: the minimum with which the heartbeat still arrives in time.
constexpr std::uint32_t kLeastCpu = 5;

bool is_type_or_prefix(std::string_view word) {
  if (word.size() > kMaxTypeName) return false;
  if (word.ends_with(".*")) word.remove_suffix(2);
  return is_word(word, "._-");
}

// Describes the mistake in the value of a hook, as "is ..." or "names ..."; empty: none.
std::string hook_problem(const Settings& settings, const std::string& word) {
  if (word.empty()) return {};
  const auto target = hook_target(word);
  if (!target) return "is \"" + word + "\"; it names a queue and a type: \"ops/alert.dead\"";
  const Queue* queue = find_queue(settings, target->queue);
  if (queue == nullptr || queue->placement == "spread") return {};
  return "names queue '" + target->queue + "', whose placement is " + queue->placement +
         "; tasks of a hook have no partition_key, so it must be a spread queue";
}

class Checker {
 public:
  Checker(Settings& settings, Problems& problems) : settings_(settings), problems_(problems) {}

  void run() {
    check_database(settings_, settings_.database, "database", problems_);
    check_wake();
    check_daemon();
    for (const Queue& queue : settings_.queues) check_queue(queue, section("queues." + queue.name));
    for (const Type& type : settings_.types) {
      if (type.retry_delay_max.count() > 0) check_delays(type, section("types." + type.name));
    }
    if (settings_.queues.empty()) settings_.queues.emplace_back().name = "default";
    check_schedules(settings_, problems_);
    check_hook(section("notices"), "on_change", settings_.notices.on_change);
    check_metrics();
    check_gateway(settings_, problems_);
    if (settings_.pools.empty()) settings_.pools.emplace_back().name = "default";
    for (Pool& pool : settings_.pools) check_pool(pool, section("pools." + pool.name));
    check_pool_limits();
    for (const auto& [name, keys] : settings_.plugins.sections) check_secrets(name, keys);
    warn_unserved();
  }

 private:
  [[nodiscard]] Section section(const std::string& name) const {
    return {settings_, problems_, name};
  }

  void check_wake() {
    Wake& wake = settings_.wake;
    if (wake.password_file.empty()) return;
    const Section in = section("wake");
    const std::string key = "password_file";
    if (wake.user.empty()) return in.warn(key, "password_file is not used without user");
    in.read_password(key, "password file " + wake.password_file, wake.password_file, wake.password);
  }

  void check_daemon() {
    const Daemon& daemon = settings_.daemon;
    if (daemon.frozen_after < daemon.lease_ttl) return;
    const Section in = section("daemon");
    in.problem(in.has("frozen_after") ? "frozen_after" : "lease_ttl",
               "frozen_after is " + text_of(daemon.frozen_after) +
                   " but must be below lease_ttl (" + text_of(daemon.lease_ttl) +
                   "), else another host takes the lease of a frozen worker first");
  }

  void check_queue(const Queue& queue, const Section& in) {
    check_delays(queue, in);
    if (queue.max_running > queue.partitions) {
      in.problem("max_running", "max_running (" + std::to_string(queue.max_running) +
                                    ") is more than partitions (" +
                                    std::to_string(queue.partitions) + ")");
    } else if (queue.placement != "limited" && in.has("max_running")) {
      in.warn("max_running", "max_running is not used: the placement is " + queue.placement);
    }
    check_hook(in, "on_dead", queue.on_dead);
    check_hook(in, "on_stuck", queue.on_stuck);
    const auto stuck = hook_target(queue.on_stuck);
    if (stuck && stuck->queue == queue.name) {
      in.problem("on_stuck",
                 "on_stuck names its own queue; the hook would not run while this queue is stuck");
    }
    if (queue.on_stuck.empty() && in.has("stuck_after")) {
      in.warn("stuck_after", "stuck_after is not used without on_stuck");
    }
  }

  template <typename Delays>
  void check_delays(const Delays& delays, const Section& in) {
    if (delays.retry_delay <= delays.retry_delay_max) return;
    in.problem(in.has("retry_delay") ? "retry_delay" : "retry_delay_max",
               "retry_delay (" + text_of(delays.retry_delay) + ") is more than retry_delay_max (" +
                   text_of(delays.retry_delay_max) + ")");
  }

  void check_hook(const Section& in, const std::string& key, const std::string& word) {
    const std::string wrong = hook_problem(settings_, word);
    if (!wrong.empty()) in.problem(key, key + " " + wrong);
  }

  // The meaning of a plugin's keys is unknown here; a file under a key with the name of a secret is
  // checked.
  void check_secrets(const std::string& plugin, const PluginSection& keys) {
    const Section in = section("plugins." + plugin);
    for (const auto& [key, value] : keys) {
      const std::string word = key.substr(key.rfind('.') + 1);
      if (!names_a_secret(word) || !value.starts_with('/')) continue;
      in.warn_if_shared(key, word == "tls_key" ? "private key" : "secret", value);
    }
  }

  void check_metrics() {
    for (const std::string& type : settings_.metrics.types) {
      if (is_type_or_prefix(type)) continue;
      section("metrics").problem(
          "types", "types has \"" + type +
                       "\"; allowed are types, or prefixes such as shop.*, of at most " +
                       std::to_string(kMaxTypeName) + " bytes");
    }
  }

  void check_pool(Pool& pool, const Section& in) {
    if (pool.name == kStewardPool) {
      in.problem("",
                 "is reserved for the steward process of the daemon; give this pool another name");
    }
    check_memory(pool, in);
    check_cgroup("cgroup_memory", pool.cgroup_memory, kLeastMemory, " MiB", in);
    check_cgroup("cgroup_cpu", pool.cgroup_cpu, kLeastCpu, " percent", in);
    std::vector<std::string_view> known;
    for (const Queue& queue : settings_.queues) known.emplace_back(queue.name);
    for (const std::string& name : pool.queues) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      in.problem("queues", "serves queue '" + name + "', but the file has no [queues." + name +
                               "]" + did_you_mean(name, known));
    }
    if (pool.fireworq) return check_fireworq(pool, in);
    if (pool.queues.empty()) {
      if (pool.strict) in.problem("strict", "strict needs queues, in order of importance");
      pool.queues.assign(known.begin(), known.end());
      settings_.origins["pools." + pool.name + ".queues"] = "every queue";
    }
    check_weights(pool, in);
  }

  void check_fireworq(const Pool& pool, const Section& in) {
    for (const auto& [key, given] : {std::pair{"queues", !pool.queues.empty()},
                                     {"weights", !pool.weights.empty()},
                                     {"strict", pool.strict}}) {
      if (!given) continue;
      in.problem(key, std::string("has both fireworq and ") + key +
                          "; remove one: with fireworq its queues are created by requests");
    }
    if (sends_jobs()) return;
    in.warn("fireworq",
            "serves the queues of Fireworq's programs, but no plugin takes their jobs; write "
            "enabled = true into [plugins.http.fireworq]");
  }

  [[nodiscard]] bool sends_jobs() const {
    const auto http = settings_.plugins.sections.find("http");
    if (http == settings_.plugins.sections.end()) return false;
    const auto enabled = http->second.find("fireworq.enabled");
    return enabled != http->second.end() && enabled->second == "true";
  }

  void check_weights(const Pool& pool, const Section& in) {
    if (pool.weights.empty()) return;
    if (pool.strict) return in.problem("weights", "has both weights and strict; remove one");
    const std::vector<std::string_view> served(pool.queues.begin(), pool.queues.end());
    for (const auto& [name, weight] : pool.weights) {
      if (std::find(served.begin(), served.end(), name) != served.end()) continue;
      in.problem("weights", "weights names queue '" + name + "', which this pool does not serve" +
                                did_you_mean(name, served));
    }
  }

  // Below this limit a worker could not even start, and would fail repeatedly.
  static void check_memory(const Pool& pool, const Section& in) {
    const std::uint32_t least = kLeastMemory + kStackMemory * pool.concurrency;
    if (pool.memory_limit == 0 || pool.memory_limit >= least) return;
    in.problem("memory_limit", "memory_limit is " + std::to_string(pool.memory_limit) +
                                   " MiB; with a concurrency of " +
                                   std::to_string(pool.concurrency) + " a worker needs " +
                                   std::to_string(least) + " for itself");
  }

  // A limit that cannot be applied must not appear to be in force.
  void check_cgroup(const std::string& key, std::uint32_t value, std::uint32_t least,
                    const char* unit, const Section& in) {
    if (value == 0) return;
    if (!settings_.daemon.cgroup) {
      in.problem(key, key + " needs [daemon] cgroup = true");
    } else if (value < least) {
      in.problem(key, key + " is " + std::to_string(value) + unit + "; a worker needs " +
                          std::to_string(least) + " for itself");
    }
  }

  // Reports the first pool that is too large.
  void check_pool_limits() {
    std::uint32_t pools = 0;
    std::uint32_t workers = 0;
    for (const Pool& pool : settings_.pools) {
      const bool fitted = pools <= kMaxPools && workers <= kMaxWorkers;
      pools += 1;
      workers += pool.size;
      const Section in = section("pools." + pool.name);
      if (fitted && pools > kMaxPools) {
        in.problem("", "is one pool too many; the limit is " + std::to_string(kMaxPools));
      } else if (fitted && workers > kMaxWorkers) {
        in.problem("", "makes it " + std::to_string(workers) +
                           " workers in all pools; allowed are " + std::to_string(kMaxWorkers));
      }
    }
  }

  void warn_unserved() {
    for (const Queue& queue : settings_.queues) {
      const Section in = section("queues." + queue.name);
      if (is_served(settings_, queue.name) || !in.has("")) continue;
      in.plain_warning("", "no pool of this daemon serves queue '" + queue.name + "'");
    }
  }

  Settings& settings_;
  Problems& problems_;
};

}  // namespace

void complete(Settings& settings, Problems& problems) {
  Checker(settings, problems).run();
}

}  // namespace allot::config
