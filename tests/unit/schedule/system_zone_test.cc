// SPDX-License-Identifier: Apache-2.0
#include "schedule/system_zone.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "schedule/computing_process.h"
#include "support/temp_dir.h"

namespace allot::schedule {
namespace {

std::string fault_with(const std::string& name, const std::string& folder = kZoneFolder) {
  try {
    check_zone(name, folder);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(SystemZone, KnowsZonesOfAllSorts) {
  for (const char* name : {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5",
                           "America/Port-au-Prince"}) {
    EXPECT_EQ(fault_with(name), "none");
  }
}

TEST(SystemZone, UtcNeedsNoTzdata) {
  const support::TempDir empty;
  EXPECT_EQ(fault_with("UTC", empty.path()), "none");
  EXPECT_NE(fault_with("Europe/Berlin", empty.path()), "none");
  EXPECT_EQ(SystemZone("Asia/Kathmandu").offset(1782864000), 20700);
  EXPECT_EQ(SystemZone("UTC", empty.path()).offset(1782864000), 0);
}

TEST(SystemZone, RefusesAnInvalidName) {
  for (const char* name : {"", "../etc", "../etc/passwd", "Europe/../UTC", "/etc/localtime",
                           "localtime", ":UTC", "Europe/Berlin ", "CET-1CEST,M3.5.0,M10.5.0/3"}) {
    EXPECT_EQ(fault_with(name), "zone '" + std::string(name) +
                                    "': not a time zone name, such as Europe/Berlin or UTC");
  }
}

TEST(SystemZone, RefusesAnUnknownZone) {
  for (const char* name : {"Europe/Nowhere", "Europe", "europe/berlin"}) {
    EXPECT_EQ(fault_with(name),
              "zone '" + std::string(name) +
                  "': no such file in /usr/share/zoneinfo, where tzdata installs time zones");
  }
  EXPECT_EQ(fault_with("zone1970.tab").substr(0, 20), "zone 'zone1970.tab':");
  EXPECT_EQ(fault_with("leapseconds"), "zone 'leapseconds': its file is not a zone file");
}

// The C library silently uses UTC for each of these.
TEST(SystemZone, RefusesAFileThatIsCutOffAnywhere) {
  const support::TempDir folder;
  const std::string sound = content_of(std::string(kZoneFolder) + "/Europe/Berlin");
  ASSERT_GT(sound.size(), 500U);
  write(folder / "Sound", sound);
  EXPECT_EQ(fault_with("Sound", folder.path()), "none");
  for (std::size_t size = 1; size < sound.size(); ++size) {
    write(folder / "Cut", sound.substr(0, size));
    EXPECT_NE(fault_with("Cut", folder.path()), "none") << size;
  }
  EXPECT_EQ(fault_with("Cut", folder.path()),
            "zone 'Cut': its file is truncated; reinstall tzdata");
}

TEST(SystemZone, RefusesHeadersThatLie) {
  const support::TempDir folder;
  const std::string sound = content_of(std::string(kZoneFolder) + "/Europe/Berlin");
  for (std::size_t at = 20; at < 44; at += 4) {
    std::string bytes = sound;
    bytes.replace(at, 4, "\xff\xff\xff\xff");
    write(folder / "Lie", bytes);
    EXPECT_NE(fault_with("Lie", folder.path()), "none") << at;
  }
  std::string old = sound;
  old[4] = '\0';
  write(folder / "Old", old);
  EXPECT_EQ(fault_with("Old", folder.path()),
            "zone 'Old': its file has format version 1, which ends in 2037");
}

TEST(SystemZone, IsTheOneThatWasMadeLast) {
  constexpr Instant kSummer = 1782864000;  // 2026-07-01
  EXPECT_EQ(SystemZone("Europe/Berlin").offset(kSummer), 7200);
  EXPECT_EQ(SystemZone("Asia/Kathmandu").offset(kSummer), 20700);
  EXPECT_EQ(SystemZone("UTC").offset(kSummer), 0);
}

TEST(SystemZone, ReadsAFileThatChanged) {
  const support::TempDir folder;
  const auto from = [](const char* name) {
    return content_of(std::string(kZoneFolder) + "/" + name);
  };
  write(folder / "Moved", from("Asia/Kathmandu"));
  EXPECT_EQ(SystemZone("Moved", folder.path()).offset(1782864000), 20700);
  write(folder / "Moved", from("Asia/Tokyo"));
  EXPECT_EQ(SystemZone("Moved", folder.path()).offset(1782864000), 32400);
}

TEST(Answer, IsALineForEachQuestion) {
  EXPECT_EQ(answer("upcoming 1774742400 0 1 Europe/Berlin 30 2 * * *"), "upcoming 1774746000");
  EXPECT_EQ(answer("missed 0 0 1 ../etc * * * * *"),
            "error zone '../etc': not a time zone name, such as Europe/Berlin or UTC");
  EXPECT_EQ(answer("upcoming 0 0 1 UTC 0 0 31 2 *"),
            "error schedule '0 0 31 2 *': day of month: none of its months has the day 31, so it "
            "would never run");
  EXPECT_EQ(answer("upcoming 253402300800 0 1 UTC * * * * *"), "upcoming");
  EXPECT_EQ(answer("upcoming now 0 1 UTC * * * * *"),
            "error a question is upcoming or missed, AFTER UNTIL MOST ZONE EXPRESSION");
}

}  // namespace
}  // namespace allot::schedule
