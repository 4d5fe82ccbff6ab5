// SPDX-License-Identifier: Apache-2.0
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <fstream>

#include "queue/model/lease.h"

namespace allot::queue {
namespace {

std::uint64_t random_id() {
  std::uint64_t id = 0;
  while (id == 0) {
    if (getrandom(&id, sizeof id, 0) != static_cast<ssize_t>(sizeof id)) id = 0;
  }
  return id;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// FNV-1a: stable over restarts and builds, unlike std::hash.
std::uint64_t stable_hash(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<std::uint8_t>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace

Holder make_holder(const std::string& instance, const std::string& runtime_dir,
                   std::uint64_t mark) {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  Holder holder;
  holder.id = random_id();
  // The mark is needed: two running daemons may share all names, and then S11 would free live
  // leases.
  holder.origin = stable_hash(first_line("/etc/machine-id") + "\n" + host + "\n" + instance + "\n" +
                              runtime_dir + "\n" + std::to_string(mark));
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
