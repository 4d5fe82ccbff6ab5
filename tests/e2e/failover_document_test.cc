// SPDX-License-Identifier: Apache-2.0
// Executes the commands of docs/failover.md on real clusters. A block is found by its first line.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>

#include "e2e/daemon.h"
#include "support/document.h"
#include "support/galera.h"
#include "support/replication.h"
#include "support/reserved_port.h"
#include "support/text.h"

namespace allot::e2e::failover_document_test {
namespace {

using std::chrono::seconds;
using support::Database;
using support::eventually;
using support::replaced;

constexpr const char* kPage = ALLOT_SOURCE_DIR "/docs/failover.md";

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// The block of the page that begins with this comment, for the server of this run.
std::string block(const std::string& language, const std::string& title) {
  const std::string comment = (language == "sql" ? "-- " : "# ") +
                              std::string(support::on_mysql() ? "MySQL" : "MariaDB") + ": " + title;
  for (const std::string& example : support::examples(kPage, language)) {
    if (first_line(example) == comment) return example;
  }
  throw std::runtime_error("docs/failover.md has no block '" + comment + "'");
}

// The servers of the page are db1.example.net, ...
class Servers {
 public:
  static constexpr std::size_t kServers = 3;

  // `title`: comment of the block with the lines of the configuration file.
  explicit Servers(const std::string& title) {
    for (std::size_t i = 0; i < kServers; ++i) {
      at_.at(i) =
          std::make_unique<Database>(settings(block("ini", title), i), support::Network::kTcp);
    }
  }
  Database& operator[](std::size_t i) { return *at_.at(i); }

  std::string execute(std::size_t i, const std::string& title) {
    return at_.at(i)->administer(here(block("sql", title)));
  }
  [[nodiscard]] std::string address(std::size_t i) const {
    return "127.0.0.1:" + std::to_string(at_.at(i)->tcp().port);
  }

 private:
  static std::string name(std::size_t i) { return "db" + std::to_string(i + 1) + ".example.net"; }

  [[nodiscard]] std::string here(std::string text) const {
    for (std::size_t i = 0; i < kServers; ++i) {
      const std::string port = std::to_string(at_.at(i)->tcp().port);
      for (const char* word : {"master", "source"}) {
        const std::string of = std::string(word) + "_host = '";
        const std::string port_of = "', " + std::string(word) + "_port = ";
        text = replaced(text, of + name(i) + port_of + "3306", of + "127.0.0.1" + port_of + port);
      }
    }
    return text;
  }

  std::vector<std::string> settings(std::string file, std::size_t number) {
    for (std::size_t i = 0; i < kServers; ++i) {
      file = replaced(file, "local_address = " + name(0), "local_address = " + name(number));
      file = replaced(file, name(i) + ":33061", group_.at(i).address());
    }
    file = replaced(file, name(0), "127.0.0.1");
    file = replaced(file, "server_id = 1", "server_id = " + std::to_string(number + 1));
    std::vector<std::string> all{"--loose-performance-schema=ON"};
    std::istringstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      if (line[0] != '#' && line[0] != '[') all.push_back("--" + replaced(line, " = ", "="));
    }
    return all;
  }

  std::array<support::ReservedPort, kServers> group_;
  std::array<std::unique_ptr<Database>, kServers> at_;
};

void wait_for_answer(const Database& server, const std::string& sql, const std::string& answer) {
  std::string last;
  EXPECT_TRUE(eventually(
      [&] {
        last = server.administer(sql);
        return last == answer;
      },
      seconds(60)))
      << sql << " answers " << last;
}

// One daemon that works, whatever the state of its database.
class Site {
 public:
  Site(Database& writer, const std::string& place) {
    writer.connect().execute(support::account("app@'127.0.0.1'"));
    daemon_ = std::make_unique<Daemon>(DaemonOptions{
        .server = &writer, .database_keys = place + "\nuser = \"app\"\nconnect_timeout = \"2s\""});
  }

  // Retries, because the cluster may be about to change.
  void work() {
    const std::string payload = "task " + std::to_string(++submitted_);
    const auto submits = [&] {
      return daemon_->allot({"submit", "default", "test.write", payload}).status.code == 0;
    };
    ASSERT_TRUE(eventually(submits, seconds(60))) << daemon_->log();
    const auto is_done = [&] {
      const auto written = daemon_->written();
      return std::find(written.begin(), written.end(), payload) != written.end();
    };
    ASSERT_TRUE(eventually(is_done, seconds(60))) << daemon_->log();
  }
  [[nodiscard]] Daemon& daemon() { return *daemon_; }

