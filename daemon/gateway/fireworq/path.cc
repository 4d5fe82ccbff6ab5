// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/path.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "config/number.h"
#include "gateway/http/message.h"
#include "json/base64.h"

namespace allot::gateway::fireworq {
namespace {

constexpr std::size_t kUsualLimit = 100;
constexpr std::uint64_t kMostLimit = 1'000;

std::string escaped(std::string_view path) {
  constexpr std::string_view kPlain = "/-_.~:$&+=@,;";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append("%").append(1, kDigits[byte >> 4U]).append(1, kDigits[byte & 15U]);
    }
  }
  return out;
}

// Removes empty steps, "." and ".."; a final slash remains.
std::string cleaned(std::string_view path) {
  std::vector<std::string_view> steps;
  for (std::string_view left = path; !left.empty();) {
    const std::string_view step = left.substr(0, left.find('/'));
    left.remove_prefix(std::min(left.size(), step.size() + 1));
    if (step.empty() || step == ".") continue;
    if (step != "..") {
      steps.push_back(step);
    } else if (!steps.empty()) {
      steps.pop_back();
    }
  }
  std::string clean;
  for (const std::string_view step : steps) clean.append("/").append(step);
  if (clean.empty()) return "/";
  return path.ends_with('/') ? clean + "/" : clean;
}

// Reads a signed 64-bit number. A negative one becomes 0, which is not a job.
std::optional<std::uint64_t> job_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto number = config::whole_number<std::int64_t>(text);
  if (!number) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(*number, 0));
}

// "/queue/NAME" and its sub-resources.
Target of_queue(std::string_view path) {
  const std::string_view name = path.substr(0, path.find('/'));
  if (name.empty()) return {};
  Target target{Place::kQueue, std::string(name), {}, {}};
  path.remove_prefix(name.size());
  if (path.empty()) return target;
  constexpr std::array<std::pair<std::string_view, Place>, 6> kBelow = {
      {{"/node", Place::kNode},
       {"/stats", Place::kQueueStats},
       {"/grabbed", Place::kGrabbed},
       {"/waiting", Place::kWaiting},
       {"/deferred", Place::kDeferred},
       {"/failed", Place::kFailedList}}};
  for (const auto& [below, place] : kBelow) {
    if (path != below) continue;
    target.place = place;
    return target;
  }
  for (const auto& [below, place] :
       {std::pair<std::string_view, Place>{"/job/", Place::kJobOfQueue},
        {"/failed/", Place::kFailed}}) {
    if (!path.starts_with(below)) continue;
    const std::string_view id = path.substr(below.size());
    if (id.empty() || id.find('/') != std::string_view::npos) return {};
    target.place = place;
    target.id = job_number(id);
    return target;
  }
  return {};
}

}  // namespace

Target target_of(std::string_view escaped_path) {
  const std::string path = http::unescaped(escaped_path, false);
  const std::string clean = cleaned(path);
  if (clean != path) return {Place::kMoved, {}, {}, escaped(clean)};
  constexpr std::array<std::pair<std::string_view, Place>, 7> kFixed = {
      {{"/", Place::kVersion},
       {"/version", Place::kVersion},
       {"/settings", Place::kSettings},
       {"/stats", Place::kStats},
       {"/queues", Place::kQueues},
       {"/queues/stats", Place::kQueuesStats},
       {"/routings", Place::kRoutings}}};
  for (const auto& [fixed, place] : kFixed) {
    if (path == fixed) return {place, {}, {}, {}};
  }
  constexpr std::string_view kQueue = "/queue/";
  if (path.starts_with(kQueue)) return of_queue(std::string_view(path).substr(kQueue.size()));
  for (const auto& [begin, place] :
       {std::pair<std::string_view, Place>{"/routing/", Place::kRouting}, {"/job/", Place::kJob}}) {
    if (path.starts_with(begin) && path.size() > begin.size()) {
      return {place, path.substr(begin.size()), {}, {}};
    }
  }
  return {};
}

std::optional<std::string> parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (http::unescaped(pair.substr(0, equals), true) != name) continue;
    return http::unescaped(pair.substr(std::min(equals + 1, pair.size())), true);
  }
  return std::nullopt;
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
