// SPDX-License-Identifier: Apache-2.0
#include "queue/model/statements.h"

#include <algorithm>
#include <map>

#include "queue/model/random.h"

namespace allot::queue {
namespace {

// Keys end in 2167, and a larger sum wraps around silently.
constexpr std::chrono::microseconds kMaxPause = std::chrono::hours(24 * 365 * 100);

}  // namespace

db::Statement& set_usage(db::Statement& statement, const Usage& usage) {
  const auto text = [](const std::optional<std::uint64_t>& maybe) {
    return maybe ? std::to_string(*maybe) : "NULL";
  };
  return statement.set_raw("runtime_us", text(usage.runtime_us))
      .set_raw("cpu_us", text(usage.cpu_us))
      .set_raw("max_rss_kib", text(usage.max_rss_kib));
}

std::string id_list(std::span<const std::uint32_t> ids) {
  std::string list;
  for (const std::uint32_t id : ids) list += (list.empty() ? "" : ",") + std::to_string(id);
  return list.empty() ? "NULL" : list;
}

std::string bytes_list(std::span<const std::string> values) {
  std::string list;
  for (const std::string& value : values) {
    list += (list.empty() ? "_binary" : ",_binary") + db::Statement::quoted(value);
  }
  return list;
}

// Not a list of pairs: the server reads the whole partition if such a list holds a single pair.
std::string key_condition(std::string_view key, std::span<const TaskKey> keys) {
  std::map<std::uint32_t, std::string> lists;
  for (const TaskKey& at : keys) {
    std::string& list = lists[at.prio];
    list += (list.empty() ? "" : ",") + std::to_string(at.run_key);
  }
  std::string condition;
  for (const auto& [prio_class, list] : lists) {
    if (!condition.empty()) condition += " OR ";
    condition.append("prio = ").append(std::to_string(prio_class)).append(" AND ");
    condition.append(key).append(" IN (").append(list).append(")");
  }
  return condition.empty() ? "FALSE" : condition;
}

db::Statement& set_delay(db::Statement& statement, std::chrono::microseconds delay,
                         const HolderTime& time) {
  return statement.set("delay_us", bounded_us(delay)).set("known_us", time.now().count());
}

std::int64_t bounded_us(std::chrono::microseconds delay) {
  return std::clamp(delay, std::chrono::microseconds(0), kMaxPause).count();
}

std::uint32_t salt() {
  return random_number<std::uint16_t>() & 4095U;
}

std::string moment_text(std::string text) {
  if (text.size() > 10) text[10] = ' ';
  if (text.ends_with('Z')) text.pop_back();
  return text;
}

}  // namespace allot::queue
