// SPDX-License-Identifier: Apache-2.0
#include "config/hooks.h"

#include "base/names.h"
#include "config/rows.h"

namespace allot::config {

std::optional<HookTarget> hook_target(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view queue = word.substr(0, slash);
  const std::string_view type = word.substr(slash + 1);
  if (queue.size() > kMaxQueueName || type.size() > kMaxTypeName || !is_word(queue, "._-") ||
      !is_word(type, "._-")) {
    return std::nullopt;
  }
  return HookTarget{std::string(queue), std::string(type)};
}

std::string hook_problem(const Settings& settings, const std::string& word) {
  const auto target = hook_target(word);
  if (!target) return "is \"" + word + "\"; it names a queue and a type: \"ops/alert.dead\"";
  const Queue* queue = find_queue(settings, target->queue);
  if (queue == nullptr || queue->placement == "spread") return {};
  return "names queue '" + target->queue + "', whose placement is " + queue->placement +
         "; tasks of a hook have no partition_key, so it must be a spread queue";
}

std::vector<HookProblem> hook_problems(const Settings& settings, const Queue& queue) {
  std::vector<HookProblem> problems;
  const auto check = [&](const char* key, const std::string& word) {
    if (word.empty()) return;
    std::string text = hook_problem(settings, word);
    if (!text.empty()) problems.push_back({key, std::move(text)});
  };
  check("on_dead", queue.on_dead);
  check("on_stuck", queue.on_stuck);
  const auto stuck = hook_target(queue.on_stuck);
  if (stuck && stuck->queue == queue.name) {
    problems.push_back(
        {"on_stuck", "names its own queue; the hook would not run while this queue is stuck"});
  }
  return problems;
}

}  // namespace allot::config
