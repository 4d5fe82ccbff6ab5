// SPDX-License-Identifier: Apache-2.0
#include "e2e/full_disk.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace allot::e2e {
namespace {

// Fills it with rows of decreasing size, until even the smallest does not fit.
constexpr std::size_t kLargest = 500'000;
constexpr std::size_t kSmallest = 1'000;

// MySQL also has a dictionary and undo logs, which are larger than the tables at first.
std::uint64_t largest_file(const std::string& folder) {
  std::uint64_t size = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.is_regular_file()) size = std::max<std::uint64_t>(size, file.file_size());
  }
  return size;
}

}  // namespace

std::vector<std::string> FullDisk::server_settings() {
  return {"--innodb-file-per-table=0", "--innodb-autoextend-increment=1", "--skip-log-bin",
          support::on_mysql() ? "--innodb-redo-log-capacity=8M" : "--innodb-log-file-size=8M"};
}

void FullDisk::ignore_signal() {
  (void)::signal(SIGXFSZ, SIG_IGN);
}

FullDisk::FullDisk(support::Database& server, std::optional<db::Connection> db)
    : server_(server),
      db_(std::move(db)),
      folder_(server.folder() + "/data"),
      tables_(folder_ + "/ibdata1"),
      pid_(server.pid()) {}

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

void FullDisk::fill(std::size_t size) {
  db_->execute("INSERT INTO filler (a) VALUES (REPEAT('x', " + std::to_string(size) + "))");
}

void FullDisk::make_it_the_largest() {
  while (std::filesystem::file_size(tables_) < largest_file(folder_)) fill(kLargest);
}

void FullDisk::begin() {
  if (!db_) return;
  try {
    db_->execute(
        "CREATE TABLE IF NOT EXISTS filler (id INT PRIMARY KEY AUTO_INCREMENT, a LONGBLOB)"
        " ENGINE=InnoDB; TRUNCATE filler");
    make_it_the_largest();
  } catch (const db::DbError&) {
    return;
  }
  limit(std::filesystem::file_size(tables_));
  for (std::size_t size = kLargest; size > kSmallest; size /= 8) {
    try {
      for (;;) fill(size);
    } catch (const db::DbError& error) {
      if (error.error_class() == db::ErrorClass::kGone) return;
    }
  }
}

}  // namespace allot::e2e
