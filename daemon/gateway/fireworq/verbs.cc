// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "gateway/fireworq/answer.h"
#include "gateway/fireworq/application.h"
#include "gateway/fireworq/objects.h"
#include "log/log.h"
#include "queue/fireworq/jobs.h"
#include "queue/operate/cancel.h"
#include "queue/operate/dead_tasks.h"
#include "queue/verbs/lease_store.h"

// Database operations of each request.
namespace allot::gateway::fireworq {
namespace {

using queue::FireworqQueue;

// The queue, unless it is deleted. Throws Refused.
FireworqQueue required(db::Connection& db, const std::string& name, bool says_which = false) {
  auto queue = queue::find_fireworq(db, name);
  if (!queue || queue->hidden) {
    throw Refused(404, says_which ? "No such queue: " + name : std::string());
  }
  return std::move(*queue);
}

void require_length(const std::string& name) {
  if (name.size() > queue::kMaxJobName) throw Refused(400, "the name has more than 255 bytes");
}

template <typename All, typename Show>
std::string list_of(const All& all, const Show& show) {
  std::string list;
  for (const auto& each : all) list += (list.empty() ? "" : ",") + show(each);
  return "[" + list + "]";
}

std::string page_object(const char* name, const queue::JobPage& page,
                        std::string (*show)(const queue::Job&)) {
  Object object;
  object.json(name, list_of(page.jobs, show));
  object.text("next_cursor", page.next ? cursor_text(*page.next) : std::string());
  return object.done();
}

// Number of jobs of the queue that the lease of a partition runs at a time.
std::uint64_t share_in(const FireworqQueue& queue, std::uint32_t partition_no) {
  return queue::share_of(queue.max_workers, queue.info.partitions(),
                         partition_no - queue.info.first_partition);
}

void log_change(const char* what, const access::Caller& caller, const std::string& name) {
  log::info("gateway.action", {{"actor", caller.name()}, {"action", what}, {"subject", name}});
}

}  // namespace

http::Response Application::read(db::Connection& db, const Asked& asked) {
  switch (asked.target.place) {
    case Place::kQueues: {
      auto queues = queue::list_fireworq(db);
      std::erase_if(queues, [&](const FireworqQueue& queue) {
        return queue.hidden || !asked.caller.may(access::Role::kRead, queue.name);
      });
      return json_answer(list_of(queues, queue_object));
    }
    case Place::kQueuesStats: {
      Object object;
      const Figures::Now now = figures_.now();
      for (const FireworqQueue& queue : queue::list_fireworq(db)) {
        if (queue.hidden || !asked.caller.may(access::Role::kRead, queue.name)) continue;
        object.json(queue.name, stats_of(db, queue, now));
      }
      return json_answer(object.done());
    }
    case Place::kQueue:
      return queue_verb(db, asked);
    case Place::kNode: {
      static_cast<void>(required(db, asked.target.name, true));
      const auto node = active_node(db);
      if (!node) throw Refused(404, "No node is active for this queue");
      Object object;
      object.text("id", node->id).text("host", node->host);
      return json_answer(object.done());
    }
    case Place::kQueueStats:
      return json_answer(stats_of(db, required(db, asked.target.name, true), figures_.now()));
    case Place::kJobOfQueue:
      return job_verb(db, asked);
    case Place::kFailed:
      return failed_verb(db, asked);
    case Place::kRoutings: {
      auto routings = queue::list_routings(db);
      std::erase_if(routings, [&](const queue::Routing& routing) {
        return !asked.caller.may(access::Role::kRead, routing.queue);
      });
      return json_answer(list_of(routings, routing_object));
    }
    case Place::kRouting:
      return routing_verb(db, asked);
    default:
      return list_verb(db, asked);
  }
}

http::Response Application::queue_verb(db::Connection& db, const Asked& asked) {
  const std::string& name = asked.target.name;
  if (asked.method == "PUT") {
    require_length(name);
    const FireworqQueue wanted = read_queue(asked.body, name, defaults());
    queue::put_fireworq(db, wanted);
    ++changes_;
    log_change("put queue", asked.caller, name);
    return json_answer(queue_object(wanted));
  }
  const FireworqQueue queue = required(db, name);
  if (asked.method == "DELETE") {
    queue::hide_fireworq(db, queue);
    ++changes_;
    if (name == service_.settings.queue_default) has_default_ = false;
    log_change("delete queue", asked.caller, name);
  }
  return json_answer(queue_object(queue));
}

http::Response Application::routing_verb(db::Connection& db, const Asked& asked) {
  const std::string& category = asked.target.name;
  const auto there = queue::find_routing(db, category);
  if (asked.method == "PUT") {
    require_length(category);
    const queue::Routing routing{category, read_routing(asked.body)};
    static_cast<void>(required(db, routing.queue, true));
    if (!there || there->queue != routing.queue) queue::put_routing(db, routing);
    ++changes_;
    log_change("put routing", asked.caller, category);
    return json_answer(routing_object(routing));
  }
  if (!there || !asked.caller.may(access::Role::kRead, there->queue)) throw Refused(404, {});
  if (asked.method == "DELETE") {
    queue::remove_routing(db, category);
    ++changes_;
    log_change("delete routing", asked.caller, category);
  }
  return json_answer(routing_object(*there));
}

http::Response Application::job_verb(db::Connection& db, const Asked& asked) {
  const FireworqQueue queue = required(db, asked.target.name);
  const auto job = queue::find_job(db, queue.info, *asked.target.id);
  if (!job) throw Refused(404, {});
  if (asked.method == "DELETE") {
    const auto as_done = queue::as_done_here(false);
    static_cast<void>(queue::cancel_task(db, job->id, "deleted by DELETE /queue/job", as_done));
    log_change("delete job", asked.caller, job->id.text());
  }
  return json_answer(job_object(*job));
}

http::Response Application::failed_verb(db::Connection& db, const Asked& asked) {
  const FireworqQueue queue = required(db, asked.target.name);
  const auto job = queue::find_failed(db, queue.info, *asked.target.id);
  if (!job) throw Refused(404, {});
  if (asked.method == "DELETE") {
    static_cast<void>(queue::discard_dead(db, {&job->id, 1}));
    log_change("delete failed", asked.caller, job->id.text());
  }
  return json_answer(failed_object(*job));
}

http::Response Application::list_verb(db::Connection& db, const Asked& asked) {
  const queue::QueueInfo info = required(db, asked.target.name).info;
  queue::ListAsk ask = list_ask(asked.query);
  const Place place = asked.target.place;
  if (place == Place::kFailedList) {
    ask.latest_first = true;
    const bool created = parameter(asked.query, "order") == "created";
    const queue::JobPage page =
        created ? queue::newest_failed(db, info, ask) : queue::page_failed(db, info, ask);
    return json_answer(page_object("failed_jobs", page, failed_object));
  }
  const queue::JobList list = place == Place::kGrabbed    ? queue::JobList::kGrabbed
                              : place == Place::kDeferred ? queue::JobList::kDeferred
                                                          : queue::JobList::kWaiting;
  return json_answer(page_object("jobs", queue::page_jobs(db, info, list, ask), job_object));
}

std::string Application::stats_of(db::Connection& db, const FireworqQueue& queue,
                                  const Figures::Now& now) {
  QueueStats stats = figures_.of(now, queue);
  const auto blocks = queue::count_blocks(db, queue.info);
  const LocalActivity at_work = local_activity(now, queue);
  std::uint64_t in_blocks = 0;
  for (const std::uint32_t partition : at_work.partitions) {
    const auto found = blocks.find(partition);
    if (found != blocks.end()) in_blocks += found->second;
  }
  stats.pops += at_work.running;
  stats.outstanding = in_blocks - std::min(in_blocks, at_work.running);
  if (node_.is_active()) {
    std::uint64_t running = 0;
    for (const auto& [partition, jobs] : blocks) {
      running += std::min(jobs, share_in(queue, partition));
    }
    stats.active = 1;
    stats.workers = queue.max_workers;
    stats.idle = stats.workers - std::min(stats.workers, running);
  }
  return stats_object(stats);
}

queue::FireworqQueue Application::defaults() const {
  FireworqQueue queue;
  queue.max_workers = service_.settings.queue_default_max_workers;
  queue.polling_interval = service_.settings.queue_default_polling_interval;
  return queue;
}

// Called while a submission is processed.
queue::QueueInfo Application::find_queue(db::Connection& db, const std::string& category) {
  const auto routing = queue::find_routing(db, category);
  const std::string& fallback = service_.settings.queue_default;
  if (!routing && fallback.empty()) {
    throw Refused(500, "No routing of job category '" + category + "' exists");
  }
  const std::string& name = routing ? routing->queue : fallback;
  auto queue = queue::find_fireworq(db, name);
  if ((!queue || queue->hidden) && name == fallback) {
    make_default(db);
    queue = queue::find_fireworq(db, name);
  }
  if (!queue || queue->hidden) throw Refused(500, "Undefined queue: " + name);
  queue::QueueInfo info = queue->info;
  info.name = queue->name;
  return info;
}

void Application::make_default(db::Connection& db) {
  has_default_ = true;  // set first, so that a concurrent deletion is not lost
  const std::string& name = service_.settings.queue_default;
  if (name.empty()) return;
  try {
    const auto there = queue::find_fireworq(db, name);
    if (there && !there->hidden) return;
    FireworqQueue wanted = there ? *there : defaults();
    wanted.name = name;
    wanted.hidden = false;
    queue::put_fireworq(db, wanted);
    ++changes_;
  } catch (...) {
    has_default_ = false;  // the next round retries
    throw;
  }
}

std::string Application::settings() const {
  const config::GatewayFireworq& own = service_.settings;
  const auto of_plugin = [&](const char* key, const char* usual) {
    const auto section = service_.plugins.sections.find("http");
    if (section == service_.plugins.sections.end()) return std::string(usual);
    const auto found = section->second.find(std::string("fireworq.") + key);
    return found == section->second.end() ? std::string(usual) : found->second;
  };
  const std::map<std::string, std::string> values{
      {"access_log", ""},
      {"access_log_tag", "fireworq.access"},
      {"bind", own.listen},
      {"config_refresh_interval", "1000"},
      {"dispatch_idle_conn_timeout", "0"},
      {"dispatch_keep_alive", of_plugin("keep_alive", "0").starts_with('0') ? "false" : "true"},
      {"dispatch_max_conns_per_host", "10"},
      {"dispatch_user_agent", of_plugin("user_agent", "Fireworq/1.5.1")},
      {"driver", "mysql"},
      {"error_log", ""},
      {"error_log_level", "info"},
      {"keep_alive", own.keep_alive ? "true" : "false"},
      {"mysql_dsn", ""},
      {"pid", ""},
      {"queue_default", own.queue_default},
      {"queue_default_max_workers", std::to_string(own.queue_default_max_workers)},
      {"queue_default_polling_interval", std::to_string(own.queue_default_polling_interval)},
      {"queue_log", ""},
      {"queue_log_level", "info"},
      {"queue_log_tag", "fireworq.queue"},
      {"queue_mysql_dsn", ""},
      {"repository_mysql_dsn", ""},
      {"shutdown_timeout", "30"}};
  Object object;
  for (const auto& [key, value] : values) object.text(key, value);
  return object.done();
}

}  // namespace allot::gateway::fireworq
