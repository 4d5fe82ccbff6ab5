// SPDX-License-Identifier: Apache-2.0
// Parts of a W3C Trace Context that are used, and their storage.
#include "queue/model/headers.h"

#include <gtest/gtest.h>

namespace allot::queue {
namespace {

const std::string kTraceId = "0af7651916cd43dd8448eb211c80319c";
const std::string kSpan = "b7ad6b7169203331";
const std::string kGood = "00-" + kTraceId + "-" + kSpan + "-01";

std::string parent_of(const std::string& text) {
  return trace_of(text, {}).parent;
}
std::string state_of(const std::string& text) {
  return trace_of(kGood, text).state;
}

TEST(Headers, AValidTraceIsTakenAsItIs) {
  EXPECT_EQ(parent_of(kGood), kGood);
  EXPECT_EQ(parent_of("  " + kGood + "\t"), kGood);
  EXPECT_EQ(trace_of(kGood, {}).id(), kTraceId);
  EXPECT_EQ(Trace{}.id(), "");
}

TEST(Headers, AnInvalidTraceIsLeftOut) {
  const std::string zeros(32, '0');
  for (const std::string& bad :
       {std::string(), std::string("00"), kGood.substr(0, 54), kGood + "0", kGood + "-00",
        "ff" + kGood.substr(2), "0g" + kGood.substr(2), "00_" + kGood.substr(3),
        "00-" + zeros + "-" + kSpan + "-01", "00-" + kTraceId + "-" + zeros.substr(0, 16) + "-01",
        "00-" + kTraceId + "-" + kSpan + "-0x",
        "00-0AF7651916CD43DD8448EB211C80319C-" + kSpan + "-01", kGood + "," + kGood,
        std::string(1025, '0'), std::string("\xff\xfe", 2) + kGood.substr(2)}) {
    EXPECT_EQ(parent_of(bad), "") << bad;
    EXPECT_EQ(trace_of(bad, "a=1").state, "") << bad;
  }
}

// A reader of version 00 reads the first four fields of a later one, and passes on 00.
TEST(Headers, ALaterVersionIsReadAsThisOne) {
  EXPECT_EQ(parent_of("cc" + kGood.substr(2)), kGood);
  EXPECT_EQ(parent_of("01" + kGood.substr(2) + "-what-comes-then"), kGood);
  EXPECT_EQ(parent_of("01" + kGood.substr(2) + "what"), "");
}

TEST(Headers, UnknownFlagsAreCleared) {
  EXPECT_EQ(parent_of(kGood.substr(0, 53) + "ff"), kGood.substr(0, 53) + "03");
  EXPECT_EQ(parent_of(kGood.substr(0, 53) + "00"), kGood.substr(0, 53) + "00");
}

TEST(Headers, AStateIsTakenWholeOrNotAtAll) {
  EXPECT_EQ(state_of("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"),
            "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7");
  EXPECT_EQ(state_of(" a=1 ,\t, b@c=2 "), "a=1,b@c=2");
  for (const std::string& bad :
       {std::string("a"), std::string("=1"), std::string("a="), std::string("A=1"),
        std::string("a=1,a=2"), std::string("a=b=c"), std::string("a@b@c=1"), std::string("a=\n"),
        std::string("a=\xc3\x28"), std::string("a=1,b"), "a=" + std::string(257, 'x'),
        std::string(257, 'a') + "=1"}) {
    EXPECT_EQ(state_of(bad), "") << bad;
  }
}

TEST(Headers, ATimeLimitIsMilliseconds) {
  Headers headers;
  headers.time_limit = std::chrono::seconds(90);
  EXPECT_TRUE(headers.any());
  EXPECT_EQ(headers.text(), "time_limit=90000");
  EXPECT_EQ(read_headers(headers.text()), headers);
  for (const char* bad : {"", "0", "999", "2592000001", "-1000", "90s", "99999999999999999999"}) {
    EXPECT_EQ(read_headers("time_limit=" + std::string(bad)), Headers{}) << bad;
  }
}

TEST(Headers, AStateOfAHundredMembersOrAThousandBytesIsLeftOut) {
  std::string many;
  for (int i = 0; i < 32; ++i) many += (i == 0 ? "k" : ",k") + std::to_string(i) + "=1";
  EXPECT_EQ(state_of(many), many);
  EXPECT_EQ(state_of(many + ",k32=1"), "");
  const std::string three =
      "a=" + std::string(200, 'x') + ",b=" + std::string(200, 'x') + ",c=" + std::string(200, 'x');
  const std::string most = three + ",d=" + std::string(735 - three.size() - 3, 'x');
  EXPECT_EQ(state_of(most), most);
  EXPECT_EQ(state_of(most + "x"), "");
  Headers full{kMostAttempts, trace_of(kGood, most), kMostAttempts};
  full.time_limit = kMostTimeLimit;
  full.max_losses = kMostAttempts;
  full.label = std::string(kMaxLabel, 'l');
  EXPECT_EQ(full.text().size(), kMaxHeaders);
  EXPECT_EQ(read_headers(full.text()), full);
}

TEST(Headers, WrittenHeadersAreRead) {
  EXPECT_EQ(Headers{}.text(), "");
  EXPECT_FALSE(Headers{}.any());
  const Headers both{3, trace_of(kGood, "a=1")};
  EXPECT_TRUE(both.any());
  EXPECT_EQ(both.text(), "max_attempts=3\ntraceparent=" + kGood + "\ntracestate=a=1");
  EXPECT_EQ(read_headers(both.text()), both);
  EXPECT_EQ(read_headers((Headers{7, {}}).text()), (Headers{7, {}}));
  const Headers counted{3, trace_of(kGood, "verdicts=9"), 2};
  EXPECT_EQ(counted.text(),
            "max_attempts=3\ntraceparent=" + kGood + "\ntracestate=verdicts=9\nverdicts=2");
  EXPECT_EQ(read_headers(counted.text()), counted);
  Headers labelled{3, {}, 2};
  labelled.max_losses = 5;
  labelled.label = "mail out";
  EXPECT_EQ(labelled.text(), "label=mail out\nmax_attempts=3\nmax_losses=5\nverdicts=2");
  EXPECT_EQ(read_headers(labelled.text()), labelled);
  EXPECT_EQ(read_headers("label=a\tb").label, "");
  const Headers unstarted{3, {}, 0, 41};
  EXPECT_EQ(unstarted.text(), "max_attempts=3\nunstarted=41");
  EXPECT_EQ(read_headers(unstarted.text()), unstarted);
}

TEST(Headers, UnknownHeadersAreNotAnError) {
  EXPECT_EQ(read_headers("later=1\nmax_attempts=3\n\nzz"), (Headers{3, {}}));
  for (const char* bad :
       {"max_attempts=", "max_attempts=-1", "max_attempts=3x", "max_attempts=100001",
        "max_attempts=99999999999", "traceparent=\xff", "tracestate=a=1", "=", "\n\n"}) {
    EXPECT_EQ(read_headers(bad), Headers{}) << bad;
  }
}

TEST(Headers, AChildHasTheTraceAndAnotherParent) {
  const Trace parent = trace_of(kGood, "a=1");
  const Trace child = child_of(parent, "0840dqg2v5n80r00", 1);
  EXPECT_EQ(child.parent, "00-" + kTraceId + "-" + span_id("0840dqg2v5n80r00", 1) + "-01");
  EXPECT_EQ(child.state, "a=1");
  EXPECT_EQ(trace_of(child.parent, child.state), child) << "it is valid itself";
  EXPECT_EQ(child_of(parent, "0840dqg2v5n80r00", 1), child) << "whenever it is asked";
  EXPECT_NE(child_of(parent, "0840dqg2v5n80r00", 2), child);
  EXPECT_NE(child_of(parent, "0840dqg2v5n80r01", 1), child);
  EXPECT_EQ(child_of(Trace{}, "0840dqg2v5n80r00", 1), Trace{});
}

}  // namespace
}  // namespace allot::queue
