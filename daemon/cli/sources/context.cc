// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/context.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "db/from_settings.h"
#include "db/migrate.h"
#include "operations/call.h"
#include "queue/model/audit.h"

namespace allot::cli {
namespace {

constexpr unsigned kNotListening = 2002;  // at the socket: CR_CONNECTION_ERROR

}  // namespace

db::Connection connect_any(const config::Settings& settings) {
  try {
    return db::Connection(db::from_settings(settings));
  } catch (const db::DbError& error) {
    if (settings.database.embedded.empty() || error.number() != kNotListening) throw;
    throw Error("the embedded database in " + settings.database.embedded +
                    " is not running; allotd starts it (" + error.what() + ")",
                kExitUnavailable);
  }
}

db::Connection connect(const config::Settings& settings) {
  db::Connection connection = connect_any(settings);
  db::require_schema(connection);
  return connection;
}

std::string local_folder(const config::Settings& settings) {
  try {
    return config::runtime_dir(settings);
  } catch (const Error&) {
    return "";
  }
}

peer::Ringer ringer_of(const config::Settings& settings) {
  return peer::Ringer(local_folder(settings));
}

void unknown_queue(const std::string& name, std::vector<std::string> known) {
  throw Error(operations::unknown_queue_text(name, std::move(known)), kExitBadInput);
}

queue::QueueInfo queue_named(db::Connection& db, const config::Settings& settings,
                             const std::string& name) {
  auto info = queue::find_or_make(db, name, config::find_queue(settings, name));
  if (info) return std::move(*info);
  std::vector<std::string> names;
  for (const auto& queue : queue::list_queues(db)) names.push_back(queue.name);
  for (const auto& queue : settings.queues) names.push_back(queue.name);
  unknown_queue(name, std::move(names));
}

void check_reason(const std::string& reason) {
  if (reason.size() <= queue::kMaxReason) return;
  throw Error("--reason has " + std::to_string(reason.size()) + " bytes; the limit is " +
                  std::to_string(queue::kMaxReason),
              kExitBadInput);
}

std::string requested_by() {
  const passwd* user = getpwuid(geteuid());
  std::array<char, 65> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return (user != nullptr ? std::string(user->pw_name) : std::to_string(geteuid())) + "@" +
         host.data();
}

}  // namespace allot::cli
