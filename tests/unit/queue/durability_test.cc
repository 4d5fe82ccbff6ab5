// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "queue/server/variables.h"

namespace allot::queue {
namespace {

ServerFacts mariadb() {
  return {{"version", "10.11.14-MariaDB"},
          {"sync_binlog", "1"},
          {"innodb_flush_log_at_trx_commit", "1"},
          {"rpl_semi_sync_master_enabled", "ON"},
          {"rpl_semi_sync_master_timeout", "18446744073709551615"},
          {"rpl_semi_sync_master_wait_no_slave", "ON"},
          {"rpl_semi_sync_master_clients", "1"}};
}

ServerFacts mysql() {
  return {{"version", "9.7.0"},
          {"sync_binlog", "1"},
          {"innodb_flush_log_at_trx_commit", "1"},
          {"rpl_semi_sync_source_enabled", "ON"},
          {"rpl_semi_sync_source_timeout", "4294967295"},
          {"rpl_semi_sync_source_wait_no_replica", "ON"},
          {"rpl_semi_sync_source_clients", "1"}};
}

TEST(DurabilityTest, ACommitThatWaitsForAReplicaForeverIsKept) {
  EXPECT_TRUE(replication_gaps(mariadb()).empty());
  EXPECT_TRUE(replication_gaps(mysql()).empty());
}

TEST(DurabilityTest, EachSettingThatLosesACommitIsNamed) {
  for (const auto& [name, value] : ServerFacts{{"sync_binlog", "0"},
                                               {"innodb_flush_log_at_trx_commit", "2"},
                                               {"rpl_semi_sync_master_enabled", "OFF"},
                                               {"rpl_semi_sync_master_timeout", "10000"},
                                               {"rpl_semi_sync_master_wait_no_slave", "OFF"},
                                               {"rpl_semi_sync_master_clients", "0"}}) {
    ServerFacts facts = mariadb();
    facts[name] = value;
    const auto gaps = replication_gaps(facts);
    ASSERT_EQ(gaps.size(), 1U) << name;
    if (name == "rpl_semi_sync_master_clients") continue;
    EXPECT_NE(gaps[0].find(name), std::string::npos) << gaps[0];
  }
}

TEST(DurabilityTest, AServerWithoutSemiSyncHasOneGapForIt) {
  EXPECT_EQ(
      replication_gaps(
          {{"version", "9.7.0"}, {"sync_binlog", "1"}, {"innodb_flush_log_at_trx_commit", "1"}}),
      (std::vector<std::string>{
          "no commit waits for a replica: set rpl_semi_sync_source_enabled = ON"}));
}

// Data received by a second node survives the loss of the first one's disk.
TEST(DurabilityTest, AClusterNeedsNoDisk) {
  EXPECT_TRUE(replication_gaps({{"wsrep_on", "ON"}, {"wsrep_cluster_size", "3"}}).empty());
  EXPECT_EQ(replication_gaps({{"wsrep_on", "ON"}, {"wsrep_cluster_size", "1"}}),
            (std::vector<std::string>{"the Galera cluster has one node"}));
  EXPECT_TRUE(
      replication_gaps({{"version", "9.7.0"}, {"group_replication_group_name", "g"}}).empty());
}

}  // namespace
}  // namespace allot::queue
