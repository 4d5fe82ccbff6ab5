// SPDX-License-Identifier: Apache-2.0
#include "peer/tally.h"

#include <fcntl.h>
#include <unistd.h>

#include <limits>

#include "base/unique_fd.h"
#include "peer/shared_file.h"

namespace allot::peer {
namespace {

Tally* map(const UniqueFd& file) {
  if (!file.valid()) return nullptr;
  return static_cast<Tally*>(map_present(file.get(), 0, sizeof(Tally)));
}

}  // namespace

Tally* make_tally(const std::string& path, std::int64_t allowed) {
  unlink(path.c_str());  // workers of an earlier drain keep the old file
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() || ftruncate(file.get(), sizeof(Tally)) != 0) return nullptr;
  Tally* tally = map(file);
  if (tally != nullptr) tally->allowed = allowed;
  return tally;
}

Tally* map_tally(const std::string& path) {
  return map(UniqueFd(open(path.c_str(), O_RDWR | O_CLOEXEC)));
}

bool take(Tally& tally) {
  if (tally.allowed.fetch_sub(1) > 0) {
    tally.started.fetch_add(1);
    return true;
  }
  tally.allowed.fetch_add(1);
  return false;
}

// The value is so far below zero that what take() and give_back() add does not matter.
void close(Tally& tally) {
  tally.allowed = std::numeric_limits<std::int64_t>::min() / 2;
}

void give_back(Tally& tally) {
  tally.started.fetch_sub(1);
  tally.allowed.fetch_add(1);
}

}  // namespace allot::peer
