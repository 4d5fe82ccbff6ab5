// SPDX-License-Identifier: Apache-2.0
#include "gateway/api/application.h"

#include <utility>

#include "base/names.h"
#include "gateway/api/problem.h"
#include "gateway/api/submission.h"
#include "json/printable.h"
#include "log/log.h"
#include "metrics/slots.h"
#include "operations/call.h"
#include "operations/submission.h"
#include "queue/model/catalog.h"
#include "schedule/computing_process.h"

namespace allot::gateway::api {
namespace {

// Room for a payload of 64 KiB, escaped.
constexpr std::size_t kMostOptions = std::size_t{160} << 10;

http::Response problem_response(const std::exception_ptr& error, bool writes) {
  return response_of(problem_of(error, writes));
}

// A caller without a token only learns whether to send requests here. The cause is in the log, as
// gateway.no_connection.
http::Response problem_response(const std::exception_ptr& error, const Route& route, bool begun) {
  const Problem problem = problem_of(error, begun && route.writes());
  if (route.role || problem.status < 500) return response_of(problem);
  return response_of({503,
                      "the database does not respond, or has a different schema; see the "
                      "log of the gateway",
                      {},
                      {{"retry-after", "1"}}});
}

[[noreturn]] void busy() {
  throw Refusal(
      {503, "too many requests are waiting; nothing was changed", {}, {{"retry-after", "1"}}});
}

std::string joined(const std::set<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

bool has_body(const http::Head& head) {
  if (head.field("transfer-encoding") != nullptr) return true;
  const std::string* length = head.field("content-length");
  return length != nullptr && *length != "0";
}

void check_encoding(const http::Head& head) {
  const std::string* encoding = head.field("content-encoding");
  if (encoding == nullptr || *encoding == "identity") return;
  refuse(415, "the body must not be compressed (Content-Encoding)", "content-encoding");
}

void check_options(const http::Head& head) {
  if (!has_body(head) || media_type(head) == "application/json") return;
  refuse(415, "Content-Type must be application/json", "content-type");
}

Service completed(Service service) {
  service.openapi = openapi(service.base_path, service.read_only);
  service.on_change = log_action;
  service.next_run = [command = service.calendar](const std::string& expression,
                                                  const std::string& zone, std::int64_t after) {
    return schedule::ComputingProcess(command).next(expression, zone, after);
  };
  return service;
}

}  // namespace

Application::Application(Service service, Authorizer authorize)
    : service_(completed(std::move(service))),
      authorizer_(std::move(authorize)),
      counts_(service_.requests),
      snapshots_(service_.snapshot_for),
      reads_(service_.database),
      pool_(std::make_unique<work::ThreadPool>(service_.database, service_.threads,
                                               service_.most_waiting)),
      submission_{
          .configured = [this](const std::string& name) { return configured(service_, name); },
          .ringer = peer::Ringer(service_.runtime_dir),
          .finds_owners = true},
      combiner_(*pool_, submission_) {}

Application::~Application() {
  // The pool's jobs use the combiner, so the pool ends first.
  pool_.reset();
}

Application::Asked Application::find(const http::Head& head) const {
  Match found = match(head.method, head.path, service_.base_path, service_.read_only);
  const bool open = found.route != nullptr && !found.route->role;
  access::Caller caller(access::kAnonymous, {});
  if (!open) {
    access::Access::Verdict verdict = authorizer_(head);
    if (!verdict.caller) {
      Problem problem{verdict.status, verdict.title};
      if (verdict.status == 401) problem.fields.emplace_back("www-authenticate", "Bearer");
      throw Refusal(std::move(problem));
    }
    caller = std::move(*verdict.caller);
  }
  return allowed(std::move(found), std::move(caller), head);
}

Application::Asked Application::allowed(Match found, access::Caller caller,
                                        const http::Head& head) {
  if (found.route == nullptr && found.allowed.empty()) {
    operations::refuse(404, "no such resource: " + as_json::printable(head.path, 200));
  }
  if (found.route == nullptr) {
    throw Refusal({405,
                   as_json::printable(head.method, 40) + " not allowed for this path",
                   {},
                   {{"allow", joined(found.allowed)}}});
  }
  const Route& route = *found.route;
  if (route.role &&
      (route.everywhere ? !caller.may_everywhere(*route.role) : !caller.may(*route.role))) {
    operations::refuse(403, "this request needs the role " +
                                std::string(access::name_of(*route.role)) +
                                (route.everywhere ? " for all queues" : ""));
  }
  return {route, std::move(caller), std::move(found.path)};
}

http::Admission Application::admit(const http::Head& head) {
  http::Admission admission;
  const Route* route = nullptr;
  try {
    Asked asked = find(head);
    route = &asked.route;
    admission.to_guests = !route->role;  // the health routes
    check_encoding(head);
    switch (asked.route.body) {
      case Body::kNone:
        break;
      case Body::kOptions:
        check_options(head);
        admission.most_body = kMostOptions;
        break;
      case Body::kTasks:
        if (media_type(head) == operations::kNdjson) {
          admission.lines = submit_lines(*pool_, queue::Submitter(submission_), asked.caller, head);
          admission.lines_type = operations::kNdjson;
          admission.most_body = as_json::kMaxLine;
          counts_.count(route, 200);  // counted when the answer begins
        } else {
          admission.most_body = most_body(head);
        }
        break;
    }
    admission.answer = [this, asked = std::move(asked)](http::Request request, http::Reply reply) {
      answer(asked, std::move(request), std::move(reply));
    };
  } catch (...) {
    admission.refusal = problem_response(std::current_exception(), false);
    counts_.count(route, admission.refusal->status);
  }
  return admission;
}

http::Response Application::refuse(unsigned status, const std::string& title) {
  return response_of({status, title});
}

void Application::answer_as(access::Caller caller, http::Request request,
                            const http::Reply& reply) {
  const http::Head& head = request.head;
  try {
    Match found = match(head.method, head.path, service_.base_path, service_.read_only);
    Asked asked = allowed(std::move(found), std::move(caller), head);
    asked.of_page = true;
    answer(asked, std::move(request), reply);
  } catch (...) {
    reply(problem_response(std::current_exception(), false));
  }
}

// Counts the answer. An exception here means that the request was not started.
void Application::answer(const Asked& asked, http::Request request, http::Reply reply) {
  const http::Reply counted = [this, route = &asked.route, began = boot_ns(),
                               reply = std::move(reply)](http::Response response) {
    counts_.count(route, response.status, boot_ns() - began);
    reply(std::move(response));
  };
  try {
    const Route& route = asked.route;
    if (route.executor == Executor::kCombiner) return submit(asked, std::move(request), counted);
    const auto call = std::make_shared<Call>(service_, route, asked.caller, asked.path,
                                             request.head.query, request.body);
    if (route.executor == Executor::kScrape) return scrape(counted);
    if (route.executor == Executor::kServer) return counted(to_http(route.verb(*call)));
    if (!asked.of_page || route.writes()) return send(call, counted);
    call->use(reads_);
    send_without_connection(call, counted);
  } catch (...) {
    counted(problem_response(std::current_exception(), false));
  }
}

// Most requests of a page need only shared reads.
void Application::send_without_connection(const std::shared_ptr<Call>& call,
                                          const http::Reply& reply) {
  const bool taken = pool_->post({.alone = [this, call, reply] {
    http::Response response;
    try {
      response = to_http(call->route().verb(*call));
    } catch (const NoConnection&) {
      try {
        return send(call, reply);
      } catch (...) {
        response = problem_response(std::current_exception(), false);
      }
    } catch (...) {
      response = problem_response(std::current_exception(), call->route(), true);
    }
    reply(std::move(response));
  }});
  if (!taken) busy();
}

void Application::send(const std::shared_ptr<Call>& call, const http::Reply& reply) {
  const auto done = [this, call, reply](http::Response response) {
    if (call->route().writes()) reads_.forget();
    reply(std::move(response));
  };
  const bool taken = pool_->post({[call, done](db::Connection& db) {
                                    call->use(db);
                                    http::Response response;
                                    {
                                      const db::Acting acting(db, call->actor());
                                      response = to_http(call->route().verb(*call));
                                    }
                                    done(std::move(response));
                                  },
                                  [call, done](const std::exception_ptr& error, bool begun) {
                                    done(problem_response(error, call->route(), begun));
                                  }});
  if (!taken) busy();
}

// Called in the server thread, which reads no files.
void Application::scrape(const http::Reply& reply) {
  const bool posted = pool_->post({.alone = [this, reply] {
    if (const auto last = snapshots_.get(boot_ns())) return reply(page(*last));
    const auto renew = [this, reply](db::Connection* db) {
      std::exception_ptr lost;
      const auto failed = [&lost](const std::exception& error) {
        lost = std::current_exception();
        log::warn("metrics.failed", {{"error", error.what()}});
      };
      reply(page(*snapshots_.put(metrics::take_snapshot(db, failed))));
      if (lost) std::rethrow_exception(lost);
    };
    const bool taken = pool_->post({[renew](db::Connection& db) { renew(&db); },
                                    [renew](const std::exception_ptr& /*error*/, bool begun) {
                                      if (!begun) renew(nullptr);
                                    }});
    if (!taken) renew(nullptr);
  }});
  if (!posted) busy();
}

http::Response Application::page(const metrics::Snapshot& snapshot) const {
  metrics::Page page;
  if (!service_.runtime_dir.empty())
    metrics::add_slots(page, service_.runtime_dir, service_.metrics_types);
  metrics::add_snapshot(page, snapshot, boot_ns());
  counts_.add_to(page);
  http::Response response;
  response.type = metrics::kTextType;
  response.body = metrics::text_of(page);
  return response;
}

// A small body is parsed at once, because passing it to another thread takes longer.
void Application::submit(const Asked& asked, http::Request request, const http::Reply& reply) {
  constexpr std::size_t kSmall = std::size_t{64} << 10;
  if (request.body.size() <= kSmall) return combine(asked, request, reply);
  const auto shared = std::make_shared<http::Request>(std::move(request));
  const bool taken = pool_->post({.alone = [this, asked, shared, reply] {
    try {
      combine(asked, *shared, reply);
    } catch (...) {
      reply(problem_response(std::current_exception(), false));
    }
  }});
  if (!taken) busy();
}

void Application::combine(const Asked& asked, http::Request& request, const http::Reply& reply) {
  as_json::TaskBody body = submission_of(request);
  work::Order order{std::move(body.tasks), permit_of(asked.caller), {}};
  order.done = [caller = asked.caller, reply, several = body.several,
                base_path = service_.base_path](const work::Outcome& outcome) {
    try {
      if (outcome.error) std::rethrow_exception(outcome.error);
      log_submission(caller, outcome.made);
      reply(to_http(operations::made_answer(outcome.made, several, base_path)));
    } catch (...) {
      reply(problem_response(std::current_exception(), true));
    }
  };
  if (!combiner_.submit(std::move(order))) busy();
  // The analyzer does not follow std::function's destructor, and takes the permit for lost.
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace allot::gateway::api
