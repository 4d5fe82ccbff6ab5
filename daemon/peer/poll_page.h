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

// The page on which the steward of an instance shows its workers the state of the database (S77).
// Only the steward writes it; workers map it read-only. It is a file of the runtime folder.
namespace allot::peer {

[[nodiscard]] std::string poll_page_in(const std::string& runtime_dir);

// A lease, or a detached task, that may be taken over. A takeover names epoch and expiry, so a
// wrong entry takes nothing.
struct StandingLease {
  static constexpr std::uint32_t kDetached = 1, kStale = 2;  // flags
  static constexpr std::size_t kExpirySize = 32;

  std::uint64_t epoch, first_key;  // first_key and prio: for a detached task
  std::uint32_t queue_id, partition_no, prio, flags;
  char expire_at[kExpirySize];  // as the server prints it

  bool operator==(const StandingLease&) const = default;
};

// The connection of the steward's polls. A new connection has to observe all stalled holders again,
// and makes workers test their own connections.
struct PollSource {
  std::uint64_t server_id = 0, term = 0, generation = 0;
  bool operator==(const PollSource&) const = default;
};

// Result of one poll. Times are CLOCK_BOOTTIME.
struct Poll {
  static constexpr std::size_t kMost = 62;  // the others follow when these are taken

  PollSource source{};
  std::uint64_t polled_ns = 0;  // when it was sent; 0: there is none
  std::uint64_t writer_ns = 0;  // when the server was last seen to be the writer
  std::uint64_t every_ns = 0;   // the longest time between two polls
  std::uint64_t count = 0;
  std::array<StandingLease, kMost> standing{};

  // A page older than two polls is ignored: workers poll themselves.
  [[nodiscard]] bool fresh(Nanos now) const;
};

// Content of the file: words, so that a reader never sees half of one.
struct PollWords {
  static constexpr std::size_t kCount = (sizeof(Poll) + 7) / 8;
  std::atomic<std::uint64_t> version;  // odd while it is being written
  std::atomic<std::uint64_t> checksum;
  std::atomic<std::uint64_t> words[kCount];
};

class PollWriter {
 public:
  explicit PollWriter(const std::string& file);
  PollWriter(const PollWriter&) = delete;
  PollWriter& operator=(const PollWriter&) = delete;
  ~PollWriter();

  // False: the page is missing, or the previous steward has not left yet.
  bool publish(const Poll& poll);
  // From now on workers poll themselves.
  void withdraw() { publish({}); }

 private:
  UniqueFd file_;
  PollWords* page_ = nullptr;
};

// For one thread.
class PollReader {
 public:
  explicit PollReader(std::string file) : file_(std::move(file)) {}
  PollReader(const PollReader&) = delete;
  PollReader& operator=(const PollReader&) = delete;
  ~PollReader() { unmap(); }

  // The last poll, if it is fresh.
  std::optional<Poll> read();

 private:
  void map();
  void unmap();

  const std::string file_;
  const PollWords* page_ = nullptr;
  Nanos map_again_ns_ = 0;
};

}  // namespace allot::peer
