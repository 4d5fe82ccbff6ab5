// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/application.h"

#include <algorithm>
#include <utility>

#include "base/version.h"
#include "gateway/fireworq/answer.h"
#include "gateway/fireworq/objects.h"
#include "log/log.h"
#include "queue/fireworq/jobs.h"
#include "queue/model/headers.h"

namespace allot::gateway::fireworq {
namespace {

// Limit of attempts lost with their worker or host, which are not verdicts.
constexpr std::uint32_t kMaxLosses = 3;
// Limit of other bodies: a GET needs none, a PUT a small one.
constexpr std::size_t kMostOther = std::size_t{1} << 20;
// A payload of 16 MiB with every byte escaped, and the JSON around it.
constexpr std::size_t kMostPush = std::size_t{100} << 20;

// The cause in one line, without addresses or accounts.
http::Response answer_to(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Refused& refused) {
    return error_answer(refused.status(), refused.what());
  } catch (const queue::OutcomeUnknown& unknown) {
    return error_answer(500, "the reply of the database was lost: the job may or may not exist " +
                                 work::note_cause(unknown));
  } catch (const db::DbError& failed) {
    return error_answer(500,
                        "the database refused, or does not respond " + work::note_cause(failed));
  } catch (const Error& failed) {
    return error_answer(500, failed.what());
  } catch (const std::exception& failed) {
    log::error("gateway.answer_failed", {{"error", failed.what()}});
    return error_answer(500, "this is a defect; the log says more");
  }
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& failed) {
    return failed.what();
  }
}

// Redirects to another path, with the query.
http::Response moved(const std::string& path, const std::string& query) {
  http::Response response = text_answer({}, 301);
  response.fields.push_back({"Location", query.empty() ? path : path + "?" + query});
  return response;
}

[[noreturn]] void busy() {
  throw Refused(500, "too many requests are waiting; nothing was changed");
}

// The effective method: PUT and DELETE count only where they have a meaning, otherwise GET.
std::string meaning_of(const std::string& method, Place place) {
  const bool both = place == Place::kQueue || place == Place::kRouting;
  const bool one = place == Place::kJobOfQueue || place == Place::kFailed;
  if (method == "PUT" && both) return method;
  if (method == "DELETE" && (both || one)) return method;
  return place == Place::kJob ? method : "GET";
}

}  // namespace

Application::Application(Service service, Authenticator::OfToken of_token)
    : service_(std::move(service)),
      authenticator_(service_.settings, std::move(of_token)),
      allowed_(service_.plugins),
      figures_(service_.runtime_dir),
      pool_(std::make_unique<work::ThreadPool>(service_.database, service_.threads,
                                               service_.most_waiting)),
      // The prefix of a name is the number of the last local change, so that older cache entries
      // are not used.
      combiner_(*pool_,
                {.find =
                     [this](db::Connection& db, const std::string& name) {
                       return find_queue(db, name.substr(name.find('/') + 1));
                     },
                 .ringer = peer::Ringer(service_.runtime_dir)},
                queue::number_jobs) {}

Application::~Application() {
  if (node_.is_active()) {
    static_cast<void>(
        pool_->post({[this](db::Connection& db) { node_.leave(db); },
                     [](const std::exception_ptr& error, bool begun) {
                       if (begun) log::debug("gateway.not_returned", {{"error", text_of(error)}});
                     }}));
  }
  // The pool's jobs use the combiner, so the pool ends first.
  pool_.reset();
}

// Checks the role as far as possible before the queue of a category is known.
void Application::require(const Asked& asked) const {
  const bool names_queue = !asked.target.name.empty() && asked.target.place != Place::kRouting &&
                           asked.target.place != Place::kJob;
  access::Role role = access::Role::kOperate;
  if (asked.method == "GET") role = access::Role::kRead;
  if (asked.target.place == Place::kJob) role = access::Role::kSubmit;
  bool may = asked.caller.may(role);
  if (names_queue) {
    may = asked.caller.may(role, asked.target.name);
  } else if (role == access::Role::kOperate) {
    may = asked.caller.may_everywhere(role);
  }
  if (!may) throw Refused(403, "this request needs the role " + std::string(access::name_of(role)));
  if (service_.read_only && role != access::Role::kRead) {
    throw Refused(403, "this gateway is read_only");
  }
}

http::Admission Application::admit(const http::Head& head) {
  http::Admission admission;
  try {
    access::Caller caller = authenticator_.authenticate(head);
    Target target = target_of(head.path);
    std::string method = meaning_of(head.method, target.place);
    Asked asked{std::move(target), std::move(method), head.query, std::move(caller), {}};
    require(asked);
    const bool pushes = asked.target.place == Place::kJob;
    if (pushes && asked.method != "POST") throw Refused(405, {});
    admission.most_body = pushes ? kMostPush : kMostOther;
    admission.anonymous = asked.caller.name() == access::kAnonymous;
    if (admission.anonymous) {
      const std::size_t most = std::size_t{service_.settings.max_anonymous_body} << 10;
      admission.most_body = std::min(admission.most_body, most);
    }
    admission.answer = [this, asked = std::move(asked)](http::Request request,
                                                        const http::Reply& reply) mutable {
      asked.body = std::move(request.body);
      answer(std::move(asked), reply);
    };
  } catch (...) {
    admission.refusal = finished(answer_to(std::current_exception()));
  }
  return admission;
}

