// SPDX-License-Identifier: Apache-2.0
#include "e2e/keyed.h"

#include <cstdlib>
#include <map>

namespace allot::e2e {

void KeyedTest::start(const std::string& shape, unsigned workers) {
  const std::string section = "[plugins.keyed]\noutput = \"" + (folder_ / "done") + "\"\n";
  daemon_ = std::make_unique<Daemon>(DaemonOptions{
      .workers = workers,
      .more = "[queues.keyed]\nretry_delay = \"20ms\"\nmax_attempts = 50\n" + shape + section,
      .plugins = ALLOT_KEYED_FOLDER,
      .log_level = "info"});
}

void KeyedTest::submit(std::vector<nlohmann::json> tasks) const {
  for (nlohmann::json& task : tasks) task["queue"] = "keyed";
  daemon_->submit_all(tasks);
}

std::vector<std::string> KeyedTest::done() const {
  return support::read_lines(folder_ / "done");
}

void expect_in_order(const std::vector<std::string>& lines, int keys, int tasks) {
  std::map<std::string, int> last;
  for (const std::string& line : lines) {
    const std::size_t space = line.find(' ');
    const int number = std::atoi(line.c_str() + space + 1);
    int& before = last.try_emplace(line.substr(0, space), -1).first->second;
    EXPECT_TRUE(number == before || number == before + 1) << line << " after " << before;
    before = number;
  }
  EXPECT_EQ(last.size(), static_cast<std::size_t>(keys));
  for (const auto& [key, number] : last) EXPECT_EQ(number, tasks - 1) << key;
}

}  // namespace allot::e2e
