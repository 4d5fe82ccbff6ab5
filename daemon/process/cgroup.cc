// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "ipc/slot.h"
#include "log/log.h"
#include "peer/inherited.h"
#include "process/cgroup_limits.h"
#include "process/own.h"

namespace allot::process {
namespace {

using std::chrono::milliseconds;

constexpr const char* kWish = "[daemon] cgroup = true: ";

std::string content_of(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

[[noreturn]] void refuse(const std::string& what, const std::string& folder, int error) {
  throw Error(kWish + what + " " + folder + ": " + std::strerror(error) +
                  "; under systemd give the service Delegate=yes and ProtectControlGroups=no "
                  "(systemctl edit allotd), elsewhere start it in a cgroup that its user owns; or "
                  "set cgroup = false",
              kExitConfig);
}

// Moves this process with all its threads. False with errno.
bool enter(const std::string& folder) {
  return write_cgroup(folder + "/cgroup.procs", "0");
}

void make(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) refuse("cannot make", folder, errno);
  if (::access((folder + "/cgroup.kill").c_str(), W_OK) == 0) return;
  const int error = errno;
  ::rmdir(folder.c_str());
  if (error != ENOENT) refuse("cannot write cgroup.kill in", folder, error);
  throw Error(
      kWish + folder + " has no cgroup.kill, which Linux has since 5.14; set cgroup = false",
      kExitConfig);
}

// The file does not count zombies, but it counts the cgroups below.
bool wait_until_empty(const std::string& folder, milliseconds patience) {
  const UniqueFd events(::open((folder + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    std::array<char, 256> text{};
    const ssize_t size = ::pread(events.get(), text.data(), text.size(), 0);
    if (size < 0) return errno == ENODEV;  // removed by another process
    const std::string_view read(text.data(), static_cast<std::size_t>(size));
    if (read.find("populated 0") != std::string_view::npos) return true;
    const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd changed = {events.get(), POLLPRI, 0};
    ::poll(&changed, 1, static_cast<int>(left.count()));
  }
}

// A worker that waits here has no heartbeat yet, and is killed if it takes the whole limit.
milliseconds patience(const config::Settings& settings) {
  return std::min(config::frozen_limit(settings.daemon) / 2, milliseconds(5'000));
}

// Ends all processes in the cgroup or below, if it exists. A process that hangs in the kernel
// (because a disk does not answer) has its SIGKILL; the worker starts without waiting longer.
void end_all(const std::string& folder, const config::Settings& settings) {
  const bool killed = write_cgroup(folder + "/cgroup.kill", "1");
  if (!killed && errno == ENOENT) return;
  const char* why = killed ? "still there after its SIGKILL" : std::strerror(errno);
  if (killed && wait_until_empty(folder, patience(settings))) return;
  log::warn("cgroup.not_ended", {{"folder", folder}, {"reason", why}});
}

bool wanted(const config::Settings& settings) {
  return settings.daemon.cgroup && peer::inherited(ipc::kSlotFd);
}

// The folder is the same for every run of this instance. The name of the instance is not enough:
// two daemons of one name, with different runtime folders, may run in one cgroup.
std::string folder_of(const std::string& own, const config::Settings& settings,
                      std::uint32_t slot) {
  const queue::Holder holder = own_holder(settings);
  std::array<char, 32> tail{};
  std::snprintf(tail.data(), tail.size(), "-%016llx-%u",
                static_cast<unsigned long long>(holder.origin), slot);
  return cgroup_base(own) + "/allot-" + holder.instance + tail.data();
}

// One line of mountinfo: which part of the file system is mounted, and where; empty if not cgroup
// v2.
struct Mount {
  std::string root;
  std::string point;
};

Mount cgroup_mount(const std::string& line) {
  if (line.find(" - cgroup2 ") == std::string::npos) return {};
  std::istringstream words(line);
  std::string skipped;
  Mount mount;
  words >> skipped >> skipped >> skipped >> mount.root >> mount.point;
  return mount;
}

}  // namespace

std::string find_cgroup(std::string_view cgroup, std::string_view mountinfo) {
  std::string path;
  std::istringstream memberships{std::string(cgroup)};
  for (std::string line; std::getline(memberships, line);) {
    if (line.starts_with("0::/")) path = line.substr(3);
  }
  if (path.empty()) return {};
  std::istringstream mounts{std::string(mountinfo)};
  for (std::string line; std::getline(mounts, line);) {
    const Mount mount = cgroup_mount(line);
    if (mount.point.empty()) continue;
    const std::string root = mount.root == "/" ? "" : mount.root;
    const std::string below = path == "/" ? "" : path;
    if (below == root) return mount.point;
    if (below.starts_with(root + "/")) return mount.point + below.substr(root.size());
  }
  return {};
}

std::string own_cgroup() {
  std::string own =
      find_cgroup(content_of("/proc/self/cgroup"), content_of("/proc/self/mountinfo"));
  if (!own.empty()) return own;
  throw Error(std::string(kWish) +
                  "no cgroup v2 that holds this process is mounted here; mount one (mount -t "
                  "cgroup2 none /sys/fs/cgroup), or set cgroup = false",
              kExitConfig);
}

void try_cgroup(const std::string& own) {
  const std::string folder = cgroup_base(own) + "/allot-check-" + std::to_string(::getpid());
  make(folder);
  const bool entered = enter(folder);
  const int error = errno;
  if (entered) enter(own);
  ::rmdir(folder.c_str());
  if (!entered) refuse("cannot enter", folder, error);
}

WorkerCgroup::WorkerCgroup(const config::Settings& settings, const config::Pool& pool,
                           std::uint32_t slot)
    : settings_(settings) {
  if (!wanted(settings)) return;
  const std::string own = own_cgroup();
  folder_ = folder_of(own, settings, slot);
  make(folder_);
  end_all(folder_, settings);
  // Its settler would have removed it, so that worker died with nothing to settle.
  if (const std::string why = out_of_memory(folder_); !why.empty()) {
    log::warn("worker.out_of_memory", {{"slot", slot}, {"worker", "the former"}, {"error", why}});
  }
  // The kernel's counts start again with the folder. It stays if a process in it did not end.
  ::rmdir(folder_.c_str());
  make(folder_);
  limit_cgroup(folder_, pool);
  if (!enter(folder_)) refuse("cannot enter", folder_, errno);
  own_ = own;
}

// A killed worker leaves its folder to its settler or, if there was nothing to settle, to the next
// worker of its slot, which uses it again. A reload may have turned the original cgroup of this
// process into one without processes.
WorkerCgroup::~WorkerCgroup() {
  if (own_.empty() || (!enter(own_) && !enter(cgroup_leaf(cgroup_base(own_))))) return;
  end_all(folder_, settings_);
  ::rmdir(folder_.c_str());
}

std::string end_cgroup(const config::Settings& settings, std::uint32_t slot) noexcept {
  if (!wanted(settings)) return {};
  try {
    const std::string folder = folder_of(own_cgroup(), settings, slot);
    end_all(folder, settings);
    return out_of_memory(folder);
  } catch (const std::exception& error) {
    log::warn("cgroup.not_ended", {{"slot", slot}, {"reason", error.what()}});
    return {};
  }
}

void remove_cgroup(const config::Settings& settings, std::uint32_t slot) noexcept {
  if (!wanted(settings)) return;
  try {
    ::rmdir(folder_of(own_cgroup(), settings, slot).c_str());
  } catch (const std::exception& error) {
    log::warn("cgroup.not_removed", {{"slot", slot}, {"reason", error.what()}});
  }
}

}  // namespace allot::process
