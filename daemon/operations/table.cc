// SPDX-License-Identifier: Apache-2.0
// The table of routes. A new row is a new request, with its role, its place in the reference and in
// openapi.json, and tests that need an example of it.
#include <iterator>
#include <utility>

#include "metrics/page.h"
#include "operations/route_parts.h"
#include "operations/verbs.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/type_hours.h"
#include "queue/operate/limits.h"
#include "queue/schedules/schedule.h"

namespace allot::operations {
namespace {

using gateway::access::Role;

Route submit_again_route() {
  return change(
      "POST", "/api/v1/tasks/{id}/again", "submit_again",
      "Submits a new task like an unfinished or dead one, with another payload; the first one "
      "stays as it is. The new task has its queue, type, class, limits, label and trace, and "
      "neither its unique key nor its times. Besides the role `operate` it needs `submit` for the "
      "queue. Refused for payloads that their application signs, as jobs of Laravel, Symfony, "
      "Rails and Django are: it alone can submit another one.",
      {kId,
       needed(In::kBody, "payload", "The payload of the new task, as a string",
              "{\"to\": \"ann\"}"),
       text(In::kBody, "partition_key",
            "Only for an ordered, limited or fair queue, where it is needed", "")},
      {201, "Submitted", "submitted; `Location` has its address"}, {404, 409}, submit_again);
}

std::vector<Route> task_routes() {
  return {
      {"POST",
       "/api/v1/tasks",
       "submit",
       Role::kSubmit,
       false,
       "Submits one task, or several in one transaction.",
       {{In::kHeader, "Idempotency-Key",
         "The task's unique key, quoted or bare: while the key is reserved, a second request with "
         "it does not create a second task. Only the key is compared, not the payload",
         "order-4711"},
        kTraceParent,
        kTraceState},
       Body::kTasks,
       {{201, "SubmittedOrList", "submitted; `Location` is the address of a single task"},
        {200, "SubmittedOrList",
         "nothing was submitted: a task with this unique key exists already"}},
       {},
       Executor::kCombiner,
       nullptr,
       R"({"queue": "mail", "type": "mail.send", "payload": {"to": "ann@example.org"}})"},
      get("/api/v1/tasks/{id}", "show_task", "Shows a task in full, with its failed attempts.",
          {kId}, {200, "Task", "the task"}, show_task),
      get("/api/v1/tasks/{id}/attempts", "list_attempts",
          "Lists the failed attempts of a task, the oldest first.", {kId},
          {200, "Attempts", "the attempts"}, list_attempts),
      get("/api/v1/tasks/{id}/payload", "show_payload",
          "Returns the payload of a task, as its handler gets it.", {kId},
          {200, "", "the bytes", "application/octet-stream"}, show_payload),
      get("/api/v1/tasks/{id}/why", "why", "Explains in words why a task is not running.", {kId},
          {200, "Why", "the task, and the reasons"}, show_why),
      get("/api/v1/queues/{queue}/keys/{unique_key}", "find_task",
          "Finds the task of a queue that has a unique key.",
          {kQueue, needed(In::kPath, "unique_key", "The key", "order-4711")},
          {200, "KeyOwner", "the task that has the key"}, find_task),
      change(
          "POST", "/api/v1/tasks/{id}/cancel", "cancel",
          "Cancels a waiting or running task, which is then dead or done.",
          {kId, flag(In::kBody, "as_done", "End it as if it had succeeded: it is done, not dead")},
          {200, "Cancelled", "it was taken out, or its worker was asked to end it"}, {404, 409},
          cancel_task),
      change("POST", "/api/v1/tasks/{id}/retry", "retry",
             "Retries a dead task: puts it back into its queue, with all its attempts available "
             "again.",
             {kId},
             {200, "Retried", "it waits again; its id may have changed if the queue was resized"},
             {404, 409}, retry_task),
      change("POST", "/api/v1/tasks/{id}/discard", "discard", "Removes a dead task permanently.",
             {kId}, {200, "Discarded", "it was removed"}, {404, 409}, discard_task),
      submit_again_route(),
      change(
          "POST", "/api/v1/tasks/{id}/move", "move",
          "Puts a waiting task into another queue. Its id changes, because an id names its queue.",
          {kId, needed(In::kBody, "to", "Queue to move it to", "other")},
          {200, "Moved", "it waits in that queue"}, {404, 409}, move_task)};
}

std::vector<Route> queue_routes() {
  return {
      get("/api/v1/queues", "list_queues", "Lists the queues.", {}, {200, "Queues", "the queues"},
          list_queues),
      get("/api/v1/queues/{queue}", "show_queue", "Shows a queue, and counts its tasks.", {kQueue},
          {200, "CountedQueue", "the queue"}, show_queue),
      task_list("/api/v1/queues/{queue}/tasks", "list_tasks",
                "Lists waiting tasks, by partition, class and due time.", {}, list_tasks),
      task_list("/api/v1/queues/{queue}/running", "list_running",
                "Lists detached tasks: tasks that have run long enough to be detached from their "
                "partition.",
                {}, list_running),
      task_list("/api/v1/queues/{queue}/dead", "list_dead", "Lists dead tasks, the newest first.",
                {text(In::kQuery, "group", kOfGroup, "af67e836cfe4")}, list_dead),
      get("/api/v1/queues/{queue}/dead/groups", "list_groups",
          "Groups dead tasks by type, cause and fault, largest groups first; at most 10,000 tasks "
          "of each group are counted.",
          {kQueue, kAtMost}, {200, "DeadGroups", "the groups"}, list_groups),
      task_list(
          "/api/v1/queues/{queue}/history", "list_history",
          "Lists finished tasks of a queue that keeps a history, the newest first.",
          {text(In::kQuery, "after", "The first page begins after this task", "0840dqg2v5n80r00")},
          list_history),
      get("/api/v1/queues/{queue}/partitions", "list_partitions",
          "Shows the number of partitions of a queue, and the holder of each leased one.", {kQueue},
          {200, "Partitions", "the partitions"}, list_partitions)};
}

std::vector<Route> figure_routes() {
  return {
      get("/api/v1/stats", "stats",
          "Shows all queues with the number of their tasks, up to 10,000 in each state.", {},
          {200, "Stats", "the queues"}, show_stats),
      get("/api/v1/lags", "list_lags",
          "Shows the delay of each queue: how long its first waiting task has been due, and how "
          "many of its partitions are leased. Does not count tasks.",
          {}, {200, "Lags", "the queues, the first 1,000 by name"}, list_lags),
      get_if_known("/api/v1/minutes", "list_minutes",
                   "Shows the work of all hosts in the last week, minute by minute, newest first. "
                   "`in` is `out` plus the change of `backlog`, because submissions are not "
                   "counted; it is negative if waiting tasks were removed without being run. If "
                   "`estimated` is true, `backlog` is an estimate of the server, and so is `in`.",
                   {kOnlyQueue,
                    text(In::kQuery, "by",
                         "One item for each `queue`, each `type` of a queue, or each group of "
                         "errors (`error`); the last two have no backlog. Default: `queue`",
                         "type"),
                    number(In::kQuery, "since", "Number of minutes to look back; default: 60",
                           "120", 1, kMostMinutes),
                    number(In::kQuery, "step", "Minutes per item; default: 1", "5", 1, kMostStep)},
                   {200, "Minutes", "the minutes"}, list_minutes),
      get_if_known(
          "/api/v1/failures", "list_failures",
          "Shows recent failures, including retried attempts, by group of errors, largest first. "
          "They are counted by minute, so an attempt appears about a minute after its end.",
          {kOnlyQueue, number(In::kQuery, "since", "Number of minutes to look back; default: 1440",
                              "120", 1, kMostMinutes)},
          {200, "Failures", "the groups"}, list_failures),
      get_if_known(
          "/api/v1/types", "list_types",
          "Shows for each type how often its tasks ran in the last hours on all hosts, how long "
          "they ran and how long they waited after they were due; types with more attempts first. "
          "The times are approximate: they are computed from 20 buckets, each bound being 2 to 5 "
          "times the previous one. An attempt appears about a minute after its end.",
          {kOnlyQueue, text(In::kQuery, "type", "Only this type; default: all", "mail.send"),
           number(In::kQuery, "hours",
                  "Number of hours to look back, including the current one; default: 24", "48", 1,
                  queue::kTypeHoursKept),
           number(In::kQuery, "step", "Hours in one step of `steps`; default: 1", "6", 1,
                  queue::kTypeHoursKept),
           kAtMost},
          {200, "Types", "the types"}, list_types)};
}

Route move_route() {
  return change(
      "POST", "/api/v1/queues/{queue}/move", "move_waiting", kMoveOfQueue,
      {kQueue, needed(In::kBody, "to", "Queue to move them to", "other"),
       text(In::kBody, "type",
            "Only tasks of this type; `mail.*` matches all types with this prefix", "report.*"),
       text(In::kBody, "cursor",
            "Cursor from `next` of the previous response; default: the first waiting task", ""),
       number(In::kBody, "limit",
              "Maximum number of tasks that one request moves, to keep to a rate", "100", 1,
              10'000),
       flag(In::kBody, "count",
            "Move nothing; `tasks` is the number of tasks that would be moved")},
      {200, "MovedWaiting", "result for the tasks that it examined"}, {404, 409}, move_waiting);
}

std::vector<Route> queue_change_routes() {
  return {
      change("POST", "/api/v1/queues/{queue}/pause", "pause",
             "Pauses a queue: no host starts its tasks; running tasks finish.", {kQueue},
             {200, "Queue", "the paused queue"}, {404}, pause_queue),
      change("POST", "/api/v1/queues/{queue}/resume", "resume", "Resumes a paused queue.", {kQueue},
             {200, "Queue", "the resumed queue"}, {404}, resume_queue),
      change("PUT", "/api/v1/queues/{queue}/rate", "set_rate",
             "Limits the number of tasks of a queue that start per second, over all hosts.",
             {kQueue,
              {In::kBody, "per_second", "Starts per second, such as 500 or 0.5", "500",
               Kind::kDecimal, true},
              number(In::kBody, "burst",
                     "Number of tasks that may start at once after a period without starts", "10",
                     1, 1'000'000)},
             {200, "Queue", "the queue with its rate"}, {404}, set_rate),
      change("DELETE", "/api/v1/queues/{queue}/rate", "remove_rate", "Removes the rate of a queue.",
             {kQueue}, {200, "Queue", "the queue without a rate"}, {404}, remove_rate),
      change("PUT", "/api/v1/queues/{queue}/cap", "set_cap",
             "Limits the number of tasks of a spread queue that run at a time, over all hosts.",
             {kQueue, needed_number(In::kBody, "tasks", "Maximum number of tasks", "20", 1,
                                    queue::kMaxCap)},
             {200, "Queue", "the queue with its cap"}, {404}, set_cap),
      change("DELETE", "/api/v1/queues/{queue}/cap", "remove_cap", "Removes the cap of a queue.",
             {kQueue}, {200, "Queue", "the queue without a cap"}, {404}, remove_cap),
      change("POST", "/api/v1/queues/{queue}/resize", "resize",
             "Changes the number of partitions of a queue.",
             {kQueue,
              needed_number(In::kBody, "partitions", "New number of partitions", "8", 1,
                            kMostPartitions),
              flag(In::kBody, "confirm",
                   "Resize even if new tasks of an ordered or limited queue would wait for a task "
                   "that is due much later")},
             {200, "Resized", "new tasks go to this number of partitions"}, {404, 409},
             resize_queue),
      change(
          "PUT", "/api/v1/queues/{queue}/max_running", "set_max_running",
          "Changes the number of tasks of a key that run at a time in a limited queue.",
          {kQueue, needed_number(
                       In::kBody, "max_running",
                       "Number of tasks of a key, over all hosts; at most the number of partitions",
                       "2", 1, kMostPartitions)},
          {200, "MaxRunning",
           "this number applies; while older tasks are left, the larger of the old and new numbers "
           "does"},
          {404, 409}, set_max_running),
      move_route()};
}

// Counts the tasks, or starts the action if the request has the token of a count.
Route act_on_dead(std::string_view path, std::string_view name, std::string_view summary,
                  Verb verb) {
  Route route = change(
      "POST", path, name, summary,
      {kQueue,
       text(In::kBody, "token",
            "Token of the count, valid for an hour; default: the tasks are only counted", ""),
       text(In::kBody, "group", kOfGroup, "af67e836cfe4"),
       text(In::kBody, "type", "Only dead tasks of this type", "mail.send"),
       number(In::kBody, "rate", "Maximum number of tasks per second; default: no limit", "50", 1,
              1'000'000)},
      {200, "BulkCount", "the number of tasks, and the token with which to start"}, {404, 409},
      verb);
  route.answers.push_back(
      {202, "BulkAction", "it has started; `Location` is the address of the action"});
  return route;
}

std::vector<Route> bulk_routes() {
  return {
      act_on_dead("/api/v1/queues/{queue}/dead/retry", "retry_all_dead",
                  "Retries all dead tasks of a queue, of a group or of a type, as a bulk action: "
                  "the first request has no token and counts them, the second has the token.",
                  retry_all_dead),
      act_on_dead("/api/v1/queues/{queue}/dead/discard", "discard_all_dead",
                  "Removes all dead tasks of a queue, of a group or of a type permanently, as a "
                  "bulk action with the same two requests.",
                  discard_all_dead),
      get("/api/v1/bulk", "list_bulk_actions",
          "Lists bulk actions that are in progress or ended in the last week, newest first.",
          {kAtMost, kCursor}, {200, "BulkActions", "one page"}, list_bulk_actions),
      get("/api/v1/bulk/{action}", "show_bulk_action", "Shows the progress of a bulk action.",
          {kAction}, {200, "BulkAction", "the action"}, show_bulk_action),
      change("POST", "/api/v1/bulk/{action}/stop", "stop_bulk_action",
             "Stops a bulk action after its current batch.", {kAction},
             {200, "BulkAction", "the stopped action"}, {404, 409}, stop_bulk_action)};
}

Route put_schedule_route() {
  Route route = change(
      "PUT", "/api/v1/schedules/{schedule}", "put_schedule",
      "Creates or replaces a schedule; its counts, ticks and pause stay. Needs the roles `operate` "
      "and `submit` for the queue.",
      {kSchedule,
       needed(In::kBody, "expression",
              "Cron expression: five fields as in a crontab, or six with seconds first, or "
              "`@hourly`, `@daily` and so on, or `@every 90s`",
              "0 3 * * *"),
       needed(In::kBody, "queue", "Queue that each tick submits a task to", "mail"),
       needed(In::kBody, "type", "Type of the tasks", "mail.digest"),
       text(In::kBody, "payload", "Payload of the tasks; default: empty", "{}"),
       text(In::kBody, "payload_base64", "Arbitrary bytes, instead of `payload`", ""),
       text(In::kBody, "zone", "Time zone of the expression; default: UTC", "Europe/Berlin"),
       text(In::kBody, "late",
            "Tasks for late ticks: `once` (one for all of them), `skip` (none) or `all` (one "
            "each); default: `once`",
            "skip"),
       text(In::kBody, "late_after", "Delay after which a tick is late; default: 60s", "5m"),
       number(In::kBody, "catch_up",
              "With `all`, the number of newest ticks that get a task; default: 100", "10", 1,
              queue::kMaxCatchUp),
       text(In::kBody, "overlap",
            "A tick while the task of an earlier tick is not finished: `allow` (it gets its task), "
            "`skip` (it gets none) or `wait`; default: `allow`",
            "allow"),
       text(In::kBody, "jitter", "Maximum extra delay of a tick, determined by a hash", "10s"),
       text(In::kBody, "tick_field", "Field of a JSON payload that is set to the time of the tick",
            "tick"),
       number(In::kBody, "prio", "Priority class 0 (first) to 3 (last); default: 1", "1", 0,
              queue::kPrioClasses - 1),
       text(In::kBody, "delay", "Delay before a task may start", "1s"),
       text(In::kBody, "expires_in",
            "A task that has not started this long after its tick becomes dead", "1h"),
       text(In::kBody, "unique_key", "Unique key; a tick that finds it reserved submits no task",
            "digest"),
       text(In::kBody, "unique_for",
            "How long the key stays reserved after the task has finished; default: 5m", "1m"),
       text(In::kBody, "partition_key", "Partition key, in an ordered, limited or fair queue", "")},
      {200, "Schedule", "the schedule, which existed before"}, {404}, put_schedule);
  route.answers.push_back({201, "Schedule", "the schedule, which is new"});
  return route;
}

std::vector<Route> host_routes() {
  return {
      get("/api/v1/workers", "list_workers",
          "Shows the workers of all hosts and their running tasks. Each host writes these every 2 "
          "s while clients request them, otherwise once a minute: `age_ms` is the age, and a "
          "`silent` host has stopped or cannot reach the database. A caller with a role for some "
          "queues sees the tasks and workers of these queues, without counts of workers.",
          {}, {200, "Workers", "the hosts"}, list_workers),
      everywhere(get(
          "/api/v1/instances", "list_instances",
          "Shows the instances of all hosts: version, start time, and the last heartbeat, which is "
          "written once a minute. An instance without a heartbeat for a month is removed.",
          {}, {200, "Instances", "the instances"}, list_instances)),
      get("/api/v1/deployments", "list_deployments",
          "Shows when instances changed to another version of the program or another configuration "
          "in the last 30 days, newest first. The former one is null if it is unknown.",
          {number(In::kQuery, "hours", "Number of hours to look back; default: 192", "24", 1,
                  queue::kDeploymentsKept)},
          {200, "Deployments", "the newest 1,000 changes"}, list_deployments),
      get("/api/v1/notices", "list_notices",
          "Lists problems that the steward found and that need an operator: queues that are late "
          "or not served by any worker, dead tasks, types without a handler, failing schedules.",
          {},
          {200, "Notices",
           "the notices; a role for all queues is needed to see those not about a queue"},
          list_notices),
      get("/api/v1/findings", "list_findings",
          "Lists findings of the database checks of `allot doctor` that need an operator. The "
          "leading steward runs the checks once a minute; this request does not. `checked_at` is "
          "the "
          "time of the last run. Notices are not included.",
          {},
          {200, "Findings",
           "the findings; a role for all queues is needed to see those not about a queue"},
          list_findings)};
}

std::vector<Route> audit_routes() {
  return {get(
      "/api/v1/audit", "list_audit",
      "Lists the actions of operators in the last 90 days, newest first: over HTTP, with the "
      "command line, with the procedures for schedules, and by a configuration that changed a "
      "schedule. One request examines at most 10,000 entries, so a page may be short or empty and "
      "still have a `next`; with `subject` and `name` it uses an index.",
      {text(In::kQuery, "actor", "Only actions of this token, user or account", "token:ann"),
       text(In::kQuery, "action", "Only actions of this kind", "pause"),
       text(In::kQuery, "subject",
            "Only this kind of subject: `queue`, `task`, `schedule`, `route`, `lock` or `bulk`",
            "queue"),
       text(In::kQuery, "name", "Only the subject with this name or id", "mail"),
       text(In::kQuery, "queue", "Only subjects of this queue", "mail"), kAtMost, kCursor},
      {200, "Audit", "one page; a role for all queues is needed to see entries not about a queue"},
      list_audit)};
}

std::vector<Route> routing_routes() {
  return {everywhere(get("/api/v1/routes", "list_routes",
                         "Lists the routes: the queue for the tasks of each type.", {},
                         {200, "Routes", "the routes"}, list_routes)),
          everywhere(change(
              "PUT", "/api/v1/routes", "set_route",
              "Sets the route of a type: the queue that takes its tasks.",
              {needed(In::kBody, "type", kTypeOfRoute, "report.*"),
               needed(In::kBody, "to", "Queue that takes the tasks", "other"),
               text(In::kBody, "from", kFromOfRoute, "mail"),
               flag(In::kBody, "confirm", kConfirmOfRoute),
               {In::kBody, "move", kMoveOfRoute, "true", Kind::kFlag},
               text(In::kBody, "cursor",
                    "With `move`, the cursor from `next` of the previous response; default: the "
                    "first waiting task",
                    "")},
              {200, "SetRoute", "the route, which applies to submissions within a second"},
              {404, 409}, set_route)),
          everywhere(change("DELETE", "/api/v1/routes", "remove_route", "Removes a route.",
                            {needed(In::kQuery, "type", kTypeOfRoute, "report.*"),
                             text(In::kQuery, "from", kFromOfRoute, "mail"),
                             flag(In::kQuery, "confirm", kConfirmOfRoute)},
                            {200, "Route", "the removed route"}, {404, 409}, remove_route))};
}

std::vector<Route> schedule_routes() {
  return {get("/api/v1/schedules", "list_schedules", "Lists the schedules.", {},
              {200, "Schedules", "the schedules"}, list_schedules),
          get("/api/v1/schedules/{schedule}", "show_schedule",
              "Shows a schedule, its payload and its last ticks.", {kSchedule},
              {200, "Schedule", "the schedule"}, show_schedule),
          put_schedule_route(),
          change("DELETE", "/api/v1/schedules/{schedule}", "remove_schedule",
                 "Removes a schedule; its tasks stay.", {kSchedule},
                 {200, "Schedule", "the removed schedule"}, {404}, remove_schedule),
          change("POST", "/api/v1/schedules/{schedule}/pause", "pause_schedule",
                 "Pauses a schedule: it submits no tasks, and ticks during the pause are dropped.",
                 {kSchedule}, {200, "Schedule", "the schedule"}, {404}, pause_schedule),
          change("POST", "/api/v1/schedules/{schedule}/resume", "resume_schedule",
                 "Resumes a paused schedule from its next tick.", {kSchedule},
                 {200, "Schedule", "the schedule"}, {404}, resume_schedule),
          change("POST", "/api/v1/schedules/{schedule}/run-now", "run_schedule",
                 "Submits a task of a schedule now.", {kSchedule},
                 {201, "ScheduleRun", "submitted"}, {404}, run_schedule)};
}

std::vector<Route> lock_routes() {
  return {
      everywhere(get("/api/v1/locks", "list_locks", "Lists the named locks.", {},
                     {200, "Locks", "the locks"}, list_locks)),
      everywhere(get("/api/v1/locks/{lock}", "show_lock",
                     "Shows the holders of a lock, and the waiting processes.", {kLock},
                     {200, "Lock", "the lock"}, show_lock)),
      everywhere(change(
          "POST", "/api/v1/locks/{lock}/resize", "resize_lock",
          "Changes the number of holders that a lock may have at a time.",
          {kLock, needed_number(In::kBody, "slots", "Number of holders", "3", 1, kMostSlots)},
          {200, "Lock", "the lock"}, {404}, resize_lock)),
      everywhere(change(
          "POST", "/api/v1/locks/{lock}/break", "break_lock",
          "Breaks a lock: takes it away from all holders, or from one.",
          {kLock, number(In::kBody, "slot", "Only this slot; default: all", "0", 0, kMostSlots)},
          {200, "BrokenLock", "the slots that were held and are free now"}, {404}, break_lock))};
}

std::vector<Route> open_routes() {
  return {
      open("/health/live", "live",
           "Reports that the gateway is running. Use it to decide whether to restart the gateway.",
           {200, "Live", "the gateway is running"}, Executor::kServer, show_live),
      open("/health/ready", "ready",
           "Reports that the database responds and has the schema of this program or a newer one. "
           "Use it to decide whether to send requests to this gateway.",
           {200, "Ready", "the database responds"}, Executor::kThreadPool, show_ready),
      {"GET",
       "/metrics",
       "metrics",
       Role::kRead,
       true,
       "Returns the metrics of this host and of the database, for Prometheus; also while the "
       "database does not respond.",
       {},
       Body::kNone,
       {{200, "", "the metrics, in Prometheus' text format", metrics::kTextType}},
       {},
       Executor::kScrape,
       nullptr,
       {}},
      {"GET",
       "/api/v1/openapi.json",
       "openapi",
       Role::kRead,
       false,
       "Returns the description of this API in OpenAPI 3.1.",
       {},
       Body::kNone,
       {{200, "", "the document"}},
       {},
       Executor::kServer,
       show_openapi,
       {}}};
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> all;
    for (auto* part :
         {task_routes, queue_routes, figure_routes, queue_change_routes, bulk_routes, host_routes,
          audit_routes, routing_routes, schedule_routes, lock_routes, open_routes}) {
      std::vector<Route> some = part();
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
  }();
  return kRoutes;
}

}  // namespace allot::operations