 private:
  std::unique_ptr<Daemon> daemon_;
  std::size_t submitted_ = 0;
};

// The first server is the primary; the others follow it.
void set_up_replication(Servers& servers) {
  servers.execute(0, "the first primary");
  for (const std::size_t i : {1U, 2U}) servers.execute(i, "each replica");
}

TEST(FailoverDocument, SemiSynchronousReplication) {
  Servers servers("a server of the replication");
  set_up_replication(servers);
  Site site(servers[0], "hosts = " + support::hosts({&servers[0], &servers[1], &servers[2]}));
  site.work();

  servers[0].kill9();
  for (const std::size_t i : {1U, 2U}) {
    servers.execute(i, "each replica stops receiving");
    wait_for_answer(servers[i], block("sql", "1 when all is applied"), "1\n");
  }
  servers.execute(1, "the replica becomes the primary");
  servers.execute(2, "each other replica");
  site.work();
  site.daemon().must({"promote", servers.address(1)});
  site.work();
  site.daemon().must({"doctor"});

  servers[0].start();
  servers.execute(0, "the old primary becomes a replica");
  site.work();
  const std::string count = "SELECT COUNT(*) FROM " + site.daemon().database() + ".task_dead";
  wait_for_answer(servers[0], count, "0\n");
}

TEST(FailoverDocument, GroupReplication) {
  if (!support::on_mysql()) GTEST_SKIP() << "Group Replication runs on MySQL";
  Servers servers("a member of the group");
  servers.execute(0, "the first member founds the group");
  for (const std::size_t i : {1U, 2U}) servers.execute(i, "each other member joins");
  Site site(servers[0], "hosts = " + support::hosts({&servers[0], &servers[1], &servers[2]}));
  servers[0].administer("CREATE USER allot_worker@'%'");
  servers.execute(0, "for each account of Allot");
  site.work();
  servers[0].kill9();
  site.work();
  servers[0].start();
  servers.execute(0, "each other member joins");
  EXPECT_TRUE(eventually(
      [&] {
        const std::string members = servers.execute(0, "the members, with state and role");
        return support::times_in(members, "ONLINE") == Servers::kServers;
      },
      seconds(60)));
  site.work();
}

// The nodes come from the fixture: the page's files would use the state transfer of a package.
TEST(FailoverDocument, Galera) {
  const std::string why = support::why_no_galera();
  if (!why.empty()) GTEST_SKIP() << why;
  support::GaleraCluster cluster;
  std::istringstream file(block("ini", "a node"));
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#' || line[0] == '[') continue;
    const std::string name = line.substr(0, line.find(' '));
    const std::string value = line.substr(line.rfind(' ') + 1);
    const std::string now = cluster.node(0).administer("SELECT @@GLOBAL." + name);
    const bool differs =
        value.find('/') != std::string::npos || value.find(".net") != std::string::npos;
    if (!differs) {
      EXPECT_TRUE(now == value + "\n" || (value == "ON" && now == "1\n")) << line << ": " << now;
    }
  }
  Site site(cluster.node(0),
            "hosts = " + support::hosts({&cluster.node(0), &cluster.node(1), &cluster.node(2)}));
  cluster.node(0).administer("CREATE USER allot_worker@'%'");
  cluster.node(0).administer(block("sql", "for each account of a daemon"));
  site.work();
  cluster.node(0).kill9();
  site.work();
  const std::string use = "USE " + site.daemon().database() + ";";
  EXPECT_NE(cluster.node(1).administer(use + block("sql", "the writer")), "");
  const auto shows = [&] {
    return cluster.node(1).administer(block("sql", "Primary, Synced, and the number of nodes"));
  };
  EXPECT_TRUE(shows().find("Synced") != std::string::npos) << shows();
  cluster.rejoin(0);
  site.work();
}

// The moving address belongs to HAProxy.
TEST(FailoverDocument, HAProxy) {
  if (support::on_mysql()) GTEST_SKIP() << "the page's login is for MariaDB";
  const std::string version = support::run_program({"sh", "-c", "haproxy -v || true"}).out;
  if (version.empty()) GTEST_SKIP() << "haproxy is not installed";
  support::ReplicatedPair pair({.timeout = std::chrono::milliseconds(200)});
  pair.first().administer(block("sql", "the account of the check, with no password and no right"));
  const support::TempDir folder;
  const support::ReservedPort port;
  const auto address = [](const Database& server) {
    return "127.0.0.1:" + std::to_string(server.tcp().port);
  };
  std::string file = support::first_example(kPage, "haproxy");
  file = replaced(file, "127.0.0.1:3300", port.address());
  file = replaced(file, "db1.example.net:3306", address(pair.first()));
  file = replaced(file, "db2.example.net:3306", address(pair.second()));
  const support::Process haproxy({"haproxy", "-db", "-f", folder.write("haproxy.cfg", file)});
  Site site(pair.first(), "host = \"127.0.0.1\"\nport = " + std::to_string(port.number()));
  site.work();
  pair.first().kill9();
  pair.promote();
  site.work();

  // The old primary comes back writable, and HAProxy returns to it.
  pair.first().start();
  const auto refused = [&] {
    return site.daemon().allot({"submit", "default", "test.write", "x"}).err.find("term") !=
           std::string::npos;
  };
  EXPECT_TRUE(eventually(refused, seconds(60))) << haproxy.err();
  pair.first().administer("SET GLOBAL read_only = 1");
  site.work();
}

// Each block with a title, whichever server it is for, is named by a test here.
TEST(FailoverDocumentList, EveryBlockIsExecuted) {
  const std::string tests =
      support::read_file(ALLOT_SOURCE_DIR "/tests/e2e/failover_document_test.cc");
  std::size_t blocks = 0;
  for (const char* language : {"sql", "ini"}) {
    for (const std::string& example : support::examples(kPage, language)) {
      const std::string line = first_line(example);
      const std::string title = line.substr(std::min(line.find(": "), line.size() - 2) + 2);
      EXPECT_NE(tests.find('"' + title + '"'), std::string::npos) << line;
      ++blocks;
    }
  }
  EXPECT_GT(blocks, 20U);
}

}  // namespace
}  // namespace allot::e2e::failover_document_test
