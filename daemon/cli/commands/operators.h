// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cli/commands/dead.h"
#include "cli/commands/doctor.h"
#include "cli/commands/drain.h"
#include "cli/commands/queue_admin.h"
#include "cli/commands/queue_change.h"
#include "cli/commands/top.h"
#include "cli/commands/why.h"
#include "cli/sources/context.h"

namespace CLI {
class App;
}

namespace allot::cli {

// The options of the commands below.
struct OperatorWords {
  DeadListOptions dead_list;
  DeadListOptions dead_groups;
  DeadChoice dead_retry;
  DeadChoice dead_discard;
  QueueOptions queue;
  ResizeOptions resize;
  MoveOptions move;
  WhyOptions why;
  CancelOptions cancel;
  DoctorOptions doctor;
  DrainOptions drain;
  TopOptions top;
};

// Adds the commands with which operators look into queues and act on them; `app` has the word
// "task" already. When the parser chooses one, it sets `command`. All arguments have to outlive the
// parsing, and the command.
void add_operators(CLI::App& app, const Context& context, OperatorWords& words,
                   std::function<int()>& command);

}  // namespace allot::cli
