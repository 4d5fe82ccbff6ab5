// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/listing.h"

#include <algorithm>
#include <chrono>

#include "config/number.h"
#include "gateway/fireworq/path.h"
#include "json/base64.h"
#include "json/queue_json.h"

namespace allot::gateway::fireworq {
namespace {

constexpr std::size_t kUsualLimit = 100;
constexpr std::uint64_t kMostLimit = 1'000;

}  // namespace

std::string time_text(std::int64_t ms) {
  std::string text = as_json::moment_text(queue::Moment(std::chrono::milliseconds(ms)));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of("0Z") + 1);
  return text + "Z";
}

std::string cursor_text(const queue::ListPlace& place) {
  return as_json::to_base64(std::to_string(place.ms) + "," + std::to_string(place.id));
}

std::optional<queue::ListPlace> read_cursor(std::string_view text) {
  const auto plain = as_json::from_base64(text);
  if (!plain) return std::nullopt;
  const std::string_view view = *plain;
  const std::size_t comma = view.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto ms = config::whole_number<std::int64_t>(view.substr(0, comma));
  const auto id = config::whole_number<std::uint64_t>(view.substr(comma + 1));
  // Limits the time, so that later calculations cannot overflow.
  constexpr std::int64_t kLast = 7'000'000'000'000;
  if (!ms || !id || *ms < 0 || *ms > kLast) return std::nullopt;
  return queue::ListPlace{*ms, *id};
}

queue::ListAsk list_ask(std::string_view query) {
  queue::ListAsk ask;
  ask.limit = kUsualLimit;
  if (const auto limit = parameter(query, "limit")) {
    const std::size_t sign = limit->starts_with('+') ? 1 : 0;
    if (const auto number =
            config::whole_number<std::uint64_t>(std::string_view(*limit).substr(sign))) {
      ask.limit = std::min(*number, kMostLimit);
    }
  }
  ask.latest_first = parameter(query, "order") != "asc";
  if (const auto cursor = parameter(query, "cursor")) ask.from = read_cursor(*cursor);
  return ask;
}

}  // namespace allot::gateway::fireworq
