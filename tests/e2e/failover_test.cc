// SPDX-License-Identifier: Apache-2.0
// Acknowledged tasks are run once while the database fails over: two daemons work, and one-shot
// commands submit continuously, each on a new connection. The engines are real. Each test prints
// its figures; docs/promises.md has figures for 30,000 tasks (ALLOT_TEST_TASKS=30000).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "e2e/daemon.h"
#include "support/db_error.h"
#include "support/environment.h"
#include "support/galera.h"
#include "support/group_replication.h"
#include "support/replication.h"

namespace allot::e2e::failover_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::Database;
using support::eventually;

// Submits batches of tasks in a thread, and remembers the outcome of each.
class Submitter {
 public:
  Submitter(const Daemon& daemon, std::size_t tasks)
      : daemon_(daemon), tasks_(tasks), thread_([this] { run(); }) {}
  Submitter(const Submitter&) = delete;
  Submitter& operator=(const Submitter&) = delete;
  ~Submitter() {
    gave_up_ = true;
    if (thread_.joinable()) thread_.join();
  }

  // Lets it submit until this number is acknowledged, and waits for that.
  void reach(std::size_t acknowledged) {
    allowed_ = std::min(acknowledged, tasks_);
    EXPECT_TRUE(eventually([this] { return acknowledged_ >= allowed_; }, seconds(300)))
        << acknowledged_ << " of " << allowed_
        << " tasks are acknowledged; the last error: " << last_error();
  }
  void finish() {
    reach(tasks_);
    gave_up_ = true;
    thread_.join();
  }

  // After finish().
  [[nodiscard]] const std::set<std::string>& payloads() const { return payloads_; }
  // Number of tasks whose reply was lost.
  [[nodiscard]] std::size_t unknown() const { return unknown_; }
  [[nodiscard]] const std::set<int>& other_codes() const { return other_codes_; }

 private:
  static constexpr std::size_t kBatch = 50;  // one transaction

  [[nodiscard]] std::string last_error() {
    const std::lock_guard lock(mutex_);
    return last_error_;
  }

  void run() {
    for (std::size_t batch = 0; !gave_up_; ++batch) {
      if (!eventually([this] { return acknowledged_ < allowed_ || gave_up_; }, seconds(600)))
        return;
      submit(batch);
    }
  }

  // Until it is known to exist, or its reply is lost.
  void submit(std::size_t batch) {
    std::set<std::string> payloads;
    std::string lines;
    for (std::size_t i = 0; i < kBatch; ++i) {
      const std::string payload = std::to_string(batch) + "." + std::to_string(i);
      lines += R"({"queue":"default","type":"test.write","payload":")" + payload + "\"}\n";
      payloads.insert(payload);
    }
    while (!gave_up_) {
      const auto done = daemon_.allot({"submit", "--ndjson", "-"}, lines);
      if (done.status.code == 0) {
        payloads_.merge(payloads);
        acknowledged_ += kBatch;
        return;
      }
      const std::lock_guard lock(mutex_);
      last_error_ = done.err;
      if (done.status.code == 75) {
        unknown_ += kBatch;
        return;
      }
      if (done.status.code != 69) other_codes_.insert(done.status.code);
    }
  }

  const Daemon& daemon_;
  const std::size_t tasks_;
  std::atomic<std::size_t> allowed_{0};
  std::atomic<std::size_t> acknowledged_{0};
  std::atomic<bool> gave_up_{false};
  std::set<std::string> payloads_;
  std::size_t unknown_ = 0;
  std::set<int> other_codes_;
  std::mutex mutex_;
  std::string last_error_;
  std::thread thread_;
};

