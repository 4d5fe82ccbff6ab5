// SPDX-License-Identifier: Apache-2.0
#include "worker/run/failure.h"

#include <gtest/gtest.h>

#include "queue/model/error_text.h"

namespace allot::worker {
namespace {

using Said = plugin_host::CallResult;
using Kind = plugin_host::OutcomeKind;

constexpr const char* kTrace = R"(starting
Traceback (most recent call last):
  File "/srv/releases/20261128/app/mail.py", line 8, in <module>
    send(42)
  File "/srv/releases/20261128/app/mail.py", line 6, in send
    return users[who]
KeyError: 42
)";

Said said_of(Kind kind, std::string reason, std::string detail = {}) {
  return {kind, std::nullopt, std::move(reason), std::move(detail)};
}

TEST(FailureTest, AStackTraceSaysWhatHappened) {
  const Failure failure = failure_of(said_of(Kind::kRetry, "exit code 1", kTrace));
  EXPECT_EQ(failure.message, "KeyError: 42");
  EXPECT_EQ(failure.detail + "\n", "exit code 1\n" + std::string(kTrace));
  EXPECT_EQ(failure.fault, "KeyError in send (app/mail.py)");
}

TEST(FailureTest, OtherOutputExplainsTheReason) {
  const Failure failure =
      failure_of(said_of(Kind::kRetry, "exit code 1", "\n  disk 7 is full  \nbye\n"));
  EXPECT_EQ(failure.message, "exit code 1: disk 7 is full");
  EXPECT_EQ(failure.detail, "exit code 1\n\n  disk 7 is full  \nbye");
  EXPECT_EQ(failure.fault, "") << "the message is";
}

// Output printed before a stop is not its reason.
TEST(FailureTest, AReasonOfSeveralLinesSaysWhatHappenedInTheFirst) {
  const std::string reason = "its timeout expired; signal 15\n" + std::string(kTrace);
  const Failure failure = failure_of(said_of(Kind::kRetry, reason));
  EXPECT_EQ(failure.message, "its timeout expired; signal 15");
  EXPECT_EQ(failure.detail, reason);
  EXPECT_EQ(failure.fault, "");
}

TEST(FailureTest, OneLineNeedsNoDetail) {
  const Failure failure = failure_of(said_of(Kind::kFail, "no address"));
  EXPECT_EQ(failure.message, "no address");
  EXPECT_EQ(failure.detail, "");
  EXPECT_EQ(failure_of(said_of(Kind::kRetry, "", "busy")).message, "busy");
  EXPECT_EQ(failure_of(said_of(Kind::kRetry, "")).message, "");
}

TEST(FailureTest, AnExceptionSaysItsClassItself) {
  const Failure node = failure_of(said_of(Kind::kException, "NoUser: no user ada\nline two",
                                          "Error: no user ada\nline two\n"
                                          "    at send (/srv/shop/mail.js:2:28)\n"));
  EXPECT_EQ(node.message, "NoUser: no user ada");
  EXPECT_EQ(node.fault, "NoUser in send (shop/mail.js)");
  const Failure unread = failure_of(said_of(Kind::kException, "Oops: no", "of no language"));
  EXPECT_EQ(unread.message, "Oops: no");
  EXPECT_EQ(unread.detail, "Oops: no\nof no language");
  EXPECT_EQ(unread.fault, "");
}

// In Perl only the message distinguishes two faults of one function.
TEST(FailureTest, WithoutAClassTheMessageStandsForIt) {
  const auto fault_at = [](const std::string& what, int line) {
    const std::string place = " at /srv/shop/mail.pl line " + std::to_string(line);
    return failure_of(said_of(Kind::kRetry, "exit code 2",
                              what + place + ".\n\tmain::send(7) called" + place + "\n"))
        .fault;
  };
  EXPECT_EQ(fault_at("no user 7", 3), "no user # in main::send (shop/mail.pl)");
  EXPECT_EQ(fault_at("no user 8", 9), fault_at("no user 7", 3));
  EXPECT_NE(fault_at("no mail for 8", 3), fault_at("no user 7", 3));
}

// All std::runtime_error of a program would be one group.
TEST(FailureTest, AClassWithoutAPlaceIsNotAFault) {
  const Failure failure =
      failure_of(said_of(Kind::kRetry, "signal 6 (Aborted)",
                         "terminate called after throwing an instance of 'std::runtime_error'\n"
                         "  what():  no user 7\n"));
  EXPECT_EQ(failure.message, "std::runtime_error: no user 7");
  EXPECT_EQ(failure.fault, "");
  EXPECT_EQ(queue::fault_of(failure.message, failure.fault), "std::runtime_error: no user #");
}

TEST(FailureTest, TheLogHasTheLastLines) {
  EXPECT_EQ(last_lines("a\nbc\nd", 6), "a\nbc\nd");
  EXPECT_EQ(last_lines("a\nbc\nd", 3), "d");
  EXPECT_EQ(last_lines("abcdefg", 3), "efg") << "a line that is longer";
  EXPECT_EQ(last_lines("abcdefg\n", 3), "fg\n");
  EXPECT_EQ(last_lines("", 3), "");
}

TEST(FailureTest, AllIsBounded) {
  const std::string name(600, 'n');
  const Failure failure = failure_of(
      said_of(Kind::kRetry, std::string(5000, 'x'),
              "a" + name + "Error: y\n    at " + name + " (/srv/" + name + "/m.js:1:2)\n"));
  EXPECT_LE(failure.fault.size(), queue::kMostFault);
  EXPECT_EQ(failure_of(said_of(Kind::kRetry, std::string(5000, 'x'))).message,
            std::string(queue::kMostMessage, 'x'));
  // The end of an output contains the reason of its program's death.
  const std::string output = std::string(queue::kMostErrorText, 'x') + "\nlast words";
  const std::string detail = failure_of(said_of(Kind::kRetry, "exit code 1", output)).detail;
  EXPECT_EQ(detail.size(), queue::kMostErrorText);
  EXPECT_EQ(detail.substr(0, 12), "exit code 1\n");
  EXPECT_EQ(detail.substr(detail.size() - 11), "\nlast words");
}

}  // namespace
}  // namespace allot::worker
