// SPDX-License-Identifier: Apache-2.0
#pragma once

// clang-format off
#include <utility>  // the next header uses it without including it
#include <boost/asio/awaitable.hpp>
// clang-format on

namespace allot::gateway::http {

// Result of a coroutine of the server. g++ 12 generates a wrong coroutine frame if several co_await
// are in conditions: each is a separate statement, or the value of a constant.
template <typename Result>
using Awaitable = boost::asio::awaitable<Result>;

}  // namespace allot::gateway::http
