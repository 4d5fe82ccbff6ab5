// SPDX-License-Identifier: Apache-2.0
#include "fault/work.h"

#include <nlohmann/json.hpp>

#include "fault/dice.h"
#include "fault/evidence.h"

namespace allot::fault {
namespace {

std::string choose_verb(Dice& dice, const Draw& draw) {
  std::uint64_t sum = 0;
  for (const auto& [verb, weight] : draw.verbs) sum += weight;
  std::uint64_t left = dice.below(sum);
  for (const auto& [verb, weight] : draw.verbs) {
    if (left < weight) return verb;
    left -= weight;
  }
  return "ok";
}

const char* type_for(Dice& dice, const Draw& draw, const std::string& verb) {
  if (verb == "hang") return "swarm.timed";
  if (draw.load == Load::kCrowd) return dice.one_of(10) ? "swarm.plain" : "swarm.side";
  if (draw.has(Feature::kBatch) && !dice.one_of(3)) return "swarm.many";
  if (draw.has(Feature::kConcurrency) && !dice.one_of(4)) return "swarm.side";
  return "swarm.plain";
}

const QueuePlan& choose_queue(Dice& dice, const Draw& draw) {
  const std::size_t hooks = draw.queues.back().name == "hooks" ? 1 : 0;
  return draw.queues.at(dice.below(draw.queues.size() - hooks));
}

}  // namespace

WorkItem item_of(const Draw& draw, unsigned submitter, std::uint64_t number) {
  Dice dice(number * 1'000'003 + draw.seed * 7919 + submitter);
  WorkItem item;
  item.tag = tag_of(submitter, number);
  const QueuePlan& queue = choose_queue(dice, draw);
  item.queue = queue.name;
  item.verb = choose_verb(dice, draw);
  item.type = type_for(dice, draw, item.verb);
  item.milliseconds = static_cast<unsigned>(dice.one_of(5) ? dice.below(20) : 0);
  if (dice.one_of(30)) item.milliseconds = static_cast<unsigned>(dice.below(400));
  if (draw.load == Load::kCrowd) item.milliseconds = 2;
  if (item.verb == "long") item.milliseconds = static_cast<unsigned>(1'500 + dice.below(3'500));
  if (queue.placement != "spread") item.partition_key = "k" + std::to_string(dice.below(draw.keys));
  // Verbs that would break the order are refused.
  if (queue.placement == "ordered") return item;
  if (draw.has(Feature::kPriority) && dice.one_of(2))
    item.prio = static_cast<unsigned>(dice.below(4));
  // Crashing tasks, and those next to them, come after others, of which more become due all the
  // time.
  if (draw.load == Load::kCrowd) {
    item.prio = item.verb == "crash" ? 1 : static_cast<unsigned>(number % 2);
    item.delay = dice.between(10, 1'500);
    return item;
  }
  if (draw.has(Feature::kDelay) && dice.one_of(6)) item.delay = dice.between(10, 1'500);
  if (draw.has(Feature::kExpiry) && dice.one_of(6)) item.expires_in = dice.between(20, 1'500);
  if (draw.has(Feature::kUnique) && queue.placement == "spread" && dice.one_of(3))
    item.unique_key = "u" + std::to_string(dice.below(20));
  return item;
}

std::optional<WorkItem> item_of(const Draw& draw, const std::string& tag) {
  const auto dot = tag.find('.');
  if (dot == std::string::npos) return std::nullopt;
  const unsigned long submitter = std::stoul(tag);
  if (submitter == 0 || submitter >= kProbes) return std::nullopt;
  return item_of(draw, static_cast<unsigned>(submitter), std::stoull(tag.substr(dot + 1)));
}

std::string WorkItem::ndjson() const {
  nlohmann::json line{{"queue", queue},
                      {"type", type},
                      {"payload", tag + " " + std::to_string(milliseconds) + " " + verb + " - " +
                                      std::string(tag.size() % 2 == 0 ? 300 : 10, 'x')}};
  const auto text = [](std::chrono::milliseconds time) {
    return std::to_string(time.count()) + "ms";
  };
  if (prio) line["prio"] = *prio;
  if (delay.count() != 0) line["delay"] = text(delay);
  if (expires_in.count() != 0) line["expires_in"] = text(delay + expires_in);
  if (!unique_key.empty()) {
    line["unique_key"] = unique_key;
    line["unique_for"] = "0s";
  }
  if (!partition_key.empty()) line["partition_key"] = partition_key;
  return line.dump() + "\n";
}

}  // namespace allot::fault
