// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "worker/process/session.h"

namespace allot::steward {

// As Session::call(), but throws a db::DbError that waiting does not fix: it ends the present step
// of a chore, and not the other chores.
template <typename Verb>
auto ask(worker::Session& session, Verb&& verb) {
  return *session.call_while([] { return true; }, std::forward<Verb>(verb));
}

}  // namespace allot::steward
