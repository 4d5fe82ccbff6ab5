// SPDX-License-Identifier: Apache-2.0
// The table of routes. A row more here is a request more, with its role, its place in the reference
// and in openapi.json, and tests that want an example of it.
#include "gateway/api/route.h"
#include "gateway/api/verbs.h"

namespace allot::gateway::api {
namespace {

using access::Role;

constexpr std::string_view kTaskId = "0840dqg2v5n80r00";

constexpr Parameter id_of(std::string_view what) {
  return {In::kPath, "id", what, kTaskId, Kind::kText, true};
}

std::vector<Route> health_routes() {
  return {{"GET",
           "/health/live",
           "live",
           {},
           false,
           "Says that the gateway runs. Ask this to find out whether to start it again.",
           {},
           Body::kNone,
           {{200, "Live", "it runs"}},
           {},
           Doer::kServer,
           show_live,
           {}},
          {"GET",
           "/health/ready",
           "ready",
           {},
           false,
           "Says that the database answers. Ask this to find out whether to send requests here.",
           {},
           Body::kNone,
           {{200, "Ready", "the database answers"}},
           {},
           Doer::kCrew,
           show_ready,
           {}},
          {"GET",
           "/api/v1/openapi.json",
           "openapi",
           {},
           false,
           "Describes this API by OpenAPI 3.1.",
           {},
           Body::kNone,
           {{200, "", "the OpenAPI document"}},
           {},
           Doer::kServer,
           show_openapi,
           {}}};
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
         "The task's unique key, quoted or bare: a second request with it makes no second task, "
         "as long as the key is taken. What is compared is the key alone, not the payload.",
         "order-4711"}},
       Body::kTasks,
       {{201, "SubmittedOrList", "submitted"},
        {200, "SubmittedOrList", "nothing was: a task with that unique key was there already"}},
       {413, 415},
       Doer::kCombiner,
       nullptr,
       R"({"queue": "mail", "type": "mail.send", "payload": {"to": "ann@example.org"}})"},
      {"GET",
       "/api/v1/tasks/{id}",
       "show_task",
       Role::kRead,
       false,
       "Shows all that is known of a task, and its failed attempts.",
       {id_of("The task's id")},
       Body::kNone,
       {{200, "Task", "the task"}},
       {404},
       Doer::kCrew,
       show_task,
       {}}};
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> all;
    for (auto* part : {health_routes, task_routes}) {
      for (Route& route : part()) all.push_back(std::move(route));
    }
    return all;
  }();
  return kRoutes;
}

}  // namespace allot::gateway::api
