// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/again.h"

#include <span>
#include <string>
#include <vector>

#include "queue/model/audit.h"

namespace allot::queue {

Submitted submit_again(db::Connection& db, const TaskId& of, const Submission& task) {
  validate(task);
  ExtraStatements extra;
  extra.statements = [&](std::span<const Submitted> made) {
    std::vector<db::Statement> more;
    const std::string& queue = task.queue.name;
    const auto entry = entry_of(db, {"submit_again", "task", of.text(), found_plain(queue),
                                     "as " + made.front().id.text()});
    if (entry) more.push_back(*entry);
    return more;
  };
  return submit(db, {&task, 1}, extra).front();
}

}  // namespace allot::queue
