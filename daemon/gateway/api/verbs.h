// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gateway/api/call.h"

// The handler functions of the routes. A verb returns the response, or throws it: see problem.h.
namespace allot::gateway::api {

// Page size of a list if the request has no limit.
inline constexpr std::uint32_t kLimit = 50;

http::Response show_live(Call& call);
http::Response show_ready(Call& call);
http::Response show_openapi(Call& call);

http::Response show_task(Call& call);
http::Response list_attempts(Call& call);
http::Response show_payload(Call& call);
http::Response show_why(Call& call);
http::Response find_task(Call& call);
http::Response cancel_task(Call& call);
http::Response retry_task(Call& call);
http::Response discard_task(Call& call);
http::Response move_task(Call& call);
http::Response submit_again(Call& call);

http::Response list_queues(Call& call);
http::Response show_queue(Call& call);
http::Response show_stats(Call& call);
http::Response list_lags(Call& call);
http::Response list_notices(Call& call);
http::Response list_findings(Call& call);
http::Response list_tasks(Call& call);
http::Response list_running(Call& call);
http::Response list_dead(Call& call);
http::Response list_groups(Call& call);
http::Response list_history(Call& call);
http::Response list_partitions(Call& call);
http::Response pause_queue(Call& call);
http::Response resume_queue(Call& call);
http::Response set_rate(Call& call);
http::Response remove_rate(Call& call);
http::Response set_cap(Call& call);
http::Response remove_cap(Call& call);
http::Response resize_queue(Call& call);
http::Response set_max_running(Call& call);

http::Response retry_all_dead(Call& call);
http::Response discard_all_dead(Call& call);
http::Response list_bulk_actions(Call& call);
http::Response show_bulk_action(Call& call);
http::Response stop_bulk_action(Call& call);

http::Response list_audit(Call& call);

http::Response list_minutes(Call& call);
http::Response list_failures(Call& call);
http::Response list_types(Call& call);
http::Response list_deployments(Call& call);
http::Response list_instances(Call& call);
http::Response list_workers(Call& call);
http::Response list_routes(Call& call);
http::Response set_route(Call& call);
http::Response move_waiting(Call& call);
http::Response remove_route(Call& call);
http::Response list_schedules(Call& call);
http::Response show_schedule(Call& call);
http::Response put_schedule(Call& call);
http::Response remove_schedule(Call& call);
http::Response pause_schedule(Call& call);
http::Response resume_schedule(Call& call);
http::Response run_schedule(Call& call);
http::Response list_locks(Call& call);
http::Response show_lock(Call& call);
http::Response resize_lock(Call& call);
http::Response break_lock(Call& call);

}  // namespace allot::gateway::api
