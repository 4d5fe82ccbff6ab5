// SPDX-License-Identifier: Apache-2.0
#include "fault/full_disk.h"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>

namespace allot::fault {
namespace {

// Fills it with rows of ever smaller size, until not even one of these fits.
constexpr std::size_t kLargest = 500'000;
constexpr std::size_t kSmallest = 1'000;

}  // namespace

std::vector<std::string> FullDisk::server_settings() {
  return {"--innodb-file-per-table=0", "--innodb-log-file-size=8M",
          "--innodb-autoextend-increment=1"};
}

void FullDisk::ignore_signal() {
  (void)::signal(SIGXFSZ, SIG_IGN);
}

FullDisk::FullDisk(support::Database& server, std::optional<db::Connection> db)
    : server_(server), db_(std::move(db)), pid_(server.pid()) {}

FullDisk::~FullDisk() {
  if (!db_ || server_.pid() != pid_)
    return;  // the next one has no limit, and its owner drops the filler
  limit(RLIM_INFINITY);
  try {
    db_->execute("TRUNCATE filler");
  } catch (const db::DbError&) {  // as above
  }
}

void FullDisk::limit(std::uint64_t size) const {
  const rlimit limit{size, RLIM_INFINITY};
  (void)::prlimit(pid_, RLIMIT_FSIZE, &limit, nullptr);
}

void FullDisk::begin() {
  if (!db_) return;
  try {
    db_->execute(
        "CREATE TABLE IF NOT EXISTS filler (id INT PRIMARY KEY AUTO_INCREMENT, a LONGBLOB)"
        " ENGINE=InnoDB; TRUNCATE filler");
  } catch (const db::DbError&) {
    return;
  }
  limit(std::filesystem::file_size(server_.folder() + "/data/ibdata1"));
  for (std::size_t size = kLargest; size > kSmallest; size /= 8) {
    try {
      for (;;) {
        db_->execute("INSERT INTO filler (a) VALUES (REPEAT('x', " + std::to_string(size) + "))");
      }
    } catch (const db::DbError& error) {
      if (error.error_class() == db::ErrorClass::kGone) return;
    }
  }
}

}  // namespace allot::fault
