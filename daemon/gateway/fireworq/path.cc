// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/path.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "config/number.h"
#include "gateway/http/message.h"

namespace allot::gateway::fireworq {
namespace {

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

}  // namespace allot::gateway::fireworq
