// SPDX-License-Identifier: Apache-2.0
#include "config/schedules.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "config/reader.h"
#include "config/rows.h"
#include "schedule/expression.h"
#include "schedule/system_zone.h"

namespace allot::config {
namespace {

constexpr std::size_t kMaxExpression = 255;  // schedule.expression
constexpr std::size_t kMaxZone = 63;         // schedule.zone

class ScheduleChecker {
 public:
  ScheduleChecker(const Settings& settings, const Schedule& schedule, Problems& problems)
      : settings_(settings), schedule_(schedule), problems_(problems) {}

  void check_words() {
    for (const auto& [key, value] : {std::pair{"expression", &schedule_.expression},
                                     {"queue", &schedule_.queue},
                                     {"type", &schedule_.type}}) {
      if (value->empty()) problem(key, "has no " + std::string(key) + ", which it needs");
    }
    check_length("expression", schedule_.expression, kMaxExpression);
    check_length("zone", schedule_.zone, kMaxZone);
    if (schedule_.expression.empty() || schedule_.expression.size() > kMaxExpression) return;
    try {
      static_cast<void>(schedule::Expression::parse(schedule_.expression));
    } catch (const Error& error) {
      problem("expression", "expression: " + std::string(error.what()));
    }
  }

  void check_queue() {
    if (schedule_.queue.empty() || find_queue(settings_, schedule_.queue) != nullptr) return;
    std::vector<std::string_view> known;
    for (const Queue& queue : settings_.queues) known.emplace_back(queue.name);
    problem("queue", "queue is '" + schedule_.queue + "', but the file has no [queues." +
                         schedule_.queue + "]" + did_you_mean(schedule_.queue, known));
  }

  void check_zone() {
    try {
      schedule::check_zone(schedule_.zone);
    } catch (const Error& error) {
      problem("zone", error.what());
    }
  }

 private:
  void check_length(const char* key, const std::string& value, std::size_t most) {
    if (value.size() <= most) return;
    problem(key, std::string(key) + " has " + std::to_string(value.size()) +
                     " bytes; the limit is " + std::to_string(most));
  }
  void problem(const std::string& key, const std::string& text) {
    const std::string section = "schedules." + schedule_.name;
    problems_.push_back({line_of(settings_, section + "." + key), "[" + section + "] " + text});
  }

  const Settings& settings_;
  const Schedule& schedule_;
  Problems& problems_;
};

void refuse_others(const Node& root, Problems& problems) {
  for (const Node& node : root.children) {
    if (node.key == "schedules") continue;
    problems.push_back({node.line, "'" + node.key +
                                       "': this file has sections [schedules.NAME] "
                                       "only"});
  }
}

}  // namespace

void check_schedules(const Settings& settings, Problems& problems) {
  for (const Schedule& schedule : settings.schedules) {
    ScheduleChecker checker(settings, schedule, problems);
    checker.check_words();
    checker.check_queue();
  }
}

void check_zones(const Settings& settings, Problems& problems) {
  for (const Schedule& schedule : settings.schedules) {
    ScheduleChecker(settings, schedule, problems).check_zone();
  }
}

std::uint64_t checksum(const Schedule& schedule) {
  auto row = std::find_if(rows().begin(), rows().end(),
                          [](const Row& each) { return each.header == Schedule::kHeader; });
  Checksum sum;
  Schedule::each_key(schedule, [&](const Key& key, const auto& value, auto... /*limits*/) {
    const std::string text = written(key.kind, value);
    if (text == (row++)->initial) return;
    sum.add_part(key.name);
    sum.add_part(text);
  });
  return sum.value();
}

Settings read_schedules(const std::string& file) {
  Settings settings;
  settings.file = file;
  std::string text;
  const int error = settings.files.read(file, text);
  if (error != 0) {
    throw Error(file + ": cannot be read: " + std::string(std::strerror(error)), kExitNoInput);
  }
  Problems problems;
  read_settings(text, "", settings, problems);
  if (problems.empty()) refuse_others(parse_toml(text, problems), problems);
  for (const Schedule& schedule : settings.schedules) {
    ScheduleChecker(settings, schedule, problems).check_words();
  }
  check_zones(settings, problems);
  if (!problems.empty()) refuse(file, std::move(problems));
  return settings;
}

void refuse(const std::string& file, Problems problems) {
  std::stable_sort(problems.begin(), problems.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  std::string message;
  for (const Problem& problem : problems) {
    if (!message.empty()) message += '\n';
    if (!file.empty()) message += file + ":";
    if (problem.line != 0) message += std::to_string(problem.line) + ":";
    if (!file.empty()) message += ' ';
    message += problem.text;
  }
  throw Error(message, kExitConfig);
}

}  // namespace allot::config
