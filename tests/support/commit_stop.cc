// SPDX-License-Identifier: Apache-2.0
#include "support/commit_stop.h"

#include "support/database.h"

namespace allot::support {

CommitStop::CommitStop(db::Connection& db) : db_(db) {
  if (on_mysql()) {
    db_.execute("SET GLOBAL rpl_semi_sync_source_enabled = ON");
    return;
  }
  db_.execute(
      "BACKUP STAGE START; BACKUP STAGE FLUSH; BACKUP STAGE BLOCK_DDL; BACKUP STAGE BLOCK_COMMIT");
}

CommitStop::~CommitStop() {
  try {
    db_.execute(on_mysql() ? "SET GLOBAL rpl_semi_sync_source_enabled = OFF" : "BACKUP STAGE END");
  } catch (const db::DbError&) {
    // The server is gone, and with it the block.
  }
}

std::uint64_t CommitStop::waiting(const std::string& pattern) {
  return number_of(db_, "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE '%" +
                            std::string(on_mysql() ? "semi-sync" : "backup") +
                            "%' AND info LIKE '" + pattern + "' AND id <> CONNECTION_ID()");
}

}  // namespace allot::support
