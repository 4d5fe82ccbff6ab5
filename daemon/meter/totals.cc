// SPDX-License-Identifier: Apache-2.0
#include "meter/totals.h"

#include <algorithm>
#include <iterator>

#include "base/fixed_text.h"
#include "meter/record_file.h"

namespace allot::meter {
namespace {

void add(Total& total, const Pair& pair) {
  for (std::size_t i = 0; i < kCounts; ++i) total.counts[i] += pair.counts[i].load();
  for (std::size_t i = 0; i < kBuckets; ++i) total.buckets[i] += pair.buckets[i].load();
  for (std::size_t i = 0; i < kBuckets; ++i) total.waits[i] += pair.waits[i].load();
  total.ran_us += pair.ran_us.load();
  total.elapsed_ms += pair.elapsed_ms.load();
}

void add_errors(Totals& totals, const Record& record) {
  for (std::size_t i = 0; i <= kErrors; ++i) {
    if (i < kErrors && record.error_hashes[i].load() == 0) continue;
    const Failures& failures = record.errors[i];
    ErrorTotal& total =
        totals.errors[{text_of(failures.queue), text_of(failures.type), text_of(failures.group)}];
    total.sample = text_of(failures.sample);
    total.retried += failures.retried.load();
    total.dead += failures.dead.load();
  }
}

}  // namespace

bool Total::any() const {
  return std::any_of(std::begin(counts), std::end(counts), [](auto count) { return count != 0; });
}

Totals totals(const std::string& runtime_dir) {
  Totals all;
  for (const auto& record : read_records(runtime_dir)) {
    for (std::size_t i = 0; i < kEvents; ++i) all.events[i] += record->events[i].load();
    for (std::size_t i = 0; i <= kPlaces; ++i) {
      if (i < kPlaces && record->hashes[i].load() == 0) continue;
      const Pair& pair = record->pairs[i];
      add(all.pairs[{text_of(pair.queue), text_of(pair.type)}], pair);
    }
    add_errors(all, *record);
  }
  return all;
}

}  // namespace allot::meter
