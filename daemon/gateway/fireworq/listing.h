// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queue/fireworq/page.h"

// Times, and the parameters of lists. Pure.
namespace allot::gateway::fireworq {

// "2026-11-24T23:58:21.5Z": RFC 3339 with up to three decimals.
[[nodiscard]] std::string time_text(std::int64_t ms);

[[nodiscard]] std::string cursor_text(const queue::ListPlace& place);
// nullopt: not a cursor.
[[nodiscard]] std::optional<queue::ListPlace> read_cursor(std::string_view text);

// Invalid parameters count as absent.
[[nodiscard]] queue::ListAsk list_ask(std::string_view query);

}  // namespace allot::gateway::fireworq
