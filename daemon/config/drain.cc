// SPDX-License-Identifier: Apache-2.0
#include "config/drain.h"

#include <filesystem>
#include <map>
#include <sstream>

#include "base/error.h"

namespace allot::config {

std::string drain_text(const Drain& drain) {
  const std::map<std::string, std::string> values{
      {"config", drain.config},
      {"queue", drain.queue},
      {"jobs", std::to_string(drain.jobs)},
      {"instance", drain.instance},
      {"runtime_dir", drain.runtime_dir},
      {"own_database", drain.own_database ? "yes" : "no"},
      {"embedded", drain.embedded}};
  std::string text = "# Written by allot drain.\n";
  for (const auto& [key, value] : values) {
    if (value.find('\n') != std::string::npos) {
      throw Error("'" + key + "' may have no line break", kExitConfig);
    }
    text.append(key).append("=").append(value).append("\n");
  }
  return text;
}

std::optional<Drain> read_drain(Files& files) {
  const std::string& path = files.first;
  if (std::filesystem::path(path).filename() != kDrainFile) return std::nullopt;
  std::string text;
  static_cast<void>(files.read(path, text));  // an unreadable file is not a drain file
  std::istringstream file(text);
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(file, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  const std::string& jobs = values["jobs"];
  const bool number = !jobs.empty() && jobs.size() <= 3 &&
                      jobs.find_first_not_of("0123456789") == std::string::npos;
  if (!number || values["queue"].empty() || values["instance"].empty()) {
    throw Error(path + ": not written by allot drain", kExitConfig);
  }
  return Drain{
      values["config"],   values["queue"],       static_cast<std::uint32_t>(std::stoul(jobs)),
      values["instance"], values["runtime_dir"], values["own_database"] == "yes",
      values["embedded"]};
}

void narrow(Settings& settings, const Drain& drain) {
  if (find_queue(settings, drain.queue) == nullptr) {
    settings.queues.emplace_back().name = drain.queue;
  }
  Pool pool;
  pool.name = "drain";
  pool.size = drain.jobs;
  pool.queues = {drain.queue};
  settings.pools = {pool};
  settings.gateway.reset();
  settings.daemon.instance = drain.instance;
  settings.daemon.runtime_dir = drain.runtime_dir;
  settings.daemon.cgroup = false;  // children of cron have no delegated cgroup
  if (!drain.own_database) settings.database.embedded.clear();
  settings.drain_budget = drain.runtime_dir + "/budget";
}

}  // namespace allot::config
