// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/local.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "cli/sources/context.h"
#include "gateway/access/caller.h"
#include "operations/call.h"
#include "operations/route.h"
#include "operations/submission.h"
#include "queue/model/task_facts.h"
#include "schedule/expression.h"
#include "schedule/next.h"
#include "schedule/system_zone.h"

namespace allot::cli {
namespace {

constexpr std::string_view kBase = "/api/v1";

// A user with access to the database may do everything that its account permits.
gateway::access::Caller this_user() {
  const gateway::access::Reach all{true};
  return {requested_by(), {all, all, all}};
}

}  // namespace

const config::Settings& Local::settings() const {
  if (!settings_) settings_ = context_.settings();
  return *settings_;
}

db::Connection& Local::db() const {
  if (!db_) db_.emplace(connect(settings()));
  return *db_;
}

const operations::Service& Local::service() const {
  if (service_) return *service_;
  operations::Service service;
  service.queues = settings().queues;
  service.instance = settings().daemon.instance;
  service.runtime_dir = local_folder(settings());
  service.source = "cli";
  service.most_counted = queue::kCountBound;
  service.next_run = [](const std::string& expression, const std::string& zone,
                        std::int64_t after) {
    return schedule::next(schedule::Expression::parse(expression), schedule::SystemZone(zone),
                          after);
  };
  return service_.emplace(std::move(service));
}

operations::Document Local::ask(const Request& request) const {
  const std::string_view path = std::string_view(request.path).substr(0, request.path.find('?'));
  const std::string query =
      path.size() == request.path.size() ? "" : request.path.substr(path.size() + 1);
  operations::Match found =
      operations::match(request.method, std::string(kBase).append(path), "", false);
  if (found.route == nullptr) throw Error("no operation for " + request.path, kExitSoftware);
  if (found.route->executor == operations::Executor::kCombiner) return submit(request, query);
  operations::Call call(service(), *found.route, this_user(), std::move(found.path), query,
                        request.body);
  call.use(db());
  const db::Acting acting(db(), call.actor());
  return found.route->verb(call);
}

operations::Document Local::submit(const Request& request, std::string_view query) const {
  if (request.type == operations::kNdjson) return submit_lines(request.body, query);
  auto [tasks, several] =
      operations::read_tasks(request.type, operations::query_of(query), request.body);
  for (queue::Submission& task : tasks) {
    const auto compression = queue::compression_of(request.compression);
    task.options.compression = compression.value_or(queue::Compression::kNone);
  }
  prepare_to_submit();
  submitter_->prepare(db(), tasks);
  const auto made = submitter_->submit(db(), tasks);
  note(tasks);
  return operations::made_answer(made, several, "");
}

operations::Document Local::submit_lines(const std::string& body, std::string_view query) const {
  operations::LineOptions options = operations::line_options_of(operations::query_of(query));
  options.source = as_json::Source::kFile;
  operations::Lines lines(std::move(options));
  std::istringstream in(body);
  prepare_to_submit();
  for (std::string line; std::getline(in, line);) lines.read(db(), *submitter_, line);
  operations::Document report;
  if (!lines.batch().empty()) {
    const auto made = submitter_->submit(db(), lines.batch());
    note(lines.batch());
    report.text = lines.report(made);
  }
  report.text += lines.end({}, false);
  return report;
}

// Everything that may fail and is not part of the submission, so that nothing fails after it.
void Local::prepare_to_submit() const {
  if (!known_types_) known_types_.emplace(settings());
  if (submitter_) return;
  submitter_.emplace(queue::Submitter::Environment{
      .configured =
          [this](const std::string& name) { return config::find_queue(settings(), name); },
      .find = [this](db::Connection& db,
                     const std::string& name) { return queue_named(db, settings(), name); },
      .ringer = ringer_of(settings()),
      .finds_owners = true});
}

void Local::note(const std::vector<queue::Submission>& tasks) const {
  for (const queue::Submission& task : tasks) known_types_->submitted(task.queue.name, task.type);
}

void Local::warn_of_tasks() const {
  if (known_types_) known_types_->warn(db());
}

nlohmann::json Local::send(const Request& request) const {
  return nlohmann::json::parse(ask(request).text);
}

}  // namespace allot::cli
