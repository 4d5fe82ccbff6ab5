// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"

// The page on which the steward of an instance tells its workers what it saw in the database (S77).
// The steward alone writes it; workers map it read-only. It is a file of the runtime folder.
namespace allot::peer {

[[nodiscard]] std::string look_page_in(const std::string& runtime_dir);

// A lease, or a detached task, that may be taken over. A takeover names epoch and expiry, so an
// entry that is wrong takes nothing.
struct StandingLease {
  static constexpr std::uint32_t kDetached = 1, kStale = 2;  // flags
  static constexpr std::size_t kExpirySize = 32;

  std::uint64_t epoch, first_key;  // first_key and prio: of a detached task
  std::uint32_t queue_id, partition_no, prio, flags;
  char expire_at[kExpirySize];  // as the server words it
};

// The connection by which the steward looks. Another one has to see everything standing still
// anew, and tells workers to see whether theirs is good for anything.
struct LookSource {
  std::uint64_t server_id = 0, term = 0, generation = 0;
  bool operator==(const LookSource&) const = default;
};

// One look. Times are CLOCK_BOOTTIME.
struct Look {
  static constexpr std::size_t kMost = 62;  // the others follow when these are taken

  LookSource source{};
  std::uint64_t looked_ns = 0;  // when it was sent; 0: there is none
  std::uint64_t writer_ns = 0;  // when the server was last seen to be the writer
  std::uint64_t every_ns = 0;   // the longest time between two looks
  std::uint64_t count = 0;
  std::array<StandingLease, kMost> standing{};

  // Older than two looks, the page says nothing: workers look themselves.
  [[nodiscard]] bool fresh(Nanos now) const;
};

// What the file holds: words, so that no reader sees half of one.
struct LookWords {
  static constexpr std::size_t kCount = (sizeof(Look) + 7) / 8;
  std::atomic<std::uint64_t> version;  // odd while it is being written
  std::atomic<std::uint64_t> checksum;
  std::atomic<std::uint64_t> words[kCount];
};

class LookWriter {
 public:
  explicit LookWriter(const std::string& file);
  LookWriter(const LookWriter&) = delete;
  LookWriter& operator=(const LookWriter&) = delete;
  ~LookWriter();

  // False: there is no page, or the steward before this one has not left yet.
  bool publish(const Look& look);
  // From now on workers look themselves.
  void withdraw() { publish({}); }

 private:
  UniqueFd file_;
  LookWords* page_ = nullptr;
};

// For one thread.
class LookReader {
 public:
  explicit LookReader(std::string file) : file_(std::move(file)) {}
  LookReader(const LookReader&) = delete;
  LookReader& operator=(const LookReader&) = delete;
  ~LookReader() { unmap(); }

  // The last look, if it is fresh.
  std::optional<Look> read();

 private:
  void map();
  void unmap();

  const std::string file_;
  const LookWords* page_ = nullptr;
  Nanos map_again_ns_ = 0;
};

}  // namespace allot::peer