std::size_t number_of_tasks() {
  return support::environment_or<std::size_t>("ALLOT_TEST_TASKS", 1'500);
}

std::string database_keys(const std::vector<const Database*>& servers) {
  return "hosts = " + support::hosts(servers) + "\nuser = \"app\"\nconnect_timeout = \"2s\"";
}

// Two daemons with one database, as on two hosts, and a submitter.
class Site {
 public:
  // `first` is the writer at the start.
  Site(Database& first, const std::vector<const Database*>& servers) {
    first.connect().execute(support::account("app@'127.0.0.1'"));
    DaemonOptions options{.workers = 3,
                          .queue_keys = "partitions = 12",
                          .daemon_keys = "lease_ttl = \"2s\"",
                          .log_level = "info",
                          .server = &first,
                          .database_keys = database_keys(servers)};
    daemons_.push_back(std::make_unique<Daemon>(options));
    options.database = daemons_[0]->database();
    options.daemon_keys += "\ninstance = \"b\"";
    daemons_.push_back(std::make_unique<Daemon>(options));
    for (const auto& daemon : daemons_) {
      EXPECT_TRUE(eventually([&] { return daemon->ready_workers().size() == 3; })) << daemon->log();
    }
    submitter_ = std::make_unique<Submitter>(*daemons_[0], tasks_);
  }

  void reach(unsigned thirds) const { submitter_->reach(tasks_ * thirds / 3); }
  [[nodiscard]] const std::string& database() const { return daemons_[0]->database(); }

  // True if some of the daemons' workers use the server: their results are there.
  [[nodiscard]] bool works_on(const Database& server) const {
    const std::string where = "server=127.0.0.1:" + std::to_string(server.tcp().port);
    return std::all_of(daemons_.begin(), daemons_.end(), [&](const auto& daemon) {
      return daemon->logged("database.connected " + where);
    });
  }

  // Submits the rest, waits until `writer` has no work left, and counts. `old`: the former writer,
  // which may have tasks invisible to workers.
  void expect_all_done(Database& writer, Database* old) {
    submitter_->finish();
    EXPECT_TRUE(eventually([&] { return drained(writer); }, seconds(300))) << daemons_[0]->log();
    const auto runs = count_runs();
    const auto hidden = old == nullptr ? std::set<std::string>{} : left_on(*old);
    std::size_t twice = 0;
    for (const auto& [payload, times] : runs) twice += times > 1 ? 1 : 0;
    std::size_t stranded = 0;
    std::size_t lost = 0;
    for (const std::string& payload : submitter_->payloads()) {
      if (runs.contains(payload)) continue;
      (hidden.contains(payload) ? stranded : lost) += 1;
    }
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::printf("%s: acknowledged %zu, reply lost %zu, lost %zu, twice %zu, stranded %zu\n",
                test->name(), submitter_->payloads().size(), submitter_->unknown(), lost, twice,
                stranded);
    EXPECT_EQ(lost, 0U);
    EXPECT_EQ(stranded, 0U);
    EXPECT_EQ(twice, 0U);
    EXPECT_EQ(submitter_->other_codes(), std::set<int>{});
    for (const auto& daemon : daemons_) {
      EXPECT_FALSE(daemon->logged("worker.died")) << daemon->log();
    }
  }

 private:
  // The server may be about to become the writer.
  [[nodiscard]] bool drained(Database& server) const {
    try {
      db::Connection db = server.connect(database());
      // Also includes commits of other nodes of a Galera cluster.
      db.execute("SET SESSION sql_safe_updates = 0 /*M! , wsrep_sync_wait = 1 */");
      return support::number_of(db,
                                "SELECT (SELECT COUNT(*) FROM task) +"
                                " (SELECT COUNT(*) FROM task_running)") == 0;
    } catch (const db::DbError&) {
      return false;
    }
  }
  [[nodiscard]] std::map<std::string, std::size_t> count_runs() const {
    std::map<std::string, std::size_t> runs;
    for (const auto& daemon : daemons_) {
      for (const std::string& payload : daemon->written()) ++runs[payload];
    }
    return runs;
  }
  // Does not select the database, because such a connection would be refused.
  [[nodiscard]] std::set<std::string> left_on(Database& old) const {
    db::Connection db = old.connect();
    std::set<std::string> payloads;
    auto rows = db.execute("SELECT payload FROM " + database() + ".task");
    while (const auto row = rows.front().next()) payloads.emplace(row->text(0));
    return payloads;
  }

  std::size_t tasks_ = number_of_tasks();
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::unique_ptr<Submitter> submitter_;
};

// With a finite time-out the old primary acknowledges commits by itself soon after its return.
constexpr milliseconds kSoon{200};

// The old primary returns writable, and does not know its successor.
void restart_old_primary(const support::PairOptions& options) {
  support::ReplicatedPair pair(options);
  Site site(pair.first(), {&pair.first(), &pair.second()});
  site.reach(1);
  pair.first().kill9();
  pair.promote();
  site.reach(2);
  EXPECT_TRUE(eventually([&] { return site.works_on(pair.second()); }));
  pair.first().start();
  site.expect_all_done(pair.second(), &pair.first());
}

TEST(FailoverOfAPair, OldPrimaryRestartsWritable) {
  restart_old_primary({});
}
TEST(FailoverOfAPair, OldPrimaryRestartsWritableWithAFiniteTimeout) {
  restart_old_primary({.timeout = kSoon});
}

void thaw_old_primary(const support::PairOptions& options) {
  support::ReplicatedPair pair(options);
  Site site(pair.first(), {&pair.first(), &pair.second()});
  site.reach(1);
  {
    const Database::Stall frozen(pair.first());
    pair.promote();
    site.reach(2);
    EXPECT_TRUE(eventually([&] { return site.works_on(pair.second()); }));
  }
  site.expect_all_done(pair.second(), &pair.first());
}

TEST(FailoverOfAPair, OldPrimaryThaws) {
  thaw_old_primary({});
}
TEST(FailoverOfAPair, OldPrimaryThawsWithAFiniteTimeout) {
  thaw_old_primary({.timeout = kSoon});
}

// A program that submits in plain SQL, on a connection that survived the freeze. Returns the number
// of tasks acknowledged until the old primary refused one.
std::size_t submit_until_refused(db::Connection& client) {
  std::size_t acknowledged = 0;
  const auto call = [&] {
    return support::db_error_of([&] {
      client.execute("CALL allot_submit('default', 'test.write', 'sql', NULL, @id, @existed)");
      ++acknowledged;
    });
  };
  auto error = call();
  EXPECT_TRUE(eventually(
      [&] {
        if (!error) error = call();
        return error.has_value();
      },
      seconds(60)));
  if (error) {
    EXPECT_NE(std::string(error->what()).find("no longer the writer"), std::string::npos)
        << error->what();
  }
  return acknowledged;
}

// Without the wait for a replica a server acknowledges unreplicated commits, until it is marked.
TEST(FailoverOfAPair, PlainSqlIsRefusedOnceTheOldPrimaryIsMarked) {
  support::ReplicatedPair pair({.timeout = kSoon});
  Site site(pair.first(), {&pair.first(), &pair.second()});
  db::ConnectOptions options = pair.first().options(site.database());
  options.call_timeout = seconds(120);
  db::Connection client(options);
  {
    const Database::Stall frozen(pair.first());
    pair.promote();
    EXPECT_TRUE(eventually([&] { return site.works_on(pair.second()); }));
  }
  const auto thawed = std::chrono::steady_clock::now();
  const std::size_t acknowledged = submit_until_refused(client);
  const auto took =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - thawed);
  std::printf("acknowledged in plain SQL between thaw and mark: %zu in %lld ms\n", acknowledged,
              static_cast<long long>(took.count()));
}

