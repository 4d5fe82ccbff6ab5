// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/access/access.h"
#include "gateway/api/application.h"
#include "gateway/http/application.h"
#include "gateway/ui/page.h"
#include "gateway/ui/session.h"
#include "gateway/ui/turns.h"

namespace allot::gateway::ui {

// The dashboard (decision 0028). Answers paths below BASE/ui/ and passes all others to the API. A
// page is built from API answers for the same caller, so it shows and permits nothing that the API
// does not. It is written in the pool thread of the last answer. The server thread calls admit()
// and the answer of its result.
class Site final : public http::Application {
 public:
  // All references outlive this object. base_path: "/allot", mostly empty. runtime_dir: folder of
  // the login codes.
  Site(std::string base_path, std::string runtime_dir, std::string cookie_key,
       const access::Access& access, api::Application& api)
      : base_(std::move(base_path)),
        runtime_dir_(std::move(runtime_dir)),
        root_(base_ + "/ui/"),
        signer_(std::move(cookie_key)),
        access_(access),
        api_(api),
        turns_(std::make_shared<Turns>(kPagesAtATime, kMostWaiting)) {}
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  ~Site() override = default;

  http::Admission admit(const http::Head& head) override;
  http::Response refuse(unsigned status, const std::string& title) override {
    return api_.refuse(status, title);
  }

  // Pages of searches and tasks: read at a time, and waiting for it.
  static constexpr std::size_t kPagesAtATime = 2;
  static constexpr std::size_t kMostWaiting = 64;

 private:
  // The caller, or the answer that refuses it.
  struct Visitor {
    std::optional<Visit> visit{};
    http::Response refusal{};
  };
  [[nodiscard]] bool is_ours(const http::Head& head) const;
  [[nodiscard]] Visitor visitor_of(const http::Head& head) const;
  void answer(const http::Request& request, const http::Reply& reply);
  [[nodiscard]] http::Response served(const http::Request& request, const http::Reply& reply,
                                      bool& later);
  [[nodiscard]] http::Response login(const http::Request& request) const;
  // The token of a login form, given directly or by a login code; empty: refused, with the cause in
  // `why`.
  [[nodiscard]] std::optional<access::Access::NamedToken> token_of(const http::Head& head,
                                                                   const api::Values& form,
                                                                   std::string& why) const;
  [[nodiscard]] http::Response login_page(const http::Head& head, const std::string& message,
                                          unsigned status) const;
  [[nodiscard]] http::Response logout(const Visit& visit, const http::Request& request) const;
  [[nodiscard]] bool is_encrypted(const http::Head& head) const;
  [[nodiscard]] http::Response find_task(const Visit& visit) const;

  // Replies later.
  void show(const Page& page, Visit visit, const http::Request& request, const http::Reply& reply);
  void confirm(const Action& action, Visit visit, const http::Reply& reply);
  void act(const Action& action, const Visit& visit, const api::Values& form,
           const http::Reply& reply);
  void download(const Visit& visit, const std::string& id, const http::Reply& reply);

  const std::string base_;
  const std::string runtime_dir_;
  const std::string root_;
  const Signer signer_;
  const access::Access& access_;
  api::Application& api_;
  const std::shared_ptr<Turns> turns_;
};

}  // namespace allot::gateway::ui
