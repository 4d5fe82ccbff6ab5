// SPDX-License-Identifier: Apache-2.0
#include "queue/model/statements.h"

#include <algorithm>
#include <map>
#include <vector>

#include "queue/model/random.h"

namespace allot::queue {
namespace {

// Keys end in 2167, and a larger sum wraps around silently.
constexpr std::chrono::microseconds kMaxPause = std::chrono::hours(24 * 365 * 100);

}  // namespace

db::Statement& set_usage(db::Statement& statement, const Usage& usage) {
  return statement.set("runtime_us", usage.runtime_us)
      .set("cpu_us", usage.cpu_us)
      .set("max_rss_kib", usage.max_rss_kib);
}

std::string id_list(std::span<const std::uint32_t> ids) {
  return ids.empty() ? "NULL" : number_list(ids);
}

std::string bytes_list(std::span<const std::string> values) {
  return db::joined(
      values, [](const std::string& value) { return "_binary" + db::Statement::quoted(value); });
}

// Not a list of pairs: the server reads the whole partition if such a list holds a single pair.
std::string key_condition(std::string_view key, std::span<const TaskKey> keys) {
  if (keys.empty()) return "FALSE";
  std::map<std::uint32_t, std::vector<std::uint64_t>> classes;
  for (const TaskKey& at : keys) classes[at.prio].push_back(at.run_key);
  const auto text = [&](const auto& one) {
    return ("prio = " + std::to_string(one.first) + " AND ").append(key) + " IN (" +
           number_list(one.second) + ")";
  };
  return db::joined(classes, text, " OR ");
}

db::Statement& set_delay(db::Statement& statement, std::chrono::microseconds delay,
                         const HolderTime& time) {
  return statement.set("delay_us", bounded_us(delay)).set("known_us", time.now());
}

std::int64_t bounded_us(std::chrono::microseconds delay) {
  return std::clamp(delay, std::chrono::microseconds(0), kMaxPause).count();
}

std::uint32_t salt() {
  return random_number<std::uint16_t>() & 4095U;
}

std::string datetime_text(std::string text) {
  if (text.size() > 10) text[10] = ' ';
  if (text.ends_with('Z')) text.pop_back();
  return text;
}

}  // namespace allot::queue
