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

// Parses "QUEUE/TYPE"; nullopt for any other text.
[[nodiscard]] std::optional<HookTarget> hook_target(std::string_view word);

// Mistake in the hooks of a queue, with its key.
struct HookProblem {
  std::string key;  // "on_dead"
  std::string text;
};
[[nodiscard]] std::vector<HookProblem> hook_problems(const Settings& settings, const Queue& queue);
// Describes the mistake in the value of a hook, as "is ..." or "names ..."; empty: none.
[[nodiscard]] std::string hook_problem(const Settings& settings, const std::string& word);

}  // namespace allot::config
