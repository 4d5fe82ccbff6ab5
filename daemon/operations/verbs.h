// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "operations/call.h"

// The handler functions of the routes. A verb returns the response, or throws it: see problem.h.
namespace allot::operations {

// Page size of a list if the request has no limit.
inline constexpr std::uint32_t kLimit = 50;

Document show_live(Call& call);
Document show_ready(Call& call);
Document show_openapi(Call& call);

Document show_task(Call& call);
Document list_attempts(Call& call);
Document show_payload(Call& call);
Document show_why(Call& call);
Document find_task(Call& call);
Document cancel_task(Call& call);
Document retry_task(Call& call);
Document discard_task(Call& call);
Document move_task(Call& call);
Document submit_again(Call& call);

Document list_queues(Call& call);
Document show_queue(Call& call);
Document show_stats(Call& call);
Document list_lags(Call& call);
Document list_notices(Call& call);
Document list_findings(Call& call);
Document list_tasks(Call& call);
Document list_running(Call& call);
Document list_dead(Call& call);
Document list_groups(Call& call);
Document list_history(Call& call);
Document list_partitions(Call& call);
Document pause_queue(Call& call);
Document resume_queue(Call& call);
Document set_rate(Call& call);
Document remove_rate(Call& call);
Document set_cap(Call& call);
Document remove_cap(Call& call);
Document resize_queue(Call& call);
Document set_max_running(Call& call);

Document retry_all_dead(Call& call);
Document discard_all_dead(Call& call);
Document list_bulk_actions(Call& call);
Document show_bulk_action(Call& call);
Document stop_bulk_action(Call& call);

Document list_audit(Call& call);

Document list_minutes(Call& call);
Document list_failures(Call& call);
Document list_types(Call& call);
Document list_deployments(Call& call);
Document list_instances(Call& call);
Document list_workers(Call& call);
Document list_routes(Call& call);
Document set_route(Call& call);
Document move_waiting(Call& call);
Document remove_route(Call& call);
Document list_schedules(Call& call);
Document show_schedule(Call& call);
Document put_schedule(Call& call);
Document remove_schedule(Call& call);
Document pause_schedule(Call& call);
Document resume_schedule(Call& call);
Document run_schedule(Call& call);
Document list_locks(Call& call);
Document show_lock(Call& call);
Document resize_lock(Call& call);
Document break_lock(Call& call);

}  // namespace allot::operations
