// SPDX-License-Identifier: Apache-2.0
#include "peer/drain_budget.h"

#include <fcntl.h>
#include <unistd.h>

#include <limits>

#include "base/unique_fd.h"
#include "peer/shared_file.h"

namespace allot::peer {
namespace {

DrainBudget* map(const UniqueFd& file) {
  if (!file.valid()) return nullptr;
  return static_cast<DrainBudget*>(map_present(file.get(), 0, sizeof(DrainBudget)));
}

}  // namespace

DrainBudget* make_drain_budget(const std::string& path, std::int64_t allowed) {
  unlink(path.c_str());  // workers of an earlier drain keep the old file
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() || ftruncate(file.get(), sizeof(DrainBudget)) != 0) return nullptr;
  DrainBudget* budget = map(file);
  if (budget != nullptr) budget->allowed = allowed;
  return budget;
}

DrainBudget* map_drain_budget(const std::string& path) {
  return map(UniqueFd(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC)));
}

bool take(DrainBudget& budget) {
  if (budget.allowed.fetch_sub(1) > 0) {
    budget.started.fetch_add(1);
    return true;
  }
  budget.allowed.fetch_add(1);
  return false;
}

// The value is so far below zero that later calls of take() and refund() do not matter.
void close(DrainBudget& budget) {
  budget.allowed = std::numeric_limits<std::int64_t>::min() / 2;
}

void refund(DrainBudget& budget) {
  budget.started.fetch_sub(1);
  budget.allowed.fetch_add(1);
}

}  // namespace allot::peer
