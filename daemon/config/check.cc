// SPDX-License-Identifier: Apache-2.0
// Rule: S27.
#include "config/check.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "config/hooks.h"
#include "config/rows.h"
#include "config/schedules.h"
#include "config/secret_file.h"
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

class Checker : Check {
 public:
  Checker(Settings& settings, Problems& problems) : Check(settings, problems) {}

  void run() {
    check_database(settings_, settings_.database, "database", problems_);
    check_wake();
    check_daemon();
    for (const Queue& queue : settings_.queues) {
      check_delays("queues." + queue.name, queue);
      check_placement(queue);
      check_hooks(queue);
    }
    for (const Type& type : settings_.types) {
      if (type.retry_delay_max.count() > 0) check_delays("types." + type.name, type);
    }
    if (settings_.queues.empty()) settings_.queues.emplace_back().name = "default";
    check_schedules(settings_, problems_);
    check_notices();
    check_metrics();
    check_gateway(settings_, problems_);
    if (settings_.pools.empty()) settings_.pools.emplace_back().name = "default";
    for (Pool& pool : settings_.pools) check_pool(pool);
    check_pool_limits();
    for (const auto& [name, section] : settings_.plugins.sections) check_secrets(name, section);
    warn_unserved();
  }

 private:
  void check_wake() {
    Wake& wake = settings_.wake;
    if (wake.password_file.empty()) return;
    const std::string path = "wake.password_file";
    if (wake.user.empty()) return warn(path, "[wake] password_file is not used without user");
    const int error = read_password(settings_, wake.password_file, wake.password);
    if (error != 0) {
      problem(path,
              "cannot read the password file " + wake.password_file + ": " + std::strerror(error));
    }
    const std::string shared = shared_secret("password", wake.password_file);
    if (!shared.empty()) warn(path, shared);
  }

  void check_daemon() {
    const Daemon& daemon = settings_.daemon;
    if (daemon.frozen_after < daemon.lease_ttl) return;
    problem(has("daemon.frozen_after") ? "daemon.frozen_after" : "daemon.lease_ttl",
            "[daemon] frozen_after is " + text_of(daemon.frozen_after) +
                " but must be below lease_ttl (" + text_of(daemon.lease_ttl) +
                "), else another host takes the lease of a frozen worker first");
  }

  template <typename Delays>
  void check_delays(const std::string& section, const Delays& in) {
    if (in.retry_delay <= in.retry_delay_max) return;
    const bool named = has(section + ".retry_delay");
    problem(section + (named ? ".retry_delay" : ".retry_delay_max"),
            "[" + section + "] retry_delay (" + text_of(in.retry_delay) +
                ") is more than retry_delay_max (" + text_of(in.retry_delay_max) + ")");
  }

  void check_placement(const Queue& queue) {
    const std::string section = "queues." + queue.name;
    if (queue.max_running > queue.partitions) {
      problem(section + ".max_running",
              "[" + section + "] max_running (" + std::to_string(queue.max_running) +
                  ") is more than partitions (" + std::to_string(queue.partitions) + ")");
    } else if (queue.placement != "limited" && has(section + ".max_running")) {
      warn(section + ".max_running",
           "[" + section + "] max_running is not used: the placement is " + queue.placement);
    }
  }

  void check_hooks(const Queue& queue) {
    const std::string section = "queues." + queue.name;
    for (const HookProblem& wrong : hook_problems(settings_, queue)) {
      problem(section + "." + wrong.key, "[" + section + "] " + wrong.key + " " + wrong.text);
    }
    if (queue.on_stuck.empty() && has(section + ".stuck_after")) {
      warn(section + ".stuck_after", "[" + section + "] stuck_after is not used without on_stuck");
    }
  }

  // The meaning of a plugin's keys is unknown here; a file under a key with the name of a secret is
  // checked.
  void check_secrets(const std::string& plugin, const PluginSection& section) {
    for (const auto& [key, value] : section) {
      const std::string word = key.substr(key.rfind('.') + 1);
      if (!names_a_secret(word) || !value.starts_with('/')) continue;
      const std::string text = shared_secret(word == "tls_key" ? "private key" : "secret", value);
      if (!text.empty()) warn("plugins." + plugin + "." + key, text);
    }
  }

  void check_notices() {
    const std::string& hook = settings_.notices.on_change;
    const std::string wrong = hook.empty() ? "" : hook_problem(settings_, hook);
    if (!wrong.empty()) problem("notices.on_change", "[notices] on_change " + wrong);
  }

  void check_metrics() {
    for (const std::string& type : settings_.metrics.types) {
      if (is_type_or_prefix(type)) continue;
      problem("metrics.types",
              "[metrics] types has \"" + type +
                  "\"; allowed are types, or prefixes such as shop.*, of at most " +
                  std::to_string(kMaxTypeName) + " bytes");
    }
  }

