// SPDX-License-Identifier: Apache-2.0
#include "fault/table.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace allot::fault {
namespace {

constexpr double kTtlMs = 2'000;  // Cluster

std::string fixed(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

std::string megabytes(std::uint64_t bytes) {
  return fixed(static_cast<double>(bytes) / 1048576.0, 1);
}

class Table {
 public:
  Table(const CampaignOptions& options, const CampaignResult& result)
      : options_(options), result_(result), verdict_(result.verdict) {}

  std::string text() {
    out_ << "| seed " << options_.seed << ", " << options_.hosts << " hosts of " << options_.workers
         << " workers | |\n|---|---:|\n";
    row("server", result_.server);
    row("seconds, until all was done", fixed(result_.seconds, 0));
    must();
    tasks();
    faults();
    duplicates();
    restarts();
    locks();
    memory("supervisor", result_.supervisor);
    memory("worker", result_.worker);
    if (!result_.problem.empty()) out_ << "\nproblem: " << result_.problem << "\n";
    for (const std::string& complaint : verdict_.complaints) out_ << complaint << "\n";
    for (const std::string& story : result_.stories) out_ << "\n" << story;
    return out_.str();
  }

 private:
  template <typename Value>
  void row(const std::string& what, const Value& value) {
    out_ << "| " << what << " | " << value << " |\n";
  }

  void must() {
    row("**lost**", verdict_.lost);
    row("**unexpected**", verdict_.unexpected);
    row("**duplicates without a fault that explains them**", verdict_.unexplained_duplicates);
    row("**overlaps without one**", verdict_.unexplained_overlaps);
    row("**overlaps in an exclusive queue**", verdict_.exclusive_overlaps);
    row("**one submission, two tasks**", verdict_.doubled);
    row("**batches of which a part exists**", verdict_.torn);
    row("**dead without a reason**", verdict_.buried);
    row("**dead, though they had succeeded**", verdict_.contradicted);
    row("**crashed more often than they have attempts**", verdict_.overtried);
    row("**unfinished**", verdict_.unfinished);
  }

  void tasks() {
    row("tasks whose submission was acknowledged", verdict_.acknowledged);
    row("refused", verdict_.refused);
    row("whose submission had no reply", verdict_.unknown);
    row("of these, there", verdict_.unknown_exist);
    row("handlers started", verdict_.runs);
    row("handlers that raised SIGSEGV", verdict_.crashes);
    row("dead because their handler said so", verdict_.dead_as_wanted);
    row("dead after " + std::to_string(options_.max_attempts) + " attempts",
        verdict_.dead_by_attempts);
  }

  void faults() {
    row("kill -9", result_.kills);
    std::uint64_t cuts = result_.done("kill_database") + result_.done("kill_connection");
    for (const char* kind : {"cut", "black_hole", "half_open", "orphan", "lose_reply"})
      cuts += result_.done(std::string("worker_") + kind);
    row("database restarts and connections of workers cut", cuts);
    for (const auto& [kind, count] : result_.faults) row("fault: " + kind, count);
  }

  void duplicates() {
    row("duplicates", verdict_.duplicates);
    for (const auto& [kind, repeated] : verdict_.duplicates_by) {
      row("explained by " + kind + " (of these, the first run had finished)",
          std::to_string(repeated.all) + " (" + std::to_string(repeated.finished) + ")");
    }
    const auto within = [this](Scope scope) {
      const auto found = verdict_.duplicates_within.find(scope);
      return found == verdict_.duplicates_within.end() ? 0 : found->second;
    };
    row("explained by a fault of their own worker or its connection", within(Scope::kWorker));
    row("by a lock on their partition", within(Scope::kPartition));
    row("by a fault of their own host", within(Scope::kHost));
    row("by one of the whole database or network", within(Scope::kAll));
    row("% of the time in which one of these last would explain any duplicate",
        fixed(100 * verdict_.excused, 1));
    for (const auto& [kind, share] : verdict_.excused_by)
      row("% of the time, " + kind + " of all", fixed(100 * share, 1));
    row("overlaps", verdict_.overlaps);
    row("in an exclusive queue whose whole host stalled", verdict_.frozen_overlaps);
  }

  // Limits in ms.
  struct Limits {
    double p50 = 0;
    double p99 = 0;
  };
  void restarts() {
    constexpr Limits kSameHost{300, 1'000};
    constexpr Limits kOtherHost{kTtlMs + 1'000, kTtlMs + 1'000};
    restart("same host, after kill -9 of a worker", "kill_worker", true, kSameHost);
    restart("the same without other faults", "kill_worker", false, kSameHost);
    restart("other host, after kill -9 of a host", "kill_host", true, kOtherHost);
    restart("the same without other faults", "kill_host", false, kOtherHost);
  }

  void restart(const std::string& what, const std::string& kind, bool disturbed,
               const Limits& limits) {
    std::vector<Nanoseconds> times;
    for (const Verdict::Restart& restart : verdict_.restarts) {
      if (restart.kind == kind && (disturbed || !restart.disturbed)) times.push_back(restart.after);
    }
    if (times.empty()) return;
    std::sort(times.begin(), times.end());
    const auto at = [&times](double part) {
      const auto index = static_cast<std::size_t>(part * static_cast<double>(times.size() - 1));
      return static_cast<double>(times.at(index)) / 1e6;
    };
    const auto judged = [&at](double part, double limit) {
      return fixed(at(part), 0) + (at(part) < limit ? " within " : " over ") + fixed(limit, 0);
    };
    row("ms until the next attempt starts, " + what + ": p50 / p99 / most (of " +
            std::to_string(times.size()) + ")",
        judged(0.5, limits.p50) + " / " + judged(0.99, limits.p99) + " / " + fixed(at(1), 0));
  }

  void locks() {
    const double millions = static_cast<double>(result_.undisturbed_runs) / 1e6;
    const auto each = [millions](std::uint64_t count) {
      return std::to_string(count) + " (" +
             fixed(millions > 0 ? static_cast<double>(count) / millions : 0, 1) + ")";
    };
    const auto& counted = result_.counted;
    const auto& provoked = result_.provoked;
    row("handlers started while no fault held a lock, or a session that may have had one",
        result_.undisturbed_runs);
    row("deadlocks during the run (per million of these handlers)", each(counted.deadlocks));
    row("lock waits that timed out, error 1205 (per million)", each(counted.timeouts));
    row("momentary waits for a row's lock (per million)",
        each(counted.lock_waits - std::min(counted.lock_waits, counted.timeouts)));
    row("ms that a wait took on average",
        fixed(counted.lock_waits == 0 ? 0
                                      : static_cast<double>(counted.waited_ms) /
                                            static_cast<double>(counted.lock_waits),
              1));
    row("the rest of the time: deadlocks, waits that timed out, all waits",
        std::to_string(provoked.deadlocks) + ", " + std::to_string(provoked.timeouts) + ", " +
            std::to_string(provoked.lock_waits));
  }

  void memory(const std::string& whose, const Meter::Memory& memory) {
    if (memory.age == 0) return;
    row("RSS of the " + whose + " that lived longest (" +
            fixed(static_cast<double>(memory.age) / 1e9, 0) + " s): start, end, most, MiB",
        megabytes(memory.first) + ", " + megabytes(memory.last) + ", " + megabytes(memory.most));
  }

  const CampaignOptions& options_;
  const CampaignResult& result_;
  const Verdict& verdict_;
  std::ostringstream out_;
};

}  // namespace

std::string table_of(const CampaignOptions& options, const CampaignResult& result) {
  return Table(options, result).text();
}

}  // namespace allot::fault
