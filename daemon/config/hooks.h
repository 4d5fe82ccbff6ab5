// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

// on_dead and on_stuck of a queue (C9).
namespace allot::config {

struct HookTarget {
  std::string queue;
  std::string type;
};

// "QUEUE/TYPE"; nullopt when it is not that.
[[nodiscard]] std::optional<HookTarget> hook_target(std::string_view word);

// A mistake in the hooks of a queue, with the key that has it.
struct HookProblem {
  std::string key;  // "on_dead"
  std::string text;
};
[[nodiscard]] std::vector<HookProblem> hook_problems(const Settings& settings, const Queue& queue);
// What is wrong with the word of a hook, as "is ..." or "names ..."; empty: nothing.
[[nodiscard]] std::string hook_problem(const Settings& settings, const std::string& word);

}  // namespace allot::config