  void check_pool(Pool& pool) {
    if (pool.name == kStewardPool) {
      problem(
          "pools." + pool.name,
          "[pools." + pool.name +
              "] is reserved for the steward process of the daemon; give this pool another name");
    }
    check_memory(pool);
    check_cgroup(pool);
    std::vector<std::string_view> known;
    for (const Queue& queue : settings_.queues) known.emplace_back(queue.name);
    for (const std::string& name : pool.queues) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      problem("pools." + pool.name + ".queues", "[pools." + pool.name + "] serves queue '" + name +
                                                    "', but the file has no [queues." + name + "]" +
                                                    did_you_mean(name, known));
    }
    if (pool.fireworq) return check_fireworq(pool);
    if (pool.queues.empty()) {
      if (pool.strict) {
        problem("pools." + pool.name + ".strict",
                "[pools." + pool.name + "] strict needs queues, in order of importance");
      }
      pool.queues.assign(known.begin(), known.end());
      settings_.origins["pools." + pool.name + ".queues"] = "every queue";
    }
    check_weights(pool);
  }

  void check_fireworq(const Pool& pool) {
    const std::string section = "pools." + pool.name;
    const auto refuse = [&](const char* key, bool is_there) {
      if (!is_there) return;
      problem(section + "." + key,
              "[" + section + "] has both fireworq and " + key +
                  "; remove one: with fireworq its queues are created by requests");
    };
    refuse("queues", !pool.queues.empty());
    refuse("weights", !pool.weights.empty());
    refuse("strict", pool.strict);
    if (sends_jobs()) return;
    warn(section + ".fireworq",
         "[" + section +
             "] serves the queues of Fireworq's programs, but no plugin takes their jobs; write "
             "enabled = true into [plugins.http.fireworq]");
  }

  [[nodiscard]] bool sends_jobs() const {
    const auto http = settings_.plugins.sections.find("http");
    if (http == settings_.plugins.sections.end()) return false;
    const auto enabled = http->second.find("fireworq.enabled");
    return enabled != http->second.end() && enabled->second == "true";
  }

  void check_weights(const Pool& pool) {
    const std::string section = "pools." + pool.name;
    const std::string path = section + ".weights";
    if (pool.weights.empty()) return;
    if (pool.strict) {
      return problem(path, "[" + section + "] has both weights and strict; remove one");
    }
    const std::vector<std::string_view> served(pool.queues.begin(), pool.queues.end());
    for (const auto& [name, weight] : pool.weights) {
      if (std::find(served.begin(), served.end(), name) != served.end()) continue;
      problem(path, "[" + section + "] weights names queue '" + name +
                        "', which this pool does not serve" + did_you_mean(name, served));
    }
  }

  // Below this limit a worker could not even start, and would fail repeatedly.
  void check_memory(const Pool& pool) {
    const std::uint32_t least = kLeastMemory + kStackMemory * pool.concurrency;
    if (pool.memory_limit == 0 || pool.memory_limit >= least) return;
    problem("pools." + pool.name + ".memory_limit",
            "[pools." + pool.name + "] memory_limit is " + std::to_string(pool.memory_limit) +
                " MiB; with a concurrency of " + std::to_string(pool.concurrency) +
                " a worker needs " + std::to_string(least) + " for itself");
  }

  // A limit that cannot be applied must not appear to be in force.
  void check_cgroup(const Pool& pool) {
    const auto check = [&](const char* key, std::uint32_t value, std::uint32_t least,
                           const char* unit) {
      const std::string section = "pools." + pool.name;
      const std::string name = "[" + section + "] " + key;
      if (value == 0) return;
      if (!settings_.daemon.cgroup) {
        problem(section + "." + key, name + " needs [daemon] cgroup = true");
      } else if (value < least) {
        problem(section + "." + key, name + " is " + std::to_string(value) + unit +
                                         "; a worker needs " + std::to_string(least) +
                                         " for itself");
      }
    };
    check("cgroup_memory", pool.cgroup_memory, kLeastMemory, " MiB");
    check("cgroup_cpu", pool.cgroup_cpu, kLeastCpu, " percent");
  }

  // Reports the first pool that is too large.
  void check_pool_limits() {
    std::uint32_t pools = 0;
    std::uint32_t workers = 0;
    for (const Pool& pool : settings_.pools) {
      const bool fitted = pools <= kMaxPools && workers <= kMaxWorkers;
      pools += 1;
      workers += pool.size;
      const std::string section = "pools." + pool.name;
      if (fitted && pools > kMaxPools) {
        problem(section, "[" + section + "] is one pool too many; the limit is " +
                             std::to_string(kMaxPools));
      } else if (fitted && workers > kMaxWorkers) {
        problem(section, "[" + section + "] makes it " + std::to_string(workers) +
                             " workers in all pools; allowed are " + std::to_string(kMaxWorkers));
      }
    }
  }

  void warn_unserved() {
    for (const Queue& queue : settings_.queues) {
      if (is_served(settings_, queue.name) || !has("queues." + queue.name)) continue;
      warn("queues." + queue.name, "no pool of this daemon serves queue '" + queue.name + "'");
    }
  }
};

}  // namespace

void complete(Settings& settings, Problems& problems) {
  Checker(settings, problems).run();
}

}  // namespace allot::config
