// SPDX-License-Identifier: Apache-2.0
#include "gateway/api/problem.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "db/error.h"
#include "queue/submit/submit.h"

namespace allot::gateway::api {
namespace {

template <typename Thrown>
Problem of(const Thrown& thrown, bool writes = false) {
  return problem_of(std::make_exception_ptr(thrown), writes);
}

TEST(Problem, TheKindsAreThoseOfTheClientLibrary) {
  EXPECT_EQ(of(Error("x", kExitBadInput)).status, 400U);
  EXPECT_EQ(of(Error("x", kExitConfig)).status, 500U);
  EXPECT_EQ(of(Error("x", kExitUnavailable)).status, 503U);
  EXPECT_EQ(of(queue::OutcomeUnknown("x", "why")).status, 504U);
  EXPECT_EQ(of(Error("x")).status, 500U);
  EXPECT_EQ(of(std::runtime_error("x")).status, 500U);
  EXPECT_EQ(of(7).status, 500U);
  EXPECT_EQ(of(std::bad_alloc()).status, 503U);
  EXPECT_EQ(kind_of(400), "bad_input");
  EXPECT_EQ(kind_of(503), "unavailable");
  EXPECT_EQ(kind_of(504), "outcome_unknown");
  EXPECT_EQ(kind_of(500), "failed");
  EXPECT_EQ(kind_of(404), "not_found");
}

TEST(Problem, ALostReplyIsUnknownOnlyWhereSomethingMayHaveChanged) {
  for (const unsigned lost : {2013U, 2026U}) {  // the second with TLS
    const auto in = [lost](db::Phase phase) { return db::DbError(lost, "lost", phase); };
    EXPECT_EQ(of(in(db::Phase::kAutocommit)).status, 503U);
    EXPECT_EQ(of(in(db::Phase::kAutocommit), true).status, 504U);
    EXPECT_EQ(of(in(db::Phase::kCommit), true).status, 504U);
    EXPECT_EQ(of(in(db::Phase::kStatement), true).status, 503U);
    EXPECT_EQ(of(in(db::Phase::kConnect), true).status, 503U);
  }
  constexpr unsigned kReadOnly = 1290;
  EXPECT_EQ(of(db::DbError(kReadOnly, "read-only", db::Phase::kCommit), true).status, 503U);
  constexpr unsigned kDeadlock = 1213;
  EXPECT_EQ(of(db::DbError(kDeadlock, "deadlock", db::Phase::kCommit), true).status, 503U);
}

// Every client that reaches the port is a possible caller.
TEST(Problem, DatabaseErrorIsOnlyLogged) {
  const std::string words = "database at db1.internal:3306: find_task.sql (error 1)";
  for (const unsigned number : {1142U, 1205U, 1213U, 1290U, 2006U, 2013U}) {
    for (const bool writes : {false, true}) {
      for (const db::Phase phase : {db::Phase::kStatement, db::Phase::kCommit}) {
        const std::string told = of(db::DbError(number, words, phase), writes).detail;
        EXPECT_EQ(told.find("db1.internal"), std::string::npos) << number << told;
        EXPECT_NE(told.find("gateway.refused, reference "), std::string::npos) << number << told;
      }
    }
  }
  EXPECT_EQ(of(queue::OutcomeUnknown("it is unknown", words)).detail.find("it is unknown (gateway"),
            0U);
}

TEST(Problem, RepeatableErrorSaysWhen) {
  const auto after = [](const Problem& problem) {
    return problem.fields.empty() ? ""
                                  : problem.fields.front().first + problem.fields.front().second;
  };
  EXPECT_EQ(after(of(Error("x", kExitUnavailable))), "retry-after1");
  EXPECT_EQ(after(of(queue::OutcomeUnknown("x", "why"))), "");
  EXPECT_EQ(after(of(Error("x", kExitBadInput))), "");
}

TEST(Problem, IsOneDocument) {
  const http::Response response =
      response_of(of(Error("'delay' is \"x\xff\ny\": no", kExitBadInput)));
  EXPECT_EQ(response.type, "application/problem+json");
  const auto document = nlohmann::json::parse(response.body);
  EXPECT_EQ(document["title"], "Bad Request");
  EXPECT_EQ(document["status"], 400);
  EXPECT_EQ(document["field"], "delay");
  EXPECT_LT(
      response_of({400, std::string(1'000'000, 'x'), std::string(1'000'000, 'y')}).body.size(),
      5'000U);
}

}  // namespace
}  // namespace allot::gateway::api
