// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup_limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/posix.h"
#include "base/unique_fd.h"
#include "log/log.h"

namespace allot::process {
namespace {

constexpr const char* kLeaf = "allot-daemon";
constexpr const char* kControl = ".control";  // systemd runs the check of a reload there
constexpr const char* kMemory = "memory";
constexpr const char* kCpu = "cpu";

// allotd may start a process while the others are moved.
constexpr int kMoves = 100;

std::vector<std::string> words_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istream_iterator<std::string>(file), {}};
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> all_but(const std::vector<std::string>& words,
                                 const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  std::copy_if(words.begin(), words.end(), std::back_inserter(rest),
               [&](const std::string& word) { return !has(others, word); });
  return rest;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error("the limits of pools (cgroup_memory, cgroup_cpu) cannot be set: " + what +
                  "; under systemd give the service Delegate=cpu memory and "
                  "ProtectControlGroups=no (systemctl edit allotd), elsewhere start allotd in its "
                  "own cgroup with these controllers; or remove the limits",
              kExitConfig);
}

// 0 if the process is gone.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream rest(text.substr(std::min(text.rfind(')'), text.size() - 1) + 1));
  std::string state;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

bool belongs_to(pid_t pid, pid_t daemon) {
  while (pid > 1 && pid != daemon) pid = parent_of(pid);
  return pid == daemon;
}

// Moves the processes of allotd out of `base`. Returns the reason if there are others.
std::string move_to_leaf(const std::string& base, pid_t daemon) {
  const std::string leaf = cgroup_leaf(base);
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) {
    return "cannot make " + leaf + ": " + std::strerror(errno);
  }
  for (int i = 0; i < kMoves; ++i) {
    const std::vector<std::string> pids = words_of(base + "/cgroup.procs");
    if (pids.empty()) return {};
    for (const std::string& pid : pids) {
      if (!belongs_to(std::stoi(pid), daemon)) {
        // It may have ended by now.
        if (::access(("/proc/" + pid).c_str(), F_OK) != 0) continue;
        return base + " has a process that is not allotd's (pid " + pid + ")";
      }
      if (!write_cgroup(leaf + "/cgroup.procs", pid) && errno != ESRCH) {
        return "cannot move pid " + pid + " into " + leaf + ": " + std::strerror(errno);
      }
    }
  }
  return "processes stay in " + base;
}

// Returns the reason if it cannot.
std::string enable(const std::string& base, const std::vector<std::string>& controllers,
                   pid_t daemon) {
  // The root of all cgroups has no type; it may share out controllers and have processes.
  if (::access((base + "/cgroup.type").c_str(), F_OK) == 0) {
    if (std::string why = move_to_leaf(base, daemon); !why.empty()) return why;
  }
  std::string text;
  for (const std::string& one : controllers) text += (text.empty() ? "+" : " +") + one;
  const std::string file = base + "/cgroup.subtree_control";
  if (write_cgroup(file, text)) return {};
  return "cannot write '" + text + "' to " + file + ": " + std::strerror(errno);
}

void set(const std::string& file, const std::string& value, bool needed) {
  if (write_cgroup(file, value) || !needed) return;
  const int error = errno;
  refuse("cannot write '" + value + "' to " + file + ": " + std::strerror(error));
}

// The number after its word in a file of such lines.
std::uint64_t count_of(const std::string& file, const std::string& word) {
  const std::vector<std::string> words = words_of(file);
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end() || std::next(at) == words.end()) return 0;
  return std::strtoull(std::next(at)->c_str(), nullptr, 10);
}

}  // namespace

bool write_cgroup(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() && write_all(file.get(), text.data(), text.size());
}

std::string cgroup_base(const std::string& own) {
  for (const char* name : {kLeaf, kControl}) {
    const std::string end = std::string("/") + name;
    if (own.ends_with(end)) return own.substr(0, own.size() - end.size());
  }
  return own;
}

std::string cgroup_leaf(const std::string& base) {
  return base + "/" + kLeaf;
}

std::vector<std::string> needed_controllers(const config::Settings& settings) {
  const auto any = [&](auto key) {
    return std::any_of(settings.pools.begin(), settings.pools.end(),
                       [&](const config::Pool& pool) { return pool.*key > 0; });
  };
  std::vector<std::string> needed;
  if (any(&config::Pool::cgroup_cpu)) needed.emplace_back(kCpu);
  if (any(&config::Pool::cgroup_memory)) needed.emplace_back(kMemory);
  return needed;
}

void require_controllers(const std::string& base, const std::vector<std::string>& needed) {
  const auto missing = all_but(needed, words_of(base + "/cgroup.controllers"));
  if (missing.empty()) return;
  refuse(base + "/cgroup.controllers does not have " + joined(missing));
}

void share_out(const std::string& base, const config::Settings& settings, pid_t daemon) {
  const std::vector<std::string> needed = needed_controllers(settings);
  std::vector<std::string> wanted = needed;
  // Even without a limit, the controller's file reports kills because memory ran out.
  if (!has(wanted, kMemory) && has(words_of(base + "/cgroup.controllers"), kMemory)) {
    wanted.emplace_back(kMemory);
  }
  wanted = all_but(wanted, words_of(base + "/cgroup.subtree_control"));
  if (wanted.empty()) return;
  const std::string why = enable(base, wanted, daemon);
  if (why.empty()) return;
  if (!needed.empty()) refuse(why);
  log::info("cgroup.no_memory_events", {{"reason", why}});
}

void limit_cgroup(const std::string& folder, const config::Pool& pool) {
  const bool memory = pool.cgroup_memory > 0;
  const std::uint64_t bytes = std::uint64_t{pool.cgroup_memory} << 20U;
  set(folder + "/memory.max", memory ? std::to_string(bytes) : "max", memory);
  // A host without swap may lack this file.
  set(folder + "/memory.swap.max", memory ? "0" : "max", false);
  // Otherwise a program that the handler started could die alone, and a kill of the worker much
  // later would be mistaken for this one.
  set(folder + "/memory.oom.group", "1", memory);
  const bool cpu = pool.cgroup_cpu > 0;
  constexpr std::uint64_t kPeriodUs = 100'000;
  const std::string quota = cpu ? std::to_string(pool.cgroup_cpu * kPeriodUs / 100) : "max";
  set(folder + "/cpu.max", quota + " " + std::to_string(kPeriodUs), cpu);
  // Niceness of processes has no effect between cgroups.
  set(folder + "/cpu.weight.nice", std::to_string(pool.nice), false);
}

std::string out_of_memory(const std::string& folder) {
  const std::string events = folder + "/memory.events";
  if (count_of(events, "oom_kill") == 0) return {};
  const std::vector<std::string> most = words_of(folder + "/memory.max");
  // The cgroup whose limit was reached, and its parents, count it as their own.
  if (count_of(events, "oom") > 0 && !most.empty() && most.front() != "max") {
    const std::uint64_t mib = std::strtoull(most.front().c_str(), nullptr, 10) >> 20U;
    return "out of memory: over the limit of its pool (cgroup_memory = " + std::to_string(mib) +
           ")";
  }
  return "out of memory: the host, or a cgroup above the worker's, had none left";
}

}  // namespace allot::process
