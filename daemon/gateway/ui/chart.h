// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/ui/html.h"

// The small chart of times that pages of types have.
namespace allot::gateway::ui {

// Something that began: a new version, a new configuration.
struct ChartMark {
  double at = 0;  // 0 is the left edge, 1 the right one
  std::string what;
};

// Two lines over the same steps, as SVG; a step without a value is passed over.
struct Chart {
  std::vector<std::optional<double>> usual{};
  std::vector<std::optional<double>> most{};
  std::vector<ChartMark> marks{};
};
void write_chart(Html& html, const Chart& chart, std::string_view label);

}  // namespace allot::gateway::ui