http::Response Application::refuse(unsigned status, const std::string& title) {
  return finished(error_answer(status, title));
}

http::Response Application::finished(http::Response response) const {
  response.closes = !service_.settings.keep_alive;
  return response;
}

void Application::answer(Asked asked, const http::Reply& reply) {
  const http::Reply finish = [this, reply](http::Response response) {
    reply(finished(std::move(response)));
  };
  try {
    const Place place = asked.target.place;
    const bool needs_id = place == Place::kJobOfQueue || place == Place::kFailed;
    if (needs_id && !asked.target.id) return finish(error_answer(400));
    switch (place) {
      case Place::kNone:
        return finish(text_answer("404 page not found\n", 404));
      case Place::kMoved:
        return finish(moved(asked.target.moved, asked.query));
      case Place::kVersion:
        return finish(text_answer("Fireworq 1.5.1+allot." + std::string(kVersion) + "\n"));
      case Place::kSettings:
        return finish(json_answer(settings()));
      case Place::kStats: {
        const std::string indented = parameter(asked.query, "pp").value_or("");
        return finish(json_answer(process_stats(indented == "1" || indented == "true")));
      }
      case Place::kJob:
        return push(std::move(asked), finish);
      default:
        return send(std::move(asked), finish);
    }
  } catch (...) {
    finish(answer_to(std::current_exception()));
  }
}

void Application::send(Asked asked, const http::Reply& reply) {
  const bool taken = pool_->post(
      {[this, asked = std::move(asked), reply](db::Connection& db) { reply(read(db, asked)); },
       [reply](const std::exception_ptr& error, bool /*begun*/) { reply(answer_to(error)); }});
  if (!taken) busy();
}

// A small body is parsed at once, because passing it to another thread takes longer.
void Application::push(Asked asked, const http::Reply& reply) {
  constexpr std::size_t kSmall = std::size_t{64} << 10;
  if (asked.body.size() <= kSmall) return parse_and_push(asked, reply);
  const bool taken = pool_->post({.alone = [this, asked = std::move(asked), reply] {
    try {
      parse_and_push(asked, reply);
    } catch (...) {
      reply(answer_to(std::current_exception()));
    }
  }});
  if (!taken) busy();
}

void Application::parse_and_push(const Asked& asked, const http::Reply& reply) {
  const std::string& category = asked.target.name;
  if (category.size() > queue::kMaxJobName) {
    throw Refused(400, "the category has more than 255 bytes");
  }
  const auto job = std::make_shared<PushedJob>(read_job(asked.body, category));
  allowed_.check(job->fields.url);
  queue::Submission task;
  task.type = queue::kFireworqJob;
  task.payload = stored(*job);
  job->payload.clear();
  const std::uint64_t attempts = std::uint64_t{1} + job->fields.max_retries;
  task.options.max_attempts =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(attempts, queue::kMostAttempts));
  task.options.max_losses = kMaxLosses;
  if (queue::is_label(category)) task.options.label = category;
  task.options.delay =
      std::min<std::chrono::seconds>(std::chrono::seconds(job->fields.run_after), queue::kMaxDelay);
  const auto taker = std::make_shared<std::string>();
  work::Order order;
  task.named = std::to_string(changes_) + "/" + category;
  order.tasks.push_back(std::move(task));
  order.permit = [taker, caller = asked.caller](const std::string& queue) {
    if (!caller.may(access::Role::kSubmit, queue)) {
      throw Refused(403, "this request needs the role submit");
    }
    *taker = queue;
  };
  order.done = [this, job, taker, reply](const work::Outcome& outcome) {
    if (outcome.error) return reply(answer_to(outcome.error));
    figures_.pushed(*taker);
    reply(json_answer(pushed_object(outcome.numbers.at(0), *taker, *job)));
  };
  if (!combiner_.submit(std::move(order))) busy();
}

void Application::turn() {
  if (turning_.exchange(true)) return;  // the previous one still runs
  const bool taken = pool_->post({.alone = [this] { figures_.turn(); }});
  const bool round = !service_.read_only && turns_++ % 2 == 0;  // a round writes
  const bool begun =
      taken && round &&
      pool_->post({[this](db::Connection& db) {
                     node_.round(db);
                     if (!has_default_) make_default(db);
                     turning_ = false;
                   },
                   [this](const std::exception_ptr& error, bool begun) {
                     if (begun) log::warn("fireworq.round_failed", {{"error", text_of(error)}});
                     turning_ = false;
                   }});
  if (!begun) turning_ = false;
}

}  // namespace allot::gateway::fireworq
