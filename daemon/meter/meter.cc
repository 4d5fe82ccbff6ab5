// SPDX-License-Identifier: Apache-2.0
#include "meter/meter.h"

#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "base/fixed_text.h"
#include "base/names.h"

namespace allot::meter {
namespace {

constexpr std::size_t place_of(std::uint64_t hash) {
  return hash % kPlaces;
}

// Never 0, which marks a free place.
std::uint64_t hash_of(std::string_view queue, std::string_view type) {
  Checksum sum;
  sum.add_part(queue);
  sum.add(type);
  return sum.value() | 1U << 31U;
}

template <std::size_t kSize>
bool is(const char (&name)[kSize], std::string_view wanted) {
  return wanted.size() < kSize && name[wanted.size()] == '\0' &&
         std::memcmp(name, wanted.data(), wanted.size()) == 0;
}

std::size_t bucket_of(std::uint64_t took_us) {
  const auto fits = [took_us](std::uint64_t most_ms) { return took_us <= most_ms * 1000; };
  return static_cast<std::size_t>(std::find_if(kBucketsMs.begin(), kBucketsMs.end(), fits) -
                                  kBucketsMs.begin());
}

}  // namespace

void Meter::count(Count what, std::string_view queue, std::string_view type, const Took& took) {
  const auto add = [](Counter& counter, std::uint64_t number) {
    counter.fetch_add(number, std::memory_order_relaxed);
  };
  Pair& pair = pair_of(queue, type);
  add(pair.counts[static_cast<std::size_t>(what)], 1);
  if (took.elapsed_ms) add(pair.elapsed_ms, *took.elapsed_ms);
  if (took.ran) add(pair.ran_us, *took.ran / kMicro);
  if (took.ran) add(pair.buckets[bucket_of(*took.ran / kMicro)], 1);
  if (took.waited) add(pair.waits[bucket_of(*took.waited / kMicro)], 1);
}

// Both names fit (S79). A row that another program wrote may have a longer name; only its start
// counts.
Pair& Meter::pair_of(std::string_view queue, std::string_view type) {
  queue = queue.substr(0, kMaxQueueName);
  type = type.substr(0, kMaxTypeName);
  if (Pair* pair = find(queue, type)) return *pair;
  if (full_.load(std::memory_order_relaxed)) {
    if (Pair* pair = find(queue, kOther)) return *pair;
  }
  return named(queue, type);
}

// A free place ends the search: places are taken in order, none is released, and one is always
// free.
Pair* Meter::find(std::string_view queue, std::string_view type) {
  const std::uint64_t hash = hash_of(queue, type);
  for (std::size_t at = place_of(hash);; at = (at + 1) % kPlaces) {
    const std::uint64_t there = record_.hashes[at].load(std::memory_order_acquire);
    if (there == 0) return nullptr;
    Pair& pair = record_.pairs[at];
    if (there == hash && is(pair.queue, queue) && is(pair.type, type)) return &pair;
  }
}

// Counts the places each time: a worker may have died while it took one.
bool Meter::has_room(bool for_rest) {
  std::size_t taken = 0;
  for (std::size_t at = 0; at < kPlaces; ++at) {
    if (record_.hashes[at].load(std::memory_order_relaxed) == 0) continue;
    if (is(record_.pairs[at].type, kOther) == for_rest) ++taken;
  }
  return taken < (for_rest ? kQueueRests : kPairs);
}

Pair& Meter::named(std::string_view queue, std::string_view type) {
  const MutexLock held(naming_);
  if (Pair* pair = find(queue, type)) return *pair;  // another thread was first
  if (type != kOther && !has_room(false)) {
    full_.store(true, std::memory_order_relaxed);
    type = kOther;  // of this queue, whose sum stays exact (S85)
    if (Pair* pair = find(queue, type)) return *pair;
  }
  if (type == kOther && !has_room(true)) return record_.pairs[kPlaces];
  const std::uint64_t hash = hash_of(queue, type);
  std::size_t at = place_of(hash);
  while (record_.hashes[at].load(std::memory_order_relaxed) != 0) at = (at + 1) % kPlaces;
  Pair& pair = record_.pairs[at];
  copy_text(pair.queue, queue);
  copy_text(pair.type, type);
  record_.hashes[at].store(hash, std::memory_order_release);
  return pair;
}

void Meter::count_error(Count verdict, const ErrorName& name) {
  const std::uint64_t hash = hash_of(name.group, "");
  Failures* failures = find_error(hash, name.group);
  if (failures == nullptr) failures = &named_error(hash, name);
  Counter& counter = verdict == Count::kDead ? failures->dead : failures->retried;
  counter.fetch_add(1, std::memory_order_relaxed);
}

// As find(): the first free place ends the search. nullptr: the name is unknown, and there is room.
Failures* Meter::find_error(std::uint64_t hash, std::string_view group) {
  for (std::size_t at = 0; at < kErrors; ++at) {
    const std::uint64_t there = record_.error_hashes[at].load(std::memory_order_acquire);
    if (there == 0) return nullptr;
    if (there == hash && is(record_.errors[at].group, group)) return &record_.errors[at];
  }
  return &record_.errors[kErrors];
}

Failures& Meter::named_error(std::uint64_t hash, const ErrorName& name) {
  const MutexLock held(naming_);
  if (Failures* failures = find_error(hash, name.group)) return *failures;
  std::size_t at = 0;
  while (record_.error_hashes[at].load(std::memory_order_relaxed) != 0) ++at;
  Failures& failures = record_.errors[at];
  copy_text(failures.queue, name.queue);
  copy_text(failures.type, name.type);
  copy_text(failures.group, name.group);
  copy_text(failures.sample, name.sample);
  record_.error_hashes[at].store(hash, std::memory_order_release);
  return failures;
}

}  // namespace allot::meter
