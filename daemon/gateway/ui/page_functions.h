// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "gateway/ui/page.h"

// Functions of the page_*.cc files for the tables of pages and actions; the file name is the
// address of the page.
namespace allot::gateway::ui {

std::vector<ApiRequest> overview_requests(const Visit& visit);
void render_overview(const View& view, Html& html);
void render_queues(const View& view, Html& html);

std::vector<ApiRequest> failures_requests(const Visit& visit);
std::vector<ApiRequest> failures_further(const View& view);
void render_failures(const View& view, Html& html);

std::vector<ApiRequest> queue_requests(const Visit& visit);
void render_queue(const View& view, Html& html);

std::vector<ApiRequest> dead_requests(const Visit& visit);
std::vector<ApiRequest> waiting_requests(const Visit& visit);
std::vector<ApiRequest> running_requests(const Visit& visit);
std::vector<ApiRequest> history_requests(const Visit& visit);
void render_dead(const View& view, Html& html);
void render_waiting(const View& view, Html& html);
void render_running(const View& view, Html& html);
void render_history(const View& view, Html& html);

std::vector<ApiRequest> running_now_requests(const Visit& visit);
void render_running_now(const View& view, Html& html);

std::vector<ApiRequest> workers_requests(const Visit& visit);
void render_workers(const View& view, Html& html);

std::vector<ApiRequest> types_requests(const Visit& visit);
void render_types(const View& view, Html& html);

std::vector<ApiRequest> task_requests(const Visit& visit);
std::vector<ApiRequest> task_further(const View& view);
void render_task(const View& view, Html& html);

// Why a payload is not offered for editing; empty: it is.
std::string edit_refusal(const std::string& payload);
bool may_submit_again(const Visit& visit, const std::string& queue);
std::vector<ApiRequest> again_requests(const Visit& visit);
std::string again_refusal(const View& view);
std::string again_command(const View& view);
void write_again_fields(const View& view, Html& html);

std::vector<ApiRequest> audit_requests(const Visit& visit);
void render_audit(const View& view, Html& html);

std::vector<ApiRequest> bulk_list_requests(const Visit& visit);
std::vector<ApiRequest> bulk_requests(const Visit& visit);
void render_bulk_list(const View& view, Html& html);
void render_bulk(const View& view, Html& html);

std::vector<ApiRequest> schedules_requests(const Visit& visit);
std::vector<ApiRequest> schedule_requests(const Visit& visit);
void render_schedules(const View& view, Html& html);
void render_schedule(const View& view, Html& html);

std::vector<ApiRequest> locks_requests(const Visit& visit);
std::vector<ApiRequest> lock_requests(const Visit& visit);
void render_locks(const View& view, Html& html);
void render_lock(const View& view, Html& html);

std::vector<ApiRequest> routes_requests(const Visit& visit);
void render_routes(const View& view, Html& html);

std::vector<ApiRequest> search_requests(const Visit& visit);
std::vector<ApiRequest> search_further(const View& view);
void render_search(const View& view, Html& html);

}  // namespace allot::gateway::ui
