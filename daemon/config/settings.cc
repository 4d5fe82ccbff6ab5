// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "config/check.h"
#include "config/drain.h"
#include "config/reader.h"
#include "config/schedules.h"
#include "trust/trust.h"

namespace allot::config {
namespace {

namespace fs = std::filesystem;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string absolute(const std::string& path) {
  std::string full = fs::absolute(path).lexically_normal().string();
  if (full.size() > 1 && full.back() == '/') full.pop_back();
  return full;
}

Files find_files(const LoadOptions& options) {
  if (options.copy >= 0) return Files(options.copy);
  Files files;
  const std::string named = from_environment("ALLOT_CONFIG");
  if (!options.file.empty()) {
    files.first = options.file;
    files.named = "--config";
  } else if (!named.empty()) {
    files.first = named;
    files.named = "$ALLOT_CONFIG";
  } else if (::access(options.default_file.c_str(), F_OK) == 0) {
    files.first = options.default_file;
  }
  return files;
}

std::string read_file(Settings& settings) {
  std::string text;
  const int error = settings.files.read(settings.file, text);
  if (error == 0) return text;
  const std::string& named = settings.file_named;
  throw Error("cannot read the configuration file " + settings.file +
                  (named.starts_with('$') ? " (named by " + named + ")" : "") + ": " +
                  std::strerror(error),
              kExitConfig);
}

// Every user may write to /tmp: a folder with this name that another user made must not receive the
// lock file.
std::string private_tmp_folder() {
  const std::string folder = "/tmp/allot-" + std::to_string(::geteuid());
  trust::require_folder(folder, trust::Role::kOwnFolder, "[daemon] runtime_dir");
  return folder;
}

// True if the pattern "shop.*" matches this type, which has at least one more byte.
bool is_prefix_of(std::string_view pattern, std::string_view type) {
  if (!pattern.ends_with(".*")) return false;
  pattern.remove_suffix(1);
  return type.size() > pattern.size() && type.starts_with(pattern);
}

// The section of the exact type, else the one with the longest prefix (S80).
const Type* find_type(const Settings& settings, std::string_view name) {
  const Type* best = nullptr;
  for (const Type& type : settings.types) {
    if (type.name == name) return &type;
    const bool longer = best == nullptr || type.name.size() > best->name.size();
    if (longer && is_prefix_of(type.name, name)) best = &type;
  }
  return best;
}

}  // namespace

std::uint32_t line_of(const Settings& settings, std::string path) {
  for (;;) {
    const auto found = settings.lines.find(path);
    if (found != settings.lines.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return 0;
    path.resize(dot);
  }
}

Settings load(const LoadOptions& options) {
  Settings settings;
  Problems problems;
  settings.files = find_files(options);
  const std::optional<Drain> drain = read_drain(settings.files);
  const std::string embedded = drain ? drain->embedded : options.embedded;
  settings.file = drain ? drain->config : settings.files.first;
  if (!settings.file.empty()) {
    settings.file_named = settings.files.named;
    const std::string folder = fs::path(absolute(settings.file)).parent_path().string();
    read_settings(read_file(settings), folder, settings, problems);
  }
  if (!embedded.empty()) {
    settings.database.embedded = absolute(embedded);
    settings.origins["database.embedded"] = "--embedded";
  }
  if (settings.plugins.folder.empty()) {
    settings.plugins.folder = ALLOT_PLUGIN_FOLDER;
    settings.origins["plugins.folder"] = "the installation";
  }
  complete(settings, problems);
  if (!problems.empty()) refuse(settings.file, std::move(problems));
  if (drain) narrow(settings, *drain);
  return settings;
}

std::string runtime_dir(const Settings& settings) {
  return named_runtime_dir(settings).value;
}

Named named_runtime_dir(const Settings& settings) {
  const Daemon& daemon = settings.daemon;
  if (!daemon.runtime_dir.empty()) return {daemon.runtime_dir, ""};
  const std::string& embedded = settings.database.embedded;
  if (!embedded.empty()) return {embedded + "/run", "the embedded database"};
  std::string systemd = from_environment("RUNTIME_DIRECTORY");
  systemd.resize(std::min(systemd.size(), systemd.find(':')));  // separates several folders
  if (!systemd.empty()) return {systemd, "$RUNTIME_DIRECTORY"};
  if (::geteuid() == 0) return {"/run/allot/" + daemon.instance, "root's usual place"};
  const std::string user = from_environment("XDG_RUNTIME_DIR");
  if (!user.empty() && user.front() == '/') {
    return {user + "/allot/" + daemon.instance, "$XDG_RUNTIME_DIR"};
  }
  return {private_tmp_folder() + "/" + daemon.instance, "no other place"};
}

std::string gateway_socket(const Settings& settings) {
  const std::string& own = settings.gateway.value_or(Gateway()).socket;
  return own.empty() ? runtime_dir(settings) + "/gateway.sock" : own;
}

// S27: shorter than the lease TTL.
milliseconds frozen_limit(const Daemon& daemon) {
  if (daemon.frozen_after.count() > 0) return daemon.frozen_after;
  return std::min<milliseconds>(seconds(20), daemon.lease_ttl * 2 / 3);
}

milliseconds task_timeout(const Settings& settings, std::string_view type) {
  const Type* own = find_type(settings, type);
  return own != nullptr && own->task_timeout.count() > 0 ? own->task_timeout
                                                         : settings.daemon.task_timeout;
}

milliseconds soft_task_timeout(milliseconds task_timeout) {
  return std::max<milliseconds>(task_timeout - seconds(10), task_timeout / 2);
}

const Queue* find_queue(const Settings& settings, const std::string& name) {
  const auto found = std::find_if(settings.queues.begin(), settings.queues.end(),
                                  [&](const Queue& queue) { return queue.name == name; });
  return found == settings.queues.end() ? nullptr : &*found;
}

std::uint32_t max_attempts(const Settings& settings, const Queue& queue, std::string_view type) {
  const Type* own = find_type(settings, type);
  return own != nullptr && own->max_attempts > 0 ? own->max_attempts : queue.max_attempts;
}

RetryDelays retry_delays(const Settings& settings, const Queue& queue, std::string_view type) {
  RetryDelays retry_delays{queue.retry_delay, queue.retry_delay_max, queue.retry_delays};
  const Type* own = find_type(settings, type);
  if (own == nullptr) return retry_delays;
  const bool grows = own->retry_delay.count() > 0 || own->retry_delay_max.count() > 0;
  if (grows || !own->retry_delays.empty()) retry_delays.list = own->retry_delays;
  if (own->retry_delay.count() > 0) retry_delays.first = own->retry_delay;
  // An initial delay above the queue's maximum is intended.
  retry_delays.most = own->retry_delay_max.count() > 0
                          ? own->retry_delay_max
                          : std::max(retry_delays.first, retry_delays.most);
  return retry_delays;
}

std::chrono::microseconds RetryDelays::delay(std::uint32_t attempt, std::uint32_t dice) const {
  if (!list.empty()) return list[std::min<std::size_t>(std::max(attempt, 1U), list.size()) - 1];
  const std::chrono::microseconds cap = most;
  std::chrono::microseconds wait = first;
  // Compares before each doubling, because 2^30 times a first delay of hours does not fit into 64
  // bits.
  for (std::uint32_t n = 1; n < attempt && wait < cap && wait.count() > 0; ++n) wait *= 2;
  const std::chrono::microseconds capped = std::min(wait, cap);
  // 800 .. 1200 thousandths.
  return capped * (800 + static_cast<std::int64_t>(dice % 401)) / 1000;
}

}  // namespace allot::config
