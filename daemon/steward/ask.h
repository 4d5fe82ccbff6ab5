// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "log/log.h"
#include "process/session.h"

namespace allot::steward {

// As Session::call(), but throws a db::DbError that waiting does not fix: it ends the present step
// of a chore, and not the other chores.
template <typename Verb>
auto ask(process::Session& session, Verb&& verb) {
  return *session.call_while([] { return true; }, std::forward<Verb>(verb));
}

// Tries once, for a steward that leaves: a failure is only logged, as this event.
template <typename Verb>
void try_once(process::Session& session, const char* event, Verb&& verb) {
  try {
    session.call_while([] { return false; }, std::forward<Verb>(verb));
  } catch (const db::DbError& error) {
    log::warn(event, {{"error", error.what()}});
  }
}

}  // namespace allot::steward
