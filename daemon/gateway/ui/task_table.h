// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "gateway/ui/page.h"

// A list of tasks of one queue as a table, for the pages of a queue and for the search.
namespace allot::gateway::ui {

// Lists of a queue, with different columns. `path` is the end of the API path, `page` the end of
// the dashboard path, `time` the name of the time column.
struct TaskList {
  std::string_view state;  // of its tasks: "waiting"
  std::string_view path;
  std::string_view page;
  std::string_view title;
  std::string_view time;
};
inline constexpr TaskList kWaitingTasks{"waiting", "tasks", "waiting", "Waiting tasks", "Due"};
inline constexpr TaskList kRunningTasks{"running", "running", "running", "Tasks that run detached",
                                        "Due"};
inline constexpr TaskList kDeadTasks{"dead", "dead", "dead", "Dead tasks", "Died"};
inline constexpr TaskList kDoneTasks{"done", "history", "history", "Finished tasks", "Ended"};

// Number of tasks on a page.
inline constexpr std::string_view kTasksOfPage = "50";

void write_task_table(Html& html, const View& view, const json& tasks, const TaskList& list);

}  // namespace allot::gateway::ui
