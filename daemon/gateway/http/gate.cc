// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/gate.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>

namespace allot::gateway::http {

namespace asio = boost::asio;

Awaitable<void> Gate::wait() {
  if (!open_) co_await closed();
  open_ = false;
}

void Gate::open() {
  open_ = true;
  if (waiter_) std::exchange(waiter_, nullptr)();
}

Awaitable<void> Gate::closed() {
  return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
      [this](auto handler) {
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        waiter_ = [kept] { std::move (*kept)(); };
      },
      asio::use_awaitable);
}

}  // namespace allot::gateway::http
