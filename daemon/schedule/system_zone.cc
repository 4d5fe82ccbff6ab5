// SPDX-License-Identifier: Apache-2.0
#include "schedule/system_zone.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace allot::schedule {
namespace {

constexpr std::size_t kHeader = 44;
constexpr std::size_t kMostBytes = 65536;
// Has no rules to read, so it works without tzdata as well.
constexpr const char* kUtc = "UTC";

bool is_name(const std::string& name) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
  // `localtime` is whatever zone the host has.
  return !name.empty() && name.size() <= 100 && name.front() != '/' && name != "localtime" &&
         name.find_first_not_of(kLetters) == std::string::npos;
}

std::string read_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  std::ifstream in(path, std::ios::binary);
  std::string bytes(kMostBytes, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

// The six counts in the header of a zone file (RFC 8536), or nullopt.
struct Header {
  explicit Header(std::string_view bytes) {
    if (bytes.size() < kHeader || bytes.substr(0, 4) != "TZif") return;
    is_there = true;
    for (std::size_t at = 0; at < counts.size(); ++at) {
      for (std::size_t byte = 0; byte < 4; ++byte) {
        counts.at(at) = counts.at(at) << 8 | static_cast<unsigned char>(bytes[20 + at * 4 + byte]);
      }
    }
  }
  // Size of the header and its data, with times of that many bytes each.
  [[nodiscard]] std::size_t size(std::size_t time) const {
    const auto [utc, standard, leaps, times, types, letters] = counts;
    return kHeader + times * (time + 1) + types * 6 + letters + leaps * (time + 4) + standard + utc;
  }
  bool is_there = false;
  std::array<std::size_t, 6> counts{};
};

// Reason why these bytes are not a valid zone file; empty if they are. The second part, with times
// of eight bytes, and the rule for future years at its end must be complete.
std::string fault_of(std::string_view bytes) {
  const Header old(bytes);
  if (!old.is_there) return "its file is not a zone file";
  if (bytes[4] == '\0') return "its file has format version 1, which ends in 2037";
  const std::string cut = "its file is truncated; reinstall tzdata";
  if (bytes.size() < old.size(4)) return cut;
  bytes.remove_prefix(old.size(4));
  const Header header(bytes);
  if (!header.is_there || bytes.size() < header.size(8)) return cut;
  if (header.counts[2] != 0) return "it counts leap seconds, unlike the database";
  bytes.remove_prefix(header.size(8));
  if (bytes.size() < 3 || bytes.front() != '\n' || bytes.back() != '\n') return cut;
  return "";
}

}  // namespace

void check_zone(const std::string& name, const std::string& folder) {
  if (name == kUtc) return;
  const auto fail = [&name](const std::string& why) {
    throw Error("zone '" + name + "': " + why, kExitUsage);
  };
  if (!is_name(name)) fail("not a time zone name, such as Europe/Berlin or UTC");
  const std::string bytes = read_file(folder + "/" + name);
  if (bytes.empty()) fail("no such file in " + folder + ", where tzdata installs time zones");
  const std::string fault = fault_of(bytes);
  if (!fault.empty()) fail(fault);
}

SystemZone::SystemZone(const std::string& name, const std::string& folder) {
  check_zone(name, folder);
  // The C library does not read the file again while TZ stays the same.
  setenv("TZ", "UTC0", 1);
  tzset();
  if (name == kUtc) return;
  setenv("TZ", (":" + folder + "/" + name).c_str(), 1);
  tzset();
}

std::int64_t SystemZone::offset(Instant at) const {
  const std::time_t time = at;
  std::tm local{};
  localtime_r(&time, &local);
  return local.tm_gmtoff;
}

}  // namespace allot::schedule