// With it nothing is acknowledged there.
TEST(FailoverOfAPair, PlainSqlIsNeverAcknowledgedByAnOldPrimaryThatWaits) {
  support::ReplicatedPair pair;
  Site site(pair.first(), {&pair.first(), &pair.second()});
  db::ConnectOptions options = pair.first().options(site.database());
  options.call_timeout = seconds(5);
  db::Connection client(options);
  {
    const Database::Stall frozen(pair.first());
    pair.promote();
    EXPECT_TRUE(eventually([&] { return site.works_on(pair.second()); }));
  }
  EXPECT_THROW(
      client.execute("CALL allot_submit('default', 'test.write', 'sql', NULL, @id, @existed)"),
      db::DbError);
}

class FailoverOfGalera : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = support::why_no_galera();
    if (!why.empty()) GTEST_SKIP() << why;
    cluster_ = std::make_unique<support::GaleraCluster>();
    site_ =
        std::make_unique<Site>(node(0), std::vector<const Database*>{&node(0), &node(1), &node(2)});
    site_->reach(1);
  }
  [[nodiscard]] Database& node(std::size_t i) const { return cluster_->node(i); }
  // Number of write sets from this node, since its start.
  [[nodiscard]] std::uint64_t written_at(std::size_t i) const {
    db::Connection db = node(i).connect();
    return support::server_counter(db, "wsrep_replicated");
  }
  // The first node is back, and stays unused.
  void expect_one_writer() const {
    const std::uint64_t before = written_at(0);
    site_->expect_all_done(node(1), nullptr);
    EXPECT_EQ(written_at(0) - before, 0U) << "write sets of a second writer";
  }

  std::unique_ptr<support::GaleraCluster> cluster_;
  std::unique_ptr<Site> site_;
};

TEST_F(FailoverOfGalera, KilledNodeRejoins) {
  node(0).kill9();
  site_->reach(2);
  cluster_->rejoin(0);
  expect_one_writer();
}

TEST_F(FailoverOfGalera, FrozenNodeReturns) {
  {
    const Database::Stall frozen(node(0));
    site_->reach(2);
  }
  const auto is_back = [this] { return cluster_->synced(1) && cluster_->synced(0); };
  EXPECT_TRUE(eventually(is_back, seconds(60)));
  expect_one_writer();
}

class FailoverOfAGroup : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = support::why_no_group_replication();
    if (!why.empty()) GTEST_SKIP() << why;
    group_ = std::make_unique<support::ReplicationGroup>();
    site_ =
        std::make_unique<Site>(node(0), std::vector<const Database*>{&node(0), &node(1), &node(2)});
    site_->reach(1);
  }
  [[nodiscard]] Database& node(std::size_t i) const { return group_->node(i); }

  std::unique_ptr<support::ReplicationGroup> group_;
  std::unique_ptr<Site> site_;
};

TEST_F(FailoverOfAGroup, KilledPrimaryRejoins) {
  node(0).kill9();
  const std::size_t primary = group_->primary_without(0);
  site_->reach(2);
  group_->rejoin(0);
  site_->expect_all_done(node(primary), nullptr);
}

TEST_F(FailoverOfAGroup, FrozenPrimaryReturns) {
  std::size_t primary = 0;
  {
    const Database::Stall frozen(node(0));
    primary = group_->primary_without(0);
    site_->reach(2);
  }
  EXPECT_TRUE(eventually([this] { return group_->online(1) == 3; }, seconds(60)));
  site_->expect_all_done(node(primary), nullptr);
}

}  // namespace
}  // namespace allot::e2e::failover_test
