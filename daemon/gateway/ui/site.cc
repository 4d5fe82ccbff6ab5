// SPDX-License-Identifier: Apache-2.0
// Rule: S87.
#include "gateway/ui/site.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "gateway/access/login_code.h"
#include "gateway/api/problem.h"
#include "gateway/http/response_text.h"
#include "gateway/ui/assets.h"
#include "gateway/ui/gather.h"
#include "gateway/ui/words.h"
#include "log/log.h"

namespace allot::gateway::ui {
namespace {

constexpr std::size_t kMostForm = std::size_t{16} << 10;
// A payload of 64 KiB has up to three bytes for each of its bytes.
constexpr std::size_t kMostPayloadForm = std::size_t{256} << 10;
constexpr std::string_view kFormType = "application/x-www-form-urlencoded";
constexpr std::string_view kToken = "token:";

Seconds now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// No external resources, no inline code, no frames. The referrer policy is same-origin, because
// with no-referrer the Origin of a form would be `null`.
http::Response html_response(std::string text, unsigned status = 200) {
  http::Response response;
  response.status = status;
  response.type = "text/html; charset=utf-8";
  response.body = std::move(text);
  response.fields = {{"content-security-policy",
                      "default-src 'self'; frame-ancestors 'none'; form-action 'self'; "
                      "base-uri 'none'"},
                     {"referrer-policy", "same-origin"}};
  return response;
}

http::Response redirect(const std::string& address, unsigned status = 303) {
  http::Response response = html_response("", status);
  response.fields.push_back({"location", address});
  return response;
}

http::Response problem_page(const Visit& visit, unsigned status, const std::string& detail) {
  return html_response(framed(visit, "", std::string(http::reason_of(status)),
                              [&](Html& html) { render_problem(status, detail, html); }),
                       status);
}

// A browser omits a strict cookie when it follows a link from another site. The reload of this page
// is same-site, so it sends the cookie.
http::Response reloading_page() {
  Html html;
  html.in("html", {{"lang", "en"}}, [&] {
    html.in("head", [&] {
      html.empty("meta", {{"charset", "utf-8"}});
      html.empty("meta", {{"http-equiv", "refresh"}, {"content", "0"}});
      html.leaf("title", "Allot");
    });
    html.in("body", [&] { html.leaf("p", "One moment…"); });
  });
  return html_response(html.take());
}

http::Response asset_response(std::string_view path, const http::Head& head) {
  const Asset asset = asset_at(path);
  http::Response response;
  const std::string tag = "\"" + asset_mark() + "\"";
  if (asset.text.empty()) return html_response("", 404);
  response.type = asset.type;
  response.body = asset.text;
  response.fields = {{"cache-control", "public, max-age=31536000, immutable"}, {"etag", tag}};
  const std::string* known = head.field("if-none-match");
  if (known != nullptr && *known == tag) {
    response.status = 304;
    response.body.clear();
  }
  return response;
}

// The page, or 304 if the browser has the same text.
http::Response tagged(std::string text, const std::string& known, unsigned status) {
  const std::string tag = "\"" + access::hex_of(access::hash_of(text)).substr(0, 32) + "\"";
  if (status == 200 && known == tag) {
    http::Response same = html_response("", 304);
    same.fields.push_back({"etag", tag});
    return same;
  }
  http::Response response = html_response(std::move(text), status);
  if (status == 200) response.fields.push_back({"etag", tag});
  return response;
}

bool has_form(const http::Head& head) {
  const std::string* type = head.field("content-type");
  return type != nullptr && std::string_view(*type).substr(0, type->find(';')) == kFormType;
}

// One of Sec-Fetch-Site and Origin must be present; foreign values were already refused.
bool says_origin(const http::Head& head) {
  const std::string* site = head.field("sec-fetch-site");
  return head.field("origin") != nullptr || (site != nullptr && *site == "same-origin");
}

std::string filled(std::string_view pattern, const api::Values& values) {
  std::string text;
  while (!pattern.empty()) {
    const std::size_t open = std::min(pattern.find('{'), pattern.size());
    text += pattern.substr(0, open);
    pattern.remove_prefix(open);
    if (pattern.empty()) break;
    const std::size_t close = pattern.find('}');
    const auto at = values.find(pattern.substr(1, close - 1));
    if (at != values.end()) text += api::escaped(at->second);
    pattern.remove_prefix(close + 1);
  }
  return text;
}

std::string value_in(const api::Values& form, std::string_view name) {
  const auto at = form.find(name);
  return at == form.end() ? std::string() : at->second;
}

// A form has CR LF for each line break.
std::string with_line_feeds(std::string text) {
  for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

ApiRequest request_of(const Action& action, const Visit& visit, const api::Values& form) {
  json body = json::object();
  for (const std::string_view name : action.texts) {
    const std::string text = with_line_feeds(value_in(form, name));
    if (!text.empty() || (name == "payload" && form.contains(name))) body[std::string(name)] = text;
  }
  if (!value_in(form, "reason").empty()) body["reason"] = value_in(form, "reason");
  for (const std::string_view name : action.numbers) {
    const std::string text = value_in(form, name);
    if (text.empty()) continue;
    const bool digits = text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
    body[std::string(name)] = digits ? json(std::stoull(text)) : json(text);
  }
  return {"/api/v1/" + filled(action.path, visit.path), "POST", body.empty() ? "" : body.dump()};
}

// Converts an exception while a page is written into an answer.
template <typename Write>
void reply_with(const http::Reply& reply, Write&& write) {
  http::Response response;
  try {
    response = write();
  } catch (const std::exception& error) {
    log::error("gateway.page_failed", {{"error", error.what()}});
    response = html_response("", 500);
  }
  reply(std::move(response));
}

// Reads the documents of a page, then calls `done`. The Site may be gone by then, the API is not.
void read(api::Application& api, const std::string& base, const Page& page,
          const std::shared_ptr<View>& view, const std::function<void()>& done) {
  gather(api, base, view->visit.caller, page.requests(view->visit),
         [&api, base, &page, view, done](std::vector<Document> documents) {
           view->documents = std::move(documents);
           const Document* first = view->document(0);
           const bool more = page.further != nullptr && first != nullptr && first->ok();
           gather(api, base, view->visit.caller,
                  more ? page.further(*view) : std::vector<ApiRequest>(),
                  [view, done](std::vector<Document> further) {
                    for (Document& each : further) view->documents.push_back(std::move(each));
                    done();
                  });
         });
}

}  // namespace

bool Site::is_ours(const http::Head& head) const {
  return head.path.starts_with(root_) || head.path == base_ + "/ui";
}

bool Site::is_encrypted(const http::Head& head) const {
  if (head.peer.encrypted) return true;
  const std::string* proto = head.field("x-forwarded-proto");
  return proto != nullptr && *proto == "https" && access_.is_trusted_proxy(head.peer.address);
}

http::Admission Site::admit(const http::Head& head) {
  if (!is_ours(head)) return api_.admit(head);
  http::Admission admission;
  admission.answer = [this](const http::Request& request, const http::Reply& reply) {
    answer(request, reply);
  };
  if (head.method != "POST") return admission;
  admission.most_body = head.path.ends_with("/again") ? kMostPayloadForm : kMostForm;
  admission.anonymous = true;
  return admission;
}

Site::Visitor Site::visitor_of(const http::Head& head) const {
  Visitor visitor;
  Visit visit;
  visit.root = root_;
  visit.now = now();
  visit.target = head.path.substr(std::min(root_.size(), head.path.size()));
  if (!head.query.empty()) visit.target += "?" + head.query;
  if (access_.is_foreign_navigation(head)) {
    visitor.refusal = reloading_page();
    return visitor;
  }
  auto verdict = access_.authorize(head);
  if (verdict.caller) {
    visit.caller = std::move(*verdict.caller);
  } else if (verdict.status != 401) {
    visitor.refusal = problem_page(visit, verdict.status, verdict.title);
    return visitor;
  } else if (auto session = signer_.session_of(head, access_, visit.now)) {
    visit.caller = std::move(session->caller);
    visit.session = std::move(session->id);
  } else {
    const bool asks = head.method == "GET" && !visit.target.empty();
    visitor.refusal =
        redirect(root_ + "login" + (asks ? "?next=" + api::escaped(root_ + visit.target) : ""));
    return visitor;
  }
  visit.form_token = signer_.form_token(visit.caller.name(), visit.session, visit.now);
  visitor.visit = std::move(visit);
  return visitor;
}

void Site::answer(const http::Request& request, const http::Reply& reply) {
  bool later = false;
  http::Response response;
  try {
    response = served(request, reply, later);
  } catch (const api::Refusal& refusal) {
    Visit visit;
    visit.root = root_;
    response = problem_page(visit, refusal.problem().status, refusal.problem().detail);
  }
  if (!later) reply(std::move(response));
}

// `later`: another thread replies, and the result is unused.
http::Response Site::served(const http::Request& request, const http::Reply& reply, bool& later) {
  const http::Head& head = request.head;
  if (head.path == base_ + "/ui") return redirect(root_, 301);
  const std::string_view path = std::string_view(head.path).substr(root_.size());
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (path.starts_with("assets/") && reads) {
    // A rebound page must not learn that a gateway exists.
    if (access_.authorize(head).status == 421) return html_response("", 421);
    return asset_response(path.substr(path.find('/') + 1), head);
  }
  if (path == "login") {
    return head.method == "POST" ? login(request) : login_page(head, "", 200);
  }
  Visitor visitor = visitor_of(head);
  if (!visitor.visit) return std::move(visitor.refusal);
  Visit& visit = *visitor.visit;
  visit.query = api::query_of(head.query);
  if (!reads && head.method != "POST")
    return problem_page(visit, 405, "Only GET and POST are allowed.");
  api::Values form;
  if (!reads) {
    if (!has_form(head)) return problem_page(visit, 415, "The request is not a form.");
    form = api::query_of(request.body);
    const auto token = form.find("form");
    const bool good =
        token != form.end() &&
        signer_.is_form_token(token->second, visit.caller.name(), visit.session, visit.now);
    if (!good || !says_origin(head)) {
      return problem_page(visit, 403,
                          "This form is too old, or was not made by this dashboard. Nothing was "
                          "changed. Go back, reload the page, and try again.");
    }
  }
  if (path == "logout" && !reads) return logout(visit, request);
  if (path == "find" && reads) return find_task(visit);
  if (reads && matches("tasks/{id}/payload", path, visit.path)) {
    download(visit, visit.at("id"), reply);
    later = true;
    return {};
  }
  for (const Action& action : actions()) {
    if (!matches(action.path, path, visit.path)) continue;
    if (!visit.caller.may(access::Role::kOperate)) {
      return problem_page(visit, 403, "The role operate is required.");
    }
    if (reads) {
      confirm(action, std::move(visit), reply);
    } else {
      act(action, visit, form, reply);
    }
    later = true;
    return {};
  }
  for (const Page& page : pages()) {
    if (!reads || !matches(page.path, path, visit.path)) continue;
    show(page, std::move(visit), request, reply);
    later = true;
    return {};
  }
  return problem_page(visit, 404, "Unknown page.");
}

http::Response Site::login_page(const http::Head& head, const std::string& message,
                                unsigned status) const {
  auto verdict = access_.authorize(head);
  View view;
  view.visit.root = root_;
  if (!verdict.caller && verdict.status != 401 && !access_.is_foreign_navigation(head)) {
    return problem_page(view.visit, verdict.status, verdict.title);
  }
  view.visit.query = api::query_of(head.query);
  return html_response(
      framed(view.visit, "", "Log in", [&](Html& html) { render_login(view, html, message); }),
      status);
}

http::Response Site::login(const http::Request& request) const {
  const http::Head& head = request.head;
  const auto verdict = access_.authorize(head);
  if (!verdict.caller && verdict.status != 401) return login_page(head, "", 403);
  if (!has_form(head) || !says_origin(head)) {
    return login_page(head, "This form was not made by this dashboard.", 403);
  }
  const api::Values form = api::query_of(request.body);
  std::string why;
  const auto token = token_of(head, form, why);
  if (!token) {
    log::warn("gateway.login_refused", {{"peer", head.peer.address}});
    return login_page(head, why, 401);
  }
  const bool by_code = !value_in(form, "code").empty();
  log::info("gateway.login",
            {{"actor", token->caller.name()}, {"method", by_code ? "code" : "token"}});
  http::Response response = redirect(next_of(value_in(form, "next"), base_));
  std::string cookie = std::string(kCookieName) + "=" +
                       signer_.session(*token, now() + kSessionLength) + "; Path=" + root_ +
                       "; Max-Age=" + std::to_string(std::chrono::seconds(kSessionLength).count()) +
                       "; HttpOnly; SameSite=Strict";
  if (is_encrypted(head)) cookie += "; Secure";
  response.fields.push_back({"set-cookie", cookie});
  return response;
}

std::optional<access::Access::NamedToken> Site::token_of(const http::Head& head,
                                                         const api::Values& form,
                                                         std::string& why) const {
  const std::string code = value_in(form, "code");
  if (code.empty()) {
    why = "The token is unknown or has expired.";
    const auto known = access_.by_token(value_in(form, "token"));
    if (!known.caller) return std::nullopt;
    return access_.token_named(known.caller->name().substr(kToken.size()));
  }
  // S92: only for a browser at this host; elsewhere a token is required.
  if (!access_.is_at_this_host(head)) {
    why = "A code is valid only in a browser on this host. Log in with a token.";
    return std::nullopt;
  }
  why =
      "The code was used already, or is older than a minute. allot gateway code NAME makes a new "
      "one.";
  const auto name = access::take_login_code(runtime_dir_, code, now());
  return name ? access_.token_named(*name) : std::nullopt;
}

http::Response Site::logout(const Visit& visit, const http::Request& request) const {
  log::info("gateway.logout", {{"actor", visit.caller.name()}});
  http::Response response = redirect(root_ + "login");
  std::string cookie =
      std::string(kCookieName) + "=; Path=" + root_ + "; Max-Age=0; HttpOnly; SameSite=Strict";
  if (is_encrypted(request.head)) cookie += "; Secure";
  response.fields.push_back({"set-cookie", cookie});
  return response;
}

http::Response Site::find_task(const Visit& visit) const {
  std::string id = visit.asked("id");
  std::erase(id, ' ');
  return redirect(id.empty() ? root_ : task_address(visit, id));
}

void Site::show(const Page& page, Visit visit, const http::Request& request,
                const http::Reply& reply) {
  const std::string* tag = request.head.field("if-none-match");
  const auto view = std::make_shared<View>();
  view->visit = std::move(visit);
  const auto write = [&page, view, known = tag == nullptr ? "" : *tag, reply] {
    reply_with(reply, [&] {
      const Document* first = view->document(0);
      if (first != nullptr && !first->ok() && !page.shows_failure) {
        return problem_page(view->visit, first->status(), first->detail());
      }
      return tagged(framed(view->visit, page.section, page.title(view->visit),
                           [&](Html& html) { page.render(*view, html); }),
                    known, 200);
    });
  };
  if (!page.takes_turn) return read(api_, base_, page, view, write);
  const bool taken =
      turns_->take([&api = api_, base = base_, &page, view, write](const Turns::Turn& turn) {
        read(api, base, page, view, [write, turn] { write(); });
      });
  if (!taken) reply(problem_page(view->visit, 503, "Too many searches wait. Try again."));
}

void Site::confirm(const Action& action, Visit visit, const http::Reply& reply) {
  const auto view = std::make_shared<View>();
  view->visit = std::move(visit);
  std::vector<ApiRequest> requests;
  if (action.requests != nullptr) requests = action.requests(view->visit);
  if (action.counts) {
    api::Values filter = view->visit.query;
    filter.erase("token");
    filter.erase("rate");
    requests.push_back(request_of(action, view->visit, filter));
  }
  gather(api_, base_, view->visit.caller, requests,
         [&action, view, reply](std::vector<Document> documents) {
           view->documents = std::move(documents);
           reply_with(reply, [&] {
             for (const Document& each : view->documents) {
               if (!each.ok()) return problem_page(view->visit, each.status(), each.detail());
             }
             const std::string why = action.refusal == nullptr ? "" : action.refusal(*view);
             if (!why.empty()) return problem_page(view->visit, 409, why);
             return html_response(
                 framed(view->visit, "", std::string(action.title),
                        [&](Html& html) { render_confirmation(action, *view, html); }));
           });
         });
}

void Site::act(const Action& action, const Visit& visit, const api::Values& form,
               const http::Reply& reply) {
  // Without the token the API would only count again.
  const auto token = form.find("token");
  if (action.counts && (token == form.end() || token->second.empty())) {
    return reply(problem_page(visit, 400, "Count the tasks first: open this page again."));
  }
  const auto seen = std::make_shared<Visit>(visit);
  gather(api_, base_, visit.caller, {request_of(action, visit, form)},
         [&action, seen, reply](const std::vector<Document>& documents) {
           reply_with(reply, [&] {
             const Document& done = documents.front();
             if (!done.ok()) return problem_page(*seen, done.status(), done.detail());
             return redirect(seen->root + action.then(*seen, done.body()));
           });
         });
}

void Site::download(const Visit& visit, const std::string& id, const http::Reply& reply) {
  const auto seen = std::make_shared<Visit>(visit);
  const ApiRequest wanted{"/api/v1/tasks/" + api::escaped(id) + "/payload"};
  api_.answer_as(visit.caller, api_request(base_, wanted), [seen, reply](http::Response response) {
    if (response.status == 200) return reply(std::move(response));
    reply_with(reply, [&] {
      const Document document = document_of(std::move(response));
      return problem_page(*seen, document.status(), document.detail());
    });
  });
}

}  // namespace allot::gateway::ui
