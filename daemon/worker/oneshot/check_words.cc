// SPDX-License-Identifier: Apache-2.0
#include "worker/oneshot/check_words.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "config/rows.h"
#include "config/served.h"
#include "queue/model/catalog.h"

namespace allot::worker {
namespace {

std::string where(const config::Settings& settings, const std::string& path) {
  const auto line = settings.lines.find(path);
  const auto number = line == settings.lines.end() ? "" : std::to_string(line->second) + ":";
  return settings.file + ":" + number + " ";
}

std::string trouble_of(const config::Settings& settings, const std::string& queue,
                       const std::optional<queue::QueueInfo>& there) {
  if (there) {
    return "queue '" + queue + "', which is " + queue::text_of(there->shape) + ", not spread";
  }
  std::vector<std::string_view> known;
  for (const config::Queue& one : settings.queues) known.emplace_back(one.name);
  const std::string_view near = nearest(queue, known);
  return "queue '" + queue + "', which does not exist" +
         (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?");
}

// "types.TYPE" of "types.TYPE.WORD", and "programs.NAME" likewise; a name with a dot has quotes.
// Empty for any other key.
std::string_view program_of(std::string_view key, std::string_view word) {
  if (!key.starts_with("types.") && !key.starts_with("programs.")) return {};
  const std::size_t name = key.find('.') + 1;
  const bool quoted = key.substr(name).starts_with('"');
  const std::size_t end = quoted ? key.find('"', name + 1) + 1 : key.find('.', name);
  if (end == 0 || end >= key.size() || key.substr(end + 1) != word) return {};
  return key.substr(0, end);
}

// nullptr if this account can run it.
const char* trouble_of(const std::string& program) {
  struct stat status = {};
  if (::stat(program.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "no file";
  return ::access(program.c_str(), X_OK) == 0 ? nullptr : std::strerror(errno);
}

}  // namespace

void find_lost_hooks(const config::Settings& settings, db::Connection& db, Findings& findings) {
  for (const config::Queue& queue : settings.queues) {
    for (const auto& [key, word] :
         {std::pair{"on_dead", &queue.on_dead}, std::pair{"on_stuck", &queue.on_stuck}}) {
      const auto target = config::hook_target(*word);
      if (!target) continue;
      const auto there = queue::find_queue(db, target->queue);
      if (there && there->shape.placement == queue::Placement::kSpread) continue;
      findings.warnings.push_back(
          {"hook.unusable", where(settings, "queues." + queue.name + "." + key) + "[queues." +
                                queue.name + "] " + key + " names " +
                                trouble_of(settings, target->queue, there)});
    }
  }
}

void find_unusable_programs(const config::Settings& settings, const std::optional<UnitReach>& reach,
                            Findings& findings) {
  for (const std::string plugin : {"exec", "pipe"}) {
    const auto section = settings.plugins.sections.find(plugin);
    if (section == settings.plugins.sections.end()) continue;
    const std::string name = "plugins." + plugin;
    std::string last;
    for (const auto& [key, value] : section->second) {
      // The elements of a list follow each other: the first is the program.
      const bool is_first = std::exchange(last, key) != key;
      const std::string_view command = program_of(key, "command");
      const std::string_view program = command.empty() ? program_of(key, "directory") : command;
      if (program.empty()) continue;
      const std::string place = where(settings, name + "." + key) + "[" + name + "." +
                                std::string(program) + "] " + value + ": ";
      const char* lost = is_first && !command.empty() ? trouble_of(value) : nullptr;
      if (lost != nullptr) findings.warnings.push_back({plugin + ".no_program", place + lost});
      // The words after a program may be a script, which the program reads.
      if (!reach || (!is_first && !std::filesystem::is_regular_file(value))) continue;
      const std::string trouble = reach->trouble_with(value, is_first ? X_OK : R_OK);
      if (trouble.empty()) continue;
      findings.warnings.push_back(
          {plugin + ".unreachable",
           place + trouble +
               "; docs/install.md, \"An application below /home or /srv\", explains how to change "
               "that"});
    }
  }
}

}  // namespace allot::worker
