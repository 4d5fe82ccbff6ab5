// SPDX-License-Identifier: Apache-2.0
#include "peer/poll_page.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <type_traits>

#include "base/mutant.h"
#include "base/posix.h"
#include "peer/shared_file.h"

namespace allot::peer {
namespace {

using Words = std::array<std::uint64_t, PollWords::kCount>;
static_assert(std::is_trivially_copyable_v<Poll> && sizeof(Poll) == sizeof(Words));

// A missing or old page is opened again after this time, because a steward may have made a new one.
constexpr Nanos kMapEvery = kSecond;
// Number of reads, in case the writer is interrupted in between.
constexpr int kTries = 3;

// FNV-1a over words; not 0 for empty input, so that an empty file does not match.
std::uint64_t checksum_of(const Words& words) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::uint64_t word : words) hash = (hash ^ word) * 1099511628211U;
  return hash;
}

std::optional<Poll> copy_of(const PollWords& page) {
  const std::uint64_t version = page.version.load(std::memory_order_acquire);
  if (version % 2 != 0) return std::nullopt;
  Words words;
  for (std::size_t at = 0; at < words.size(); ++at) {
    words[at] = page.words[at].load(std::memory_order_acquire);
  }
  const std::uint64_t checksum = page.checksum.load(std::memory_order_acquire);
  if (page.version.load(std::memory_order_relaxed) != version) return std::nullopt;
  if (checksum != checksum_of(words)) return std::nullopt;
  Poll poll;
  std::memcpy(static_cast<void*>(&poll), words.data(), sizeof poll);
  if (poll.count > Poll::kMost) return std::nullopt;
  return poll;
}

}  // namespace

std::string poll_page_in(const std::string& runtime_dir) {
  return runtime_dir + "/poll";
}

bool Poll::fresh(Nanos now) const {
  if (polled_ns == 0 || polled_ns > now) return false;
  return now - polled_ns <= 2 * every_ns || mutant::removed("page_stale");
}

PollWriter::PollWriter(const std::string& file)
    : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640)) {
  if (!file_.valid() || ::ftruncate(file_.get(), sizeof(PollWords)) != 0) return;
  page_ = static_cast<PollWords*>(map_present(file_.get(), 0, sizeof(PollWords)));
  withdraw();
}

// A mapping keeps the lock of its file.
PollWriter::~PollWriter() {
  withdraw();
  if (page_ != nullptr) ::munmap(page_, sizeof(PollWords));
}

bool PollWriter::publish(const Poll& poll) {
  if (page_ == nullptr || ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return false;
  Words words;
  std::memcpy(words.data(), &poll, sizeof poll);
  // Odd, even after a steward that died while it wrote.
  const std::uint64_t version = page_->version.load(std::memory_order_relaxed) | 1U;
  page_->version.store(version, std::memory_order_relaxed);
  // A reader of one of these words also sees the odd version. TSan does not know fences.
  for (std::size_t at = 0; at < words.size(); ++at) {
    page_->words[at].store(words[at], std::memory_order_release);
  }
  page_->checksum.store(checksum_of(words), std::memory_order_release);
  page_->version.store(version + 1, std::memory_order_release);
  return true;
}

std::optional<Poll> PollReader::read() {
  const Nanos now = boot_ns();
  if (page_ == nullptr && now >= map_again_ns_) map();
  if (page_ == nullptr) return std::nullopt;
  for (int tries = 0; tries < kTries; ++tries) {
    auto poll = copy_of(*page_);
    if (!poll) continue;
    if (poll->fresh(now)) return poll;
    break;
  }
  // The file may be another one by now.
  if (now >= map_again_ns_) unmap();
  return std::nullopt;
}

void PollReader::map() {
  map_again_ns_ = boot_ns() + kMapEvery;
  const UniqueFd file(::open(file_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) return;
  if (static_cast<std::size_t>(status.st_size) < sizeof(PollWords)) return;
  page_ = static_cast<const PollWords*>(map_shared(file.get(), 0, sizeof(PollWords), false));
}

void PollReader::unmap() {
  if (page_ == nullptr) return;
  ::munmap(const_cast<PollWords*>(page_), sizeof(PollWords));
  page_ = nullptr;
}

}  // namespace allot::peer
