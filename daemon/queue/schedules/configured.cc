// SPDX-License-Identifier: Apache-2.0
#include "queue/schedules/configured.h"

#include "base/error.h"
#include "config/schedules.h"

namespace allot::queue {
namespace {

std::optional<std::string> unless_empty(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace

ScheduleSpec spec_of(const config::Schedule& section) {
  ScheduleSpec spec;
  spec.name = section.name;
  spec.expression = section.expression;
  spec.zone = section.zone;
  spec.queue = section.queue;
  spec.type = section.type;
  spec.payload = section.payload;
  spec.options.prio = section.prio;
  spec.options.delay = section.delay;
  spec.options.unique_key = unless_empty(section.unique_key);
  spec.options.unique_for = section.unique_for;
  spec.options.partition_key = unless_empty(section.partition_key);
  spec.options.expires_in = section.expires_in;
  // The reader accepts no other words.
  spec.late = late_of(section.late).value_or(Late::kOnce);
  spec.late_after = section.late_after;
  spec.catch_up = section.catch_up;
  spec.overlap = overlap_of(section.overlap).value_or(Overlap::kAllow);
  spec.jitter = section.jitter;
  spec.tick_field = unless_empty(section.tick_field);
  return spec;
}

AppliedText text_of(const config::Schedule& section) {
  return {config::checksum(section), section.revision};
}

void check_specs(const config::Settings& settings, config::Problems& problems) {
  for (const config::Schedule& section : settings.schedules) {
    const ScheduleSpec spec = spec_of(section);
    try {
      validate(spec);
      const config::Queue* configured = config::find_queue(settings, spec.queue);
      if (configured != nullptr) validate(spec, QueueInfo{0, spec.queue, shape_of(*configured)});
    } catch (const Error& error) {
      // The message begins with the field.
      const std::string text = error.what();
      const std::string field = text.substr(0, text.find_first_of(" :"));
      problems.push_back({config::line_of(settings, "schedules." + section.name + "." + field),
                          "[schedules." + section.name + "] " + text});
    }
  }
}

}  // namespace allot::queue
