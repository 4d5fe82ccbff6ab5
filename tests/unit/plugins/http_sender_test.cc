// SPDX-License-Identifier: Apache-2.0
// Name resolution, and many concurrent requests: the parts below the handler.
#include <atomic>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "sender.h"
#include "support/eventually.h"
#include "trouble.h"
#include "unit/plugins/http_fixture.h"

namespace http_plugin {
namespace {

using allot::support::eventually;
using allot::support::HttpTarget;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A resolver controlled by the test.
class Names {
 public:
  explicit Names(std::vector<std::string> addresses) : addresses_(std::move(addresses)) {}

  [[nodiscard]] Lookup lookup() {
    return [this](const std::string& host) {
      const std::lock_guard lock(mutex_);
      hosts_.push_back(host);
      std::vector<Address> found;
      for (const std::string& text : addresses_) found.push_back(parse_address(text).value());
      return found;
    };
  }
  void become(std::vector<std::string> addresses) {
    const std::lock_guard lock(mutex_);
    addresses_ = std::move(addresses);
  }
  [[nodiscard]] std::size_t asked() const {
    const std::lock_guard lock(mutex_);
    return hosts_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> addresses_;
  std::vector<std::string> hosts_;
};

class HttpSender : public testing::Test {
 protected:
  HttpSender() { ::signal(SIGPIPE, SIG_IGN); }

  // A target with a name that only the test's resolver knows. The allowed address is 127.0.0.1.
  [[nodiscard]] Targets named(const HttpTarget& target, bool keep = true) const {
    const std::string port = std::to_string(target.port());
    Targets targets;
    targets.allowed = AllowList({"http://name.test:" + port, "http://127.0.0.1:" + port});
    Target& one = targets.by_type["t"];
    one.url = parse_url("http://name.test:" + port + "/");
    if (!keep) one.keep_alive = seconds(0);
    return targets;
  }
  // Status of the answer, or the reason for its absence.
  std::string send(Sender& sender, const Target& target) {
    Watch watch(watchdog_, Clock::now() + seconds(20), [] { return false; });
    try {
      const Answer answer =
          sender.send(target, "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "", watch);
      return std::to_string(answer.status);
    } catch (const Trouble& trouble) {
      return (trouble.kind() == Trouble::Kind::kRefused ? "refused: " : "") +
             std::string(trouble.what());
    }
  }

  Watchdog watchdog_;
};

// A name server that first answers with an allowed address, and later with one of this host: the
// checked address and the connected one come from the same look-up.
TEST_F(HttpSender, TheAddressThatWasCheckedIsConnectedTo) {
  HttpTarget target(HttpTarget::always(200, ""));
  const Targets targets = named(target, false);
  Names names({"127.0.0.1"});
  Sender sender(targets, names.lookup());
  EXPECT_EQ(send(sender, targets.by_type.at("t")), "200");
  EXPECT_EQ(names.asked(), 1U) << "a second look-up could say something else";
  names.become({"127.0.0.2"});
  const std::string port = std::to_string(target.port());
  EXPECT_EQ(send(sender, targets.by_type.at("t")),
            "refused: target http://name.test:" + port +
                " is refused: 127.0.0.2 is not globally reachable (loopback), and no entry of "
                "allow names http://127.0.0.2:" +
                port);
  EXPECT_EQ(names.asked(), 2U) << "each connection is checked";
  EXPECT_EQ(target.connections(), 1U);
}

TEST_F(HttpSender, AKeptConnectionStaysWithItsAddress) {
  HttpTarget target(HttpTarget::always(200, ""));
  const Targets targets = named(target);
  Names names({"127.0.0.1"});
  Sender sender(targets, names.lookup());
  EXPECT_EQ(send(sender, targets.by_type.at("t")), "200");
  names.become({"169.254.169.254"});
  EXPECT_EQ(send(sender, targets.by_type.at("t")), "200");
  EXPECT_EQ(names.asked(), 1U);
  EXPECT_EQ(target.connections(), 1U);
}

// The library would resolve the name again, and connect to the result.
TEST_F(HttpSender, IsCheckedAgainAfterItsConnectionEnded) {
  HttpTarget target([](HttpTarget::Peer& peer) {
    if (peer.request()) peer.answer(200, "");
    (void)peer.request();
  });
  const Targets targets = named(target);
  Names names({"127.0.0.1"});
  Sender sender(targets, names.lookup());
  EXPECT_EQ(send(sender, targets.by_type.at("t")), "200");
  names.become({"::1", "10.0.0.1", "::ffff:127.0.0.1"});
  EXPECT_EQ(send(sender, targets.by_type.at("t")).rfind("refused: ", 0), 0U);
  EXPECT_EQ(names.asked(), 2U);
  EXPECT_EQ(target.connections(), 1U);
}

TEST_F(HttpSender, OnlyAllowedAddressesAreTried) {
  HttpTarget target(HttpTarget::always(200, ""));
  const Targets targets = named(target);
  Names names({"::1", "64:ff9b::7f00:1", "10.0.0.1", "127.0.0.1"});
  Sender sender(targets, names.lookup());
  EXPECT_EQ(send(sender, targets.by_type.at("t")), "200");
}

TEST_F(HttpSender, ATargetOutsideTheListIsNotLookedUp) {
  HttpTarget target(HttpTarget::always(200, ""));
  Targets targets = named(target);
  targets.by_type.at("t").url = parse_url("http://other.test/");
  Names names({"93.184.216.34"});
  Sender sender(targets, names.lookup());
  EXPECT_EQ(send(sender, targets.by_type.at("t")),
            "refused: target http://other.test:80 is refused: no entry of allow names it");
  EXPECT_EQ(names.asked(), 0U);
}

TEST_F(HttpSender, NameLookupEndsWithTheTimeout) {
  HttpTarget target(HttpTarget::always(200, ""));
  Targets targets = named(target);
  Target& one = targets.by_type.at("t");
  one.limits.name = milliseconds(50);
  std::promise<void> may_answer;
  const auto waits = may_answer.get_future().share();
  std::atomic<int> asked{0};
  std::atomic<int> answered{0};
  Sender sender(targets, [&asked, &answered, waits](const std::string&) -> std::vector<Address> {
    ++asked;
    waits.wait();
    ++answered;
    throw Trouble("no address of name.test");
  });
  EXPECT_EQ(send(sender, one), "the address of name.test was not found in time");
  EXPECT_EQ(send(sender, one), "the address of name.test was not found in time");
  EXPECT_TRUE(eventually([&] { return asked == 1; })) << "by a thread of its own";
  may_answer.set_value();
  ASSERT_TRUE(eventually([&] { return answered == 1; }));
  EXPECT_EQ(asked, 1) << "requests for the same name wait for the same answer";
  one.limits.name = seconds(20);
  EXPECT_EQ(send(sender, one), "no address of name.test");
}

TEST_F(HttpSender, ManyAreSentAtOnce) {
  HttpTarget target(HttpTarget::always(200, "x"));
  const Targets targets = named(target);
  Names names({"127.0.0.1"});
  Sender sender(targets, names.lookup());
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int each = 0; each < 20; ++each) {
        if (send(sender, targets.by_type.at("t")) == "200") ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 160);
  EXPECT_LE(target.connections(), 8U);
}

}  // namespace
}  // namespace http_plugin
