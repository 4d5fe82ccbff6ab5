// SPDX-License-Identifier: Apache-2.0
#include "fault/table.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace allot::fault {
namespace {

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
    row("overlaps", verdict_.overlaps);
    row("in an exclusive queue whose whole host stood still", verdict_.frozen_overlaps);
  }

  void restarts() {
    restart("same host, after kill -9 of a worker", "kill_worker", true);
    restart("the same without other faults meanwhile", "kill_worker", false);
    restart("other host, after kill -9 of a host", "kill_host", true);
    restart("the same without other faults meanwhile", "kill_host", false);
  }

  void restart(const std::string& what, const std::string& kind, bool disturbed) {
    std::vector<Nanoseconds> times;
    for (const Verdict::Restart& restart : verdict_.restarts) {
      if (restart.kind == kind && (disturbed || !restart.disturbed)) times.push_back(restart.after);
    }
    if (times.empty()) return;
    std::sort(times.begin(), times.end());
    const auto at = [&times](double part) {
      const auto index = static_cast<std::size_t>(part * static_cast<double>(times.size() - 1));
      return fixed(static_cast<double>(times.at(index)) / 1e6, 0);
    };
    row("ms until the next attempt starts, " + what + ": p50 / p99 / most (of " +
            std::to_string(times.size()) + ")",
        at(0.5) + " / " + at(0.99) + " / " + at(1));
  }

  void locks() {
    const double millions = static_cast<double>(verdict_.runs) / 1e6;
    const auto each = [millions](std::uint64_t count) {
      return std::to_string(count) + " (" +
             fixed(millions > 0 ? static_cast<double>(count) / millions : 0, 1) + ")";
    };
    row("deadlocks that no fault provoked (per million tasks)", each(result_.counted.deadlocks));
    row("lock waits that no fault provoked (per million tasks)", each(result_.counted.lock_waits));
    const auto& counted = result_.counted;
    row("ms that one of these waits took on average",
        fixed(counted.lock_waits == 0 ? 0
                                      : static_cast<double>(counted.waited_ms) /
                                            static_cast<double>(counted.lock_waits),
              1));
    row("deadlocks, lock waits while a fault held locks",
        std::to_string(result_.provoked.deadlocks) + ", " +
            std::to_string(result_.provoked.lock_waits));
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
