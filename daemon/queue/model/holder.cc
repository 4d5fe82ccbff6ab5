// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <fstream>

#include "base/checksum.h"
#include "queue/model/lease.h"
#include "queue/model/random.h"

namespace allot::queue {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

Holder make_holder(const std::string& instance, const std::string& runtime_dir,
                   std::uint64_t mark) {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  Holder holder;
  while (holder.id == 0) holder.id = random_number<std::uint64_t>();
  // The mark is needed: two running daemons may share all names, and then S11 would free live
  // leases.
  holder.origin = Checksum(first_line("/etc/machine-id") + "\n" + host + "\n" + instance + "\n" +
                           runtime_dir + "\n" + std::to_string(mark))
                      .value();
  holder.host = host;
  holder.instance = instance;
  holder.pid = static_cast<std::uint32_t>(getpid());
  return holder;
}

// It advances at half speed, like a worker's time.
std::chrono::microseconds HolderTime::now() const {
  constexpr std::chrono::seconds kSince2025{1'735'689'600};
  if (known.count() == 0) return known;
  const auto since = std::chrono::microseconds((boot_ns() - at_ns) / kMicro);
  return std::max(std::chrono::microseconds(0), known + since / 2 - kSince2025);
}

}  // namespace allot::queue
