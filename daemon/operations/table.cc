// SPDX-License-Identifier: Apache-2.0
// The table of routes. A new row is a new request, with its role, its place in the reference and in
// openapi.json, and tests that need an example of it.
#include <iterator>
#include <utility>

#include "metrics/page.h"
#include "operations/route_parts.h"
#include "operations/verbs.h"
#include "queue/minutes/deployment.h"
#include "queue/minutes/type_hours.h"
#include "queue/operate/cap.h"
#include "queue/schedules/schedule.h"

namespace allot::operations {
namespace {

using gateway::access::Role;

std::vector<Route> task_routes() {
  return {
      {"POST",
       "/api/v1/tasks",
       "submit",
       Role::kSubmit,
       false,
       "Submits one task, or several in one transaction.",
       {{In::kHeader, "Idempotency-Key",
         "The task's unique key, quoted or bare: a second request with it makes no second task, as "
         "long as the key is taken. What is compared is the key alone, not the payload",
         "order-4711"},
        kTraceParent,
        kTraceState},
       Body::kTasks,
       {{201, "SubmittedOrList", "submitted; `Location` has the address of a single task"},
        {200, "SubmittedOrList", "nothing was: a task with that unique key was there already"}},
       {},
       Doer::kCombiner,
       nullptr,
       R"({"queue": "mail", "type": "mail.send", "payload": {"to": "ann@example.org"}})"},
      get("/api/v1/tasks/{id}", "show_task",
          "Shows all that is known of a task, and its failed attempts.", {kId},
          {200, "Task", "the task"}, show_task),
      get("/api/v1/tasks/{id}/attempts", "list_attempts",
          "Lists the failed attempts of a task, the oldest first.", {kId},
          {200, "Attempts", "the attempts"}, list_attempts),
      get("/api/v1/tasks/{id}/payload", "show_payload",
          "Gives the payload of a task, as its handler gets it.", {kId},
          {200, "", "the bytes", "application/octet-stream"}, show_payload),
      get("/api/v1/tasks/{id}/why", "why", "Says in words why a task is not running.", {kId},
          {200, "Why", "the task, and the reasons"}, show_why),
      get("/api/v1/queues/{queue}/keys/{unique_key}", "find_task",
          "Says which task of a queue has a unique key.",
          {kQueue, {In::kPath, "unique_key", "The key", "order-4711", Kind::kText, true}},
          {200, "KeyOwner", "the task that has it"}, find_task),
      change("POST", "/api/v1/tasks/{id}/cancel", "cancel",
             "Takes a task out, also one that runs; it becomes a dead or done one.",
             {kId,
              {In::kBody, "as_done", "It ends as if it had succeeded, and is not dead", "false",
               Kind::kFlag}},
             {200, "Cancelled", "it is out, or its worker was asked to end it"}, {404, 409},
             cancel_task),
      change("POST", "/api/v1/tasks/{id}/retry", "retry",
             "Puts a dead task back into its queue, with all attempts before it.", {kId},
             {200, "Retried", "it waits again; in a queue that was resized its id may be another"},
             {404, 409}, retry_task),
      change("POST", "/api/v1/tasks/{id}/discard", "discard", "Removes a dead task for good.",
             {kId}, {200, "Discarded", "it is gone"}, {404, 409}, discard_task),
      change(
          "POST", "/api/v1/tasks/{id}/move", "move",
          "Puts a waiting task into another queue. Its id changes, because an id names its queue.",
          {kId, {In::kBody, "to", "The queue that it goes to", "other", Kind::kText, true}},
          {200, "Moved", "it waits there"}, {404, 409}, move_task)};
}

Route minutes_route() {
  Route route = get(
      "/api/v1/minutes", "list_minutes",
      "Shows what the workers of all hosts did in the last week, minute by minute, the newest "
      "first. `in` is `out` and the change of `backlog`, because submissions are not counted; it "
      "is "
      "negative where tasks were taken out that no worker had. Where `estimated` is true, "
      "`backlog` "
      "is what the server believes, and `in` follows from it.",
      {{In::kQuery, "queue", "Only of this queue; left out: all", "mail"},
       {In::kQuery, "by",
        "One item for each `queue`, each `type` of a queue, or each group of errors (`error`); the "
        "last two have no backlog. Left out: `queue`",
        "type"},
       {In::kQuery, "since", "From this many minutes ago on; left out: 60", "120", Kind::kNumber,
        false, 1, kMostMinutes},
       {In::kQuery, "step", "So many minutes in one item; left out: 1", "5", Kind::kNumber, false,
        1, kMostStep}},
      {200, "Minutes", "what was done"}, list_minutes);
  route.refusals = {404};
  return route;
}

Route failures_route() {
  Route route = get(
      "/api/v1/failures", "list_failures",
      "Shows what failed lately, also what is retried, by groups of errors, the largest first. "
      "They are those of the minutes, so an attempt is there within a minute or so after its end.",
      {{In::kQuery, "queue", "Only of this queue; left out: all", "mail"},
       {In::kQuery, "since", "From this many minutes ago on; left out: 1440", "120", Kind::kNumber,
        false, 1, kMostMinutes}},
      {200, "Failures", "the groups"}, list_failures);
  route.refusals = {404};
  return route;
}

Route types_route() {
  Route route = get(
      "/api/v1/types", "list_types",
      "Shows how often the tasks of each type ran in the last hours, for how long, and how long "
      "they had been due before, of all hosts, the types with the most attempts first. The times "
      "are approximate: they are computed from 20 buckets, whose bounds are 2 to 5 times the one "
      "before. An attempt is there within a minute or so after its end.",
      {{In::kQuery, "queue", "Only of this queue; left out: all", "mail"},
       {In::kQuery, "type", "Only this type; left out: all", "mail.send"},
       {In::kQuery, "hours", "The last hours, with the one under way; left out: 24", "48",
        Kind::kNumber, false, 1, queue::kTypeHoursKept},
       {In::kQuery, "step", "Hours in one step of `steps`; left out: 1", "6", Kind::kNumber, false,
        1, queue::kTypeHoursKept},
       kAtMost},
      {200, "Types", "the types"}, list_types);
  route.refusals = {404};
  return route;
}

std::vector<Route> queue_routes() {
  return {
      get("/api/v1/queues", "list_queues", "Lists the queues.", {}, {200, "Queues", "the queues"},
          list_queues),
      get("/api/v1/queues/{queue}", "show_queue", "Shows a queue, and counts its tasks.", {kQueue},
          {200, "CountedQueue", "the queue"}, show_queue),
      get("/api/v1/queues/{queue}/tasks", "list_tasks",
          "Lists waiting tasks, by partition, class and due time.",
          {kQueue, kAtMost, kCursor, kType, kSince, kUntil}, {200, "ListedTasks", "one page"},
          list_tasks),
      get("/api/v1/queues/{queue}/running", "list_running",
          "Lists tasks that run detached from their partition: those that have run for a while.",
          {kQueue, kAtMost, kCursor, kType, kSince, kUntil}, {200, "ListedTasks", "one page"},
          list_running),
      get("/api/v1/queues/{queue}/dead", "list_dead", "Lists dead tasks, the newest first.",
          {kQueue,
           kAtMost,
           kCursor,
           kType,
           kSince,
           kUntil,
           {In::kQuery, "group", "Only dead tasks of this group", "af67e836cfe4"}},
          {200, "ListedTasks", "one page"}, list_dead),
      get("/api/v1/queues/{queue}/dead/groups", "list_groups",
          "Groups dead tasks by type, cause and fault, the largest groups first; of each group at "
          "most 10,000 are counted.",
          {kQueue, kAtMost}, {200, "DeadGroups", "the groups"}, list_groups),
      get("/api/v1/queues/{queue}/history", "list_history",
          "Lists finished tasks of a queue that keeps a history, the newest first.",
          {kQueue,
           kAtMost,
           kCursor,
           kType,
           kSince,
           kUntil,
           {In::kQuery, "after", "The first page begins after this task", "0840dqg2v5n80r00"}},
          {200, "ListedTasks", "one page"}, list_history),
      get("/api/v1/queues/{queue}/partitions", "list_partitions",
          "Shows how many partitions a queue has, and which of them are leased by whom.", {kQueue},
          {200, "Partitions", "the partitions"}, list_partitions),
      get("/api/v1/stats", "stats",
          "Shows all queues, and counts their tasks: up to 10,000 of each state.", {},
          {200, "Stats", "the queues"}, show_stats),
      get("/api/v1/lags", "list_lags",
          "Shows how late each queue is: for how long its first waiting task has been due, and how "
          "many of its partitions are leased. Counts no tasks.",
          {}, {200, "Lags", "the queues, the first 1,000 by name"}, list_lags),
      minutes_route(),
      failures_route(),
      types_route()};
}

std::vector<Route> queue_change_routes() {
  return {
      change("POST", "/api/v1/queues/{queue}/pause", "pause",
             "Lets no host start tasks of a queue; what runs finishes.", {kQueue},
             {200, "Queue", "the queue, which is paused"}, {404}, pause_queue),
      change("POST", "/api/v1/queues/{queue}/resume", "resume", "Lets a paused queue go on.",
             {kQueue}, {200, "Queue", "the queue, which goes on"}, {404}, resume_queue),
      change(
          "PUT", "/api/v1/queues/{queue}/rate", "set_rate",
          "Limits how many tasks of a queue start in a second, over all hosts.",
          {kQueue,
           {In::kBody, "per_second", "How many, such as 500 or 0.5", "500", Kind::kDecimal, true},
           {In::kBody, "burst", "How many may start at once, after a while without any", "10",
            Kind::kNumber, false, 1, 1'000'000}},
          {200, "Queue", "the queue with its rate"}, {404}, set_rate),
      change("DELETE", "/api/v1/queues/{queue}/rate", "remove_rate", "Removes the rate of a queue.",
             {kQueue}, {200, "Queue", "the queue without a rate"}, {404}, remove_rate),
      change(
          "PUT", "/api/v1/queues/{queue}/cap", "set_cap",
          "Limits how many tasks of a spread queue run at a time, over all hosts.",
          {kQueue, {In::kBody, "tasks", "How many", "20", Kind::kNumber, true, 1, queue::kMaxCap}},
          {200, "Queue", "the queue with its cap"}, {404}, set_cap),
      change("DELETE", "/api/v1/queues/{queue}/cap", "remove_cap", "Removes the cap of a queue.",
             {kQueue}, {200, "Queue", "the queue without a cap"}, {404}, remove_cap),
      change("POST", "/api/v1/queues/{queue}/resize", "resize",
             "Gives a queue another number of partitions.",
             {kQueue,
              {In::kBody, "partitions", "How many, from now on", "8", Kind::kNumber, true, 1,
               kMostPartitions},
              {In::kBody, "anyway",
               "Also where new tasks of an ordered or limited queue would wait for a task that is "
               "due much later",
               "false", Kind::kFlag}},
             {200, "Resized", "new tasks go to that many partitions"}, {404, 409}, resize_queue),
      change("PUT", "/api/v1/queues/{queue}/max_running", "set_max_running",
             "Lets another number of tasks of a key run at a time in a limited queue.",
             {kQueue,
              {In::kBody, "max_running",
               "How many tasks of a key, over all hosts; not more than the queue has partitions",
               "2", Kind::kNumber, true, 1, kMostPartitions}},
             {200, "MaxRunning",
              "so many run, and where the queue has tasks that were submitted "
              "before, the larger of the two numbers"},
             {404, 409}, set_max_running),
      change(
          "POST", "/api/v1/queues/{queue}/move", "move_waiting", kMoveOfQueue,
          {kQueue,
           {In::kBody, "to", "The queue that gets them", "other", Kind::kText, true},
           {In::kBody, "type", "Only those of this type; `mail.*` is all that begin so",
            "report.*"},
           {In::kBody, "cursor",
            "What `next` of the answer before was; left out: from the first waiting task on", ""},
           {In::kBody, "limit", "Tasks of one request, so that they keep to a rate", "100",
            Kind::kNumber, false, 1, 10'000},
           {In::kBody, "count", "Moves nothing, and says in `tasks` how many there are", "false",
            Kind::kFlag}},
          {200, "MovedWaiting", "what became of those that it looked at"}, {404, 409},
          move_waiting)};
}

// Counts the tasks, or starts the action if the request has the token of a count.
Route act_on_dead(std::string_view path, std::string_view name, std::string_view summary,
                  Verb verb) {
  Route route = change(
      "POST", path, name, summary,
      {kQueue,
       {In::kBody, "token",
        "That of the count, for an hour; left out: the tasks are counted, and nothing is changed",
        ""},
       {In::kBody, "group", "Only dead tasks of this group", "af67e836cfe4"},
       {In::kBody, "type", "Only dead tasks of this type", "mail.send"},
       {In::kBody, "rate", "Limit of tasks per second; left out: as fast as it goes", "50",
        Kind::kNumber, false, 1, 1'000'000}},
      {200, "BulkCount", "how many they are, and the token to begin with"}, {404, 409}, verb);
  route.answers.push_back(
      {202, "BulkAction", "it has begun; `Location` has the address of the action"});
  return route;
}

std::vector<Route> bulk_routes() {
  return {
      act_on_dead("/api/v1/queues/{queue}/dead/retry", "retry_all_dead",
                  "Puts all dead tasks of a queue back, or those of a group or type, as a bulk "
                  "action: first without a token, which counts them, then with it.",
                  retry_all_dead),
      act_on_dead("/api/v1/queues/{queue}/dead/discard", "discard_all_dead",
                  "Removes all dead tasks of a queue for good, or those of a group or type, as a "
                  "bulk action, in the same two steps.",
                  discard_all_dead),
      get("/api/v1/bulk", "list_bulk_actions",
          "Lists bulk actions that go on or ended in the last week, the newest first.",
          {kAtMost, kCursor}, {200, "BulkActions", "one page"}, list_bulk_actions),
      get("/api/v1/bulk/{action}", "show_bulk_action", "Shows how far a bulk action is.", {kAction},
          {200, "BulkAction", "the action"}, show_bulk_action),
      change("POST", "/api/v1/bulk/{action}/stop", "stop_bulk_action",
             "Ends a bulk action behind its present batch.", {kAction},
             {200, "BulkAction", "the action, which is stopped"}, {404, 409}, stop_bulk_action)};
}

Route put_schedule_route() {
  const auto word = [](std::string_view name, std::string_view what, std::string_view example) {
    return Parameter{In::kBody, name, what, example};
  };
  Route route = change(
      "PUT", "/api/v1/schedules/{schedule}", "put_schedule",
      "Makes a schedule, or changes the one of that name into this; its counts, ticks and pause "
      "stay. Besides the role `operate` it needs `submit` for the queue.",
      {kSchedule,
       {In::kBody, "expression",
        "When: five fields as in a crontab, or six with seconds first, or `@hourly` and its kin, "
        "or `@every 90s`",
        "0 3 * * *", Kind::kText, true},
       {In::kBody, "queue", "The queue that each tick submits to", "mail", Kind::kText, true},
       {In::kBody, "type", "The type of the tasks", "mail.digest", Kind::kText, true},
       word("payload", "Their payload; left out: an empty one", "{}"),
       word("payload_base64", "Instead of `payload`: any bytes", ""),
       word("zone", "The time zone of the expression; left out: UTC", "Europe/Berlin"),
       word("late",
            "What late ticks give: `once` (one task for all of them), `skip` (none) or "
            "`all` (one each); left out: `once`",
            "skip"),
       word("late_after", "From when on a tick is late; left out: 60s", "5m"),
       {In::kBody, "catch_up", "With `all`, the newest ticks that count; left out: 100", "10",
        Kind::kNumber, false, 1, queue::kMaxCatchUp},
       word("overlap",
            "A tick while the task of an earlier one is not finished: `allow` (it gets its task), "
            "`skip` (it gets none) or `wait`; left out: `allow`",
            "allow"),
       word("jitter", "Each tick is due up to so much later, as a hash says", "10s"),
       word("tick_field", "The field of a JSON payload that gets the time of the tick", "tick"),
       {In::kBody, "prio", "Class 0 (first) to 3 (last); left out: 1", "1", Kind::kNumber, false, 0,
        queue::kPrioClasses - 1},
       word("delay", "Tasks do not start before so long", "1s"),
       word("expires_in", "A task that has not begun so long after its tick is dead", "1h"),
       word("unique_key", "A tick that finds it taken makes no task", "digest"),
       word("unique_for", "How long after the task the key stays; left out: 5m", "1m"),
       word("partition_key", "Only for an ordered, limited or fair queue", "")},
      {200, "Schedule", "the schedule, which was there before"}, {404}, put_schedule);
  route.answers.push_back({201, "Schedule", "the schedule, which is new"});
  return route;
}

std::vector<Route> host_routes() {
  return {
      get("/api/v1/workers", "list_workers",
          "Shows the workers of all hosts, and what they run. Each host writes that every 2 s "
          "while "
          "this is asked for, else once a minute: `age_ms` says how old it is, and a host that is "
          "`silent` has stopped or does not reach the database. A caller for some queues sees "
          "their "
          "tasks, the workers that have to do with them, and no counts of workers.",
          {}, {200, "Workers", "the hosts"}, list_workers),
      get_everywhere("/api/v1/instances", "list_instances",
                     "Shows the instances of all hosts: their version, since when they run, and "
                     "their last sign of life, which they give each minute. One is removed after "
                     "a month without.",
                     {}, {200, "Instances", "the instances"}, list_instances),
      get("/api/v1/deployments", "list_deployments",
          "Shows when instances began to run another version of the program or another "
          "configuration, the newest first, for 30 days. What ran before is null where nothing is "
          "known of it.",
          {{In::kQuery, "hours", "The last hours; left out: 192", "24", Kind::kNumber, false, 1,
            queue::kDeploymentsKept}},
          {200, "Deployments", "the changes, the newest 1,000"}, list_deployments),
      get("/api/v1/notices", "list_notices",
          "Lists states that the steward found and that need an operator: queues that are late or "
          "served by no worker, dead tasks, types without a handler, schedules that fail.",
          {}, {200, "Notices", "the notices; those of no queue for a role for all queues only"},
          list_notices),
      get("/api/v1/findings", "list_findings",
          "Lists what the checks of `allot doctor` found about the database and needs an operator. "
          "The steward that leads makes them once a minute, and this request makes none: "
          "`found_at` says when it looked last. What notices say is not among them.",
          {}, {200, "Findings", "the findings; those of no queue for a role for all queues only"},
          list_findings)};
}

std::vector<Route> audit_routes() {
  const auto only = [](std::string_view name, std::string_view what, std::string_view example) {
    return Parameter{In::kQuery, name, what, example};
  };
  return {get(
      "/api/v1/audit", "list_audit",
      "Lists what operators did in the last 90 days, the newest first: over HTTP, by the command "
      "line, by the procedures of schedules, and by a configuration that changed a schedule. One "
      "request looks at 10,000 entries at most, so a page may have few or none and still a `next`; "
      "with `subject` and `name` it goes by an index.",
      {only("who", "Only by this one", "token:ann"), only("action", "Only of this kind", "pause"),
       only("subject", "Only of this: `queue`, `task`, `schedule`, `route`, `lock` or `bulk`",
            "queue"),
       only("name", "Only of what has this name or id", "mail"),
       only("queue", "Only of what belongs to this queue", "mail"), kAtMost, kCursor},
      {200, "Audit", "one page; what belongs to no queue for a role for all queues only"},
      list_audit)};
}

std::vector<Route> routing_routes() {
  return {
      get_everywhere("/api/v1/routes", "list_routes",
                     "Lists the routes: which queue takes the tasks of a type.", {},
                     {200, "Routes", "the routes"}, list_routes),
      change_everywhere("PUT", "/api/v1/routes", "set_route",
                        "Lets another queue take the tasks of a type, or changes which one does.",
                        {{In::kBody, "type", kTypeOfRoute, "report.*", Kind::kText, true},
                         {In::kBody, "to", "The queue that takes them", "other", Kind::kText, true},
                         {In::kBody, "from", kFromOfRoute, "mail"},
                         {In::kBody, "anyway", kAnywayOfRoute, "false", Kind::kFlag},
                         {In::kBody, "move", kMoveOfRoute, "true", Kind::kFlag},
                         {In::kBody, "cursor",
                          "With `move`, what `next` of the answer before was; left out: from the "
                          "first waiting task on",
                          ""}},
                        {200, "SetRoute", "the route, which submissions follow within a second"},
                        {404, 409}, set_route),
      change_everywhere("DELETE", "/api/v1/routes", "remove_route", "Ends a route.",
                        {{In::kQuery, "type", kTypeOfRoute, "report.*", Kind::kText, true},
                         {In::kQuery, "from", kFromOfRoute, "mail"},
                         {In::kQuery, "anyway", kAnywayOfRoute, "false", Kind::kFlag}},
                        {200, "Route", "the route that was"}, {404, 409}, remove_route)};
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
                 {200, "Schedule", "the schedule that was"}, {404}, remove_schedule),
          change("POST", "/api/v1/schedules/{schedule}/pause", "pause_schedule",
                 "Lets a schedule make no tasks; ticks in the meantime are dropped.", {kSchedule},
                 {200, "Schedule", "the schedule"}, {404}, pause_schedule),
          change("POST", "/api/v1/schedules/{schedule}/resume", "resume_schedule",
                 "Lets a paused schedule go on with its next tick.", {kSchedule},
                 {200, "Schedule", "the schedule"}, {404}, resume_schedule),
          change("POST", "/api/v1/schedules/{schedule}/run-now", "run_schedule",
                 "Submits a task of a schedule now.", {kSchedule},
                 {201, "ScheduleRun", "submitted"}, {404}, run_schedule)};
}

std::vector<Route> lock_routes() {
  return {get_everywhere("/api/v1/locks", "list_locks", "Lists the named locks.", {},
                         {200, "Locks", "the locks"}, list_locks),
          get_everywhere("/api/v1/locks/{lock}", "show_lock",
                         "Shows who holds a lock, and who waits for it.", {kLock},
                         {200, "Lock", "the lock"}, show_lock),
          change_everywhere(
              "POST", "/api/v1/locks/{lock}/resize", "resize_lock",
              "Lets another number of holders have a lock at a time.",
              {kLock, {In::kBody, "slots", "So many", "3", Kind::kNumber, true, 1, kMostSlots}},
              {200, "Lock", "the lock"}, {404}, resize_lock),
          change_everywhere("POST", "/api/v1/locks/{lock}/break", "break_lock",
                            "Takes a lock away from its holders, or from one of them.",
                            {kLock,
                             {In::kBody, "slot", "Only this slot; left out: all", "0",
                              Kind::kNumber, false, 0, kMostSlots}},
                            {200, "BrokenLock", "what was held, and is free"}, {404}, break_lock)};
}

std::vector<Route> open_routes() {
  return {open("/health/live", "live",
               "Says that the gateway runs. Ask this to find out whether to start it again.",
               {200, "Live", "it runs"}, Doer::kServer, show_live),
          open("/health/ready", "ready",
               "Says that the database answers, and has the schema of this program or a newer one. "
               "Ask this "
               "to find out whether to send requests here.",
               {200, "Ready", "the database answers"}, Doer::kCrew, show_ready),
          {"GET",
           "/metrics",
           "metrics",
           Role::kRead,
           true,
           "Gives the metrics of this host and of the database, for Prometheus; also where the "
           "database does not answer.",
           {},
           Body::kNone,
           {{200, "", "the metrics, in Prometheus' text format", metrics::kTextType}},
           {},
           Doer::kScrape,
           nullptr,
           {}},
          {"GET",
           "/api/v1/openapi.json",
           "openapi",
           Role::kRead,
           false,
           "Describes this API by OpenAPI 3.1.",
           {},
           Body::kNone,
           {{200, "", "the document"}},
           {},
           Doer::kServer,
           show_openapi,
           {}}};
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> all;
    for (auto* part : {task_routes, queue_routes, queue_change_routes, bulk_routes, host_routes,
                       audit_routes, routing_routes, schedule_routes, lock_routes, open_routes}) {
      std::vector<Route> some = part();
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
  }();
  return kRoutes;
}

}  // namespace allot::operations
