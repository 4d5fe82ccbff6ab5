// SPDX-License-Identifier: Apache-2.0
#include "fault/story.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <set>
#include <sstream>
#include <vector>

namespace allot::fault {
namespace {

constexpr Nanoseconds kAround = 10 * kSecond;

class Story {
 public:
  Story(const Evidence& evidence, const std::string& tag) : evidence_(evidence) {
    for (const Trace& trace : evidence.traces) {
      if (trace.tag == tag) traces_.push_back(&trace);
    }
  }

  std::string text(const std::string& tag) {
    if (traces_.empty()) return tag + ": no handler got it\n";
    const Trace& first = *traces_.front();
    zero_ = first.at;
    out_ << tag << ", queue " << first.queue << ", " << words(place_of(first.task))
         << "; seconds since its first start, which was at " << wall_clock(zero_) << "\n";
    for (const Trace* trace : traces_) tell(*trace);
    tell_faults();
    return out_.str();
  }

 private:
  static std::string words(pid_t pid) {
    if (pid == 0) return "all";
    if (pid > 0) return "process " + std::to_string(pid);
    if (pid == -1) return "no partition";
    const pid_t place = -2 - pid;  // place_of()
    return "partition " + std::to_string(place / 4096) + "/" + std::to_string(place % 4096);
  }
  [[nodiscard]] std::string since(Nanoseconds at) const {
    char text[32];
    std::snprintf(text, sizeof text, "%+.3f", static_cast<double>(at - zero_) / 1e9);
    return text;
  }
  // Format of the daemons' logs.
  [[nodiscard]] std::string wall_clock(Nanoseconds at) const {
    const Nanoseconds wall = at + evidence_.wall_clock;
    const std::time_t seconds = wall / kSecond;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char day[32];
    std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    char text[48];
    std::snprintf(text, sizeof text, "%s.%03dZ", day, static_cast<int>(wall % kSecond / 1'000'000));
    return text;
  }

  void tell(const Trace& trace) {
    out_ << "  " << since(trace.at) << " " << name_of(trace.mark) << ", task " << trace.task
         << ", worker " << trace.pid << " of allotd " << trace.parent;
    if (trace.attempt != 0) out_ << ", attempt " << trace.attempt;
    if (trace.epoch != 0) {
      out_ << ", epoch " << trace.epoch << ", lease sure until " << since(trace.lease_until);
    }
    out_ << "\n";
  }

  [[nodiscard]] bool near(const Fault& fault) const {
    return std::any_of(traces_.begin(), traces_.end(), [&](const Trace* trace) {
      return fault.begin <= trace->at + kAround && fault.end >= trace->at - kAround;
    });
  }

  void tell_faults() {
    std::set<pid_t> own{0};
    for (const Trace* trace : traces_) {
      own.insert({trace->pid, trace->parent, place_of(trace->task)});
    }
    std::vector<const Fault*> faults;
    for (const Fault& fault : evidence_.faults) {
      if (near(fault)) faults.push_back(&fault);
    }
    std::sort(faults.begin(), faults.end(),
              [](const Fault* a, const Fault* b) { return a->begin < b->begin; });
    out_ << "  faults within 10 s; *: of these workers, their hosts, that partition, or all\n";
    for (const Fault* fault : faults) {
      out_ << (own.count(fault->pid) != 0 ? "  * " : "    ") << since(fault->begin) << " to "
           << since(fault->end) << " " << fault->kind << ", " << words(fault->pid)
           << (fault->fatal ? ", which died" : "") << "\n";
    }
    if (faults.empty()) out_ << "    none\n";
  }

  const Evidence& evidence_;
  std::vector<const Trace*> traces_;
  Nanoseconds zero_ = 0;
  std::ostringstream out_;
};

}  // namespace

std::string story_of(const Evidence& evidence, const std::string& tag) {
  return Story(evidence, tag).text(tag);
}

}  // namespace allot::fault
