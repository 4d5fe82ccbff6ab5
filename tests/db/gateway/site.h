// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "db/gateway/many_rows.h"
#include "gateway/access/access.h"
#include "gateway/ui/session.h"
#include "gateway/ui/site.h"

namespace allot::gateway::ui {

// The dashboard for the tasks of a test, without HTTP. It knows the tokens "all" (every role),
// "reader" (read only) and "mail" (read only, and only queue mail).
class SiteTest : public api::ManyRowsTest {
 protected:
  SiteTest()
      : access_(settings()), site_(std::make_unique<Site>("", "", kKey, access_, *application_)) {}

  // The same with another service.
  void restart(const api::Service& service) {
    site_.reset();
    application_ = std::make_unique<api::Application>(service, api::authorize);
    site_ = std::make_unique<Site>("", "", kKey, access_, *application_);
  }

  // A form as sent by a browser of this host, and the parts that a test omits.
  struct Form {
    std::string token = "all";
    std::string origin = "http://localhost";  // empty: omitted
    std::string form = "right";               // token of the form; "right": the caller's
    std::string type = "application/x-www-form-urlencoded";
    std::string more{};  // further fields
  };

  api::Answered page(const std::string& path, const std::string& token = "all") {
    return send({"GET", path, ""}, token, "");
  }
  api::Answered post(const std::string& path, const Form& form) {
    http::Head head{"POST", path, ""};
    if (!form.origin.empty()) head.fields.push_back({"origin", form.origin});
    head.fields.push_back({"content-type", form.type});
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const std::string right = Signer(kKey).form_token("token:" + form.token, "", now);
    std::string body = form.more;
    if (!form.form.empty()) body += "&form=" + (form.form == "right" ? right : form.form);
    return send(std::move(head), form.token, body);
  }

 private:
  static config::Gateway settings() {
    config::Gateway settings;
    for (const char* name : {"all", "reader", "mail"}) {
      config::GatewayToken token;
      token.name = name;
      token.sha256 = access::hex_of(access::hash_of(name));
      token.read = {token.name == "mail" ? "mail" : "*"};
      if (token.name == "all") token.submit = token.operate = {"*"};
      settings.tokens.push_back(std::move(token));
    }
    return settings;
  }
  api::Answered send(http::Head head, const std::string& token, const std::string& body) {
    if (const std::size_t mark = head.path.find('?'); mark != std::string::npos) {
      head.query = head.path.substr(mark + 1);
      head.path.resize(mark);
    }
    head.fields.push_back({"host", "localhost"});
    head.fields.push_back({"authorization", "Bearer " + token});
    const auto answer = std::make_shared<std::promise<http::Response>>();
    auto answered = answer->get_future();
    http::Request request{std::move(head), body};
    http::Admission admission = site_->admit(request.head);
    if (admission.refusal) return {std::move(*admission.refusal), false};
    admission.answer(std::move(request),
                     [answer](http::Response response) { answer->set_value(std::move(response)); });
    return {answered.get(), true};
  }

  inline static const std::string kKey{"0123456789abcdef0123456789abcdef"};
  const access::Access access_;
  std::unique_ptr<Site> site_;
};

}  // namespace allot::gateway::ui
