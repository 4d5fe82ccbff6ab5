// SPDX-License-Identifier: Apache-2.0
#include "cli/words/duty_view.h"

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

json text_or_null(const std::optional<std::string>& text) {
  return text ? json(*text) : json();
}

}  // namespace

std::string duties_text(const std::vector<queue::DutyView>& duties) {
  std::map<std::string, std::size_t> led;
  std::string left;
  std::size_t count = 0;
  for (const queue::DutyView& duty : duties) {
    if (duty.led) {
      ++led[printable(duty.host + "/" + duty.instance, 100) + " pid " + std::to_string(duty.pid)];
    } else {
      left += (count++ == 0 ? ": " : ", ") + printable(queue::name_of(duty), 100);
    }
  }
  std::string text;
  for (const auto& [leader, number] : led) {
    text += "duties: " + std::to_string(number) + " led by " + leader + "\n";
  }
  if (count > 0) text += "duties: " + std::to_string(count) + " without a leader" + left + "\n";
  return text;
}

json duties_json(const std::vector<queue::DutyView>& duties) {
  json all = json::array();
  for (const queue::DutyView& duty : duties) {
    const json leader = {{"host", duty.host}, {"instance", duty.instance}, {"pid", duty.pid}};
    all.push_back({{"queue", duty.queue_id == 0 ? json() : json(duty.queue)},
                   {"duty", duty.duty},
                   {"leader", duty.led ? leader : json()},
                   {"since", text_or_null(duty.since)},
                   {"last_run", text_or_null(duty.last_run)},
                   {"last_error", text_or_null(duty.last_error)}});
  }
  return all;
}

}  // namespace allot::cli
