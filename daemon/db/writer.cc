// SPDX-License-Identifier: Apache-2.0
#include "db/writer.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/mutant.h"
#include "sql/queries.h"
#include "thread/deaf_thread.h"

namespace allot::db {
namespace {

void ask(const ConnectOptions& options, ServerAnswer& answer) {
  const Nanos asked = mono_ns();
  try {
    answer.connection.emplace(options, &answer.server);
    options.memory->found_answering(answer.where);
  } catch (const DbError& error) {
    answer.error = error;
    const auto within = std::chrono::nanoseconds(options.connect_timeout).count();
    if (mono_ns() - asked >= static_cast<Nanos>(within)) {
      options.memory->found_silent(answer.where);
    }
  } catch (const std::exception& error) {  // an exception must not leave the thread
    answer.error = DbError(CR_UNKNOWN_ERROR, error.what(), Phase::kConnect);
  }
}

std::optional<std::jthread> thread_that_asks(const ConnectOptions& options, ServerAnswer& answer) {
  try {
    return deaf_thread([&options, &answer] {
      ask(options, answer);
      mysql_thread_end();
    });
  } catch (const std::system_error&) {
    return std::nullopt;  // no thread is available
  }
}

std::uint64_t term_of(const ServerAnswer& answer) {
  return answer.connection->standing().term.value_or(0);
}

bool may_be_used(const ServerAnswer& answer, std::uint64_t highest) {
  return answer.connection && (!answer.connection->standing().term || term_of(answer) >= highest ||
                               mutant::removed("term_highest"));
}

// Nodes of a Galera cluster share one term, and one of them is the writer.
bool comes_before(const ServerAnswer& one, const ServerAnswer& other) {
  if (term_of(one) != term_of(other)) return term_of(one) > term_of(other);
  return !one.connection->standing().other_node && other.connection->standing().other_node;
}

std::string refusal_of(const ServerAnswer& answer, std::uint64_t highest) {
  if (answer.error) return answer.error->what();
  return "database at " + answer.where + " has term " + std::to_string(term_of(answer)) +
         ", and another server has term " + std::to_string(highest) + ": not used";
}

[[noreturn]] void refuse_all(const std::vector<ServerAnswer>& answers, std::uint64_t highest) {
  std::optional<DbError> worst;
  std::string reasons;
  for (const ServerAnswer& answer : answers) {
    reasons += (reasons.empty() ? "" : "; ") + refusal_of(answer, highest);
    const DbError error = answer.error.value_or(DbError(CR_SERVER_GONE_ERROR, "", Phase::kConnect));
    // A server that may come back decides the class, because then waiting helps.
    if (!worst || error.error_class() == ErrorClass::kGone) worst = error;
  }
  const std::string text = "no database server in the list can be used: " + reasons;
  throw worst ? DbError(*worst, text) : DbError(CR_UNKNOWN_HOST, text, Phase::kConnect);
}

// Neither has seen that the other one is the writer now, so either may be outdated.
[[noreturn]] void refuse_both(const ServerAnswer& one, const ServerAnswer& other) {
  throw DbError(
      CR_SERVER_GONE_ERROR,
      "two database servers accept writes, and both have term " + std::to_string(term_of(one)) +
          ": " + one.where + " and " + other.where +
          ": neither is used; make the one that is not the primary read-only, or run 'allot "
          "promote HOST:PORT' for the one that is",
      Phase::kConnect);
}

// Index of the reply to use; nullopt: none.
std::optional<std::size_t> choose(const std::vector<ServerAnswer>& answers, std::uint64_t highest) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!may_be_used(answers[i], highest)) continue;
    if (!best || comes_before(answers[i], answers[*best])) best = i;
  }
  if (!best || answers[*best].connection->standing().galera || mutant::removed("term_equal")) {
    return best;
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i != *best && may_be_used(answers[i], highest) &&
        term_of(answers[i]) == term_of(answers[*best])) {
      refuse_both(answers[*best], answers[i]);
    }
  }
  return best;
}

// nullopt: no reply is usable.
std::optional<Found> found_in(std::vector<ServerAnswer>& answers, std::uint64_t highest) {
  const auto best = choose(answers, highest);
  if (!best) return std::nullopt;
  Found found{std::move(*answers[*best].connection)};
  for (std::size_t i = 0; i < *best; ++i) {
    found.passed_over.push_back(refusal_of(answers[i], highest));
  }
  return found;
}

}  // namespace

std::uint64_t learn_highest(const std::vector<ServerAnswer>& answers, TermMemory& memory) {
  for (const ServerAnswer& answer : answers) {
    if (!answer.connection) continue;
    memory.saw(std::max(term_of(answer), answer.connection->standing().superseded_by));
  }
  return memory.highest();
}

std::vector<ServerAnswer> ask_servers(const ConnectOptions& options, Asked asked,
                                      std::chrono::milliseconds within) {
  ConnectOptions bounded = options;
  bounded.connect_timeout = std::min(options.connect_timeout, within);
  std::vector<ServerAnswer> answers;
  for (const Server& server : options.servers) {
    answers.push_back({server, place_of(options, &server)});
  }
  std::vector<std::jthread> threads;
  for (ServerAnswer& answer : answers) {
    if (asked == Asked::kLikely && options.memory->is_silent(answer.where)) {
      answer.error = DbError(CR_SERVER_LOST,
                             "database at " + answer.where + ": it did not respond a moment ago",
                             Phase::kConnect);
    } else if (auto thread = thread_that_asks(bounded, answer)) {
      threads.push_back(std::move(*thread));
    } else {
      ask(bounded, answer);
    }
  }
  for (std::jthread& thread : threads) thread.join();
  return answers;
}

// First with a short timeout, and without servers that are known to be silent. If that finds no
// writer, and one of them was silent, with the configured timeout.
Found find_writer(const ConnectOptions& options) {
  auto answers = ask_servers(options, Asked::kLikely, kAskWithin);
  std::uint64_t highest = learn_highest(answers, *options.memory);
  if (auto found = found_in(answers, highest)) return std::move(*found);
  const bool silent = std::any_of(answers.begin(), answers.end(), [&](const ServerAnswer& answer) {
    return options.memory->is_silent(answer.where);
  });
  if (silent) {
    answers = ask_servers(options, Asked::kAll, options.connect_timeout);
    highest = learn_highest(answers, *options.memory);
    if (auto found = found_in(answers, highest)) return std::move(*found);
  }
  refuse_all(answers, highest);
}

Statement note_server_statement(const Connection& db) {
  Statement statement(sql::k_note_server);
  statement.set_raw("server_name", Statement(sql::k_server_name).render());
  return statement.set_raw("other_node", db.standing().galera
                                             ? Statement(sql::k_other_node).render()
                                             : std::string("0"));
}

Statement promote_statement(std::uint64_t known_term) {
  Statement statement(sql::k_promote);
  statement.set_raw("server_name", Statement(sql::k_server_name).render());
  return statement.set("known_term", known_term);
}

bool claim_term(Connection& db) {
  try {
    db.run({note_server_statement(db)});
    return true;
  } catch (const DbError& error) {
    if (error.number() == ER_DATA_OUT_OF_RANGE || error.error_class() == ErrorClass::kRefused) {
      return false;
    }
    throw;
  }
}

}  // namespace allot::db
