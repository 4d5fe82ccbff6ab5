// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

// What the workers of one `allot drain` may do together, and have done: a file that all of them
// map.
namespace allot::peer {

struct Tally {
  std::atomic<std::int64_t> allowed;   // attempts that may still start
  std::atomic<std::uint64_t> started;  // attempts
  std::atomic<std::uint64_t> done;     // of these: their tasks are finished
  std::atomic<std::uint64_t> failed;   // of these: retry, dead, or a crash
};

// A new file in place of what is there, mapped. nullptr: errno says why.
Tally* make_tally(const std::string& path, std::int64_t allowed);

// That of another process; nullptr: errno says why.
Tally* map_tally(const std::string& path);

// False: no attempt may start any more.
bool take(Tally& tally);
// It did not start after all.
void give_back(Tally& tally);

// From now on none may.
void close(Tally& tally);

}  // namespace allot::peer
