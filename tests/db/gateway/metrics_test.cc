// SPDX-License-Identifier: Apache-2.0
// GET /metrics: permitted callers, its cost for the database, and that it does not wait for it.
#include <gtest/gtest.h>

#include "db/gateway/fixture.h"
#include "support/prometheus_text.h"

namespace allot::gateway::api {
namespace {

using support::PrometheusText;

class GatewayMetrics : public GatewayTest {
 protected:
  // With another maximum age of a snapshot.
  void begin_with(Nanos snapshot_for) {
    Service some = service();
    some.snapshot_for = snapshot_for;
    application_ = std::make_unique<Application>(some, authorize);
  }
  PrometheusText scrape() {
    const Answered answered = get("/metrics");
    EXPECT_EQ(answered.status(), 200U) << answered;
    PrometheusText text(answered.response.body);
    EXPECT_EQ(text.fault, "");
    return text;
  }
  // Statements of all sessions except this query.
  std::uint64_t statements() {
    return number("SELECT variable_value FROM " +
                  std::string(support::on_mysql() ? "performance_schema" : "information_schema") +
                  ".global_status WHERE variable_name = 'Questions'");
  }
};

TEST_F(GatewayMetrics, AreForWhoMayReadAllQueues) {
  EXPECT_EQ(get("/metrics", "").status(), 401U);
  EXPECT_EQ(get("/metrics", "submitter").status(), 403U);
  EXPECT_EQ(get("/metrics", "mail").status(), 403U) << "it has the names of all queues";
  const Answered answered = get("/metrics", "reader");
  EXPECT_EQ(answered.status(), 200U) << answered;
  EXPECT_EQ(answered.response.type, "text/plain; version=0.0.4; charset=utf-8");
}

TEST_F(GatewayMetrics, ShowTheQueues) {
  put("mail");
  put("mail", R"(,"delay":"2h")");
  put("other", R"(,"delay":"2h")");
  ASSERT_EQ(post("/api/v1/queues/ordered/pause").status(), 200U);
  const PrometheusText text = scrape();
  EXPECT_EQ(text.value("allot_queue_waiting_tasks{queue=\"mail\"}"), 2);
  EXPECT_GT(text.value("allot_queue_oldest_due_seconds{queue=\"mail\"}"), 0);
  EXPECT_EQ(text.value("allot_queue_waiting_tasks{queue=\"other\"}"), 1);
  EXPECT_EQ(text.value("allot_queue_oldest_due_seconds{queue=\"other\"}"), 0);
  EXPECT_EQ(text.value("allot_queue_paused{queue=\"ordered\"}"), 1);
  EXPECT_EQ(text.value("allot_queue_paused{queue=\"mail\"}"), 0);
  EXPECT_EQ(text.value("allot_queue_partitions{queue=\"mail\"}"), 4);
  EXPECT_EQ(text.value("allot_queues"), 3);
  EXPECT_EQ(text.value("allot_gateway_requests_total{route=\"submit\",status=\"2xx\"}"), 3);
  EXPECT_EQ(text.value("allot_gateway_request_seconds_count{route=\"submit\"}"), 3);
}

TEST_F(GatewayMetrics, CountLeasesThatAreHeldAndOverdue) {
  observer_.execute(
      "UPDATE q_lock_table SET state = 'LOCKED', epoch = epoch + 1, lock_by = 1, lock_host = 'h',"
      " expire_at = UTC_TIMESTAMP(6) + INTERVAL IF(partition_no = 0, -60, 600) SECOND"
      " WHERE queue_id = (SELECT queue_id FROM queue WHERE name = 'mail') AND partition_no < 3");
  const PrometheusText text = scrape();
  EXPECT_EQ(text.value("allot_queue_leased_partitions{queue=\"mail\"}"), 3);
  EXPECT_EQ(text.value("allot_queue_overdue_leases{queue=\"mail\"}"), 1);
  EXPECT_EQ(text.value("allot_queue_leased_partitions{queue=\"other\"}"), 0);
}

TEST_F(GatewayMetrics, RefusalsAreCountedToo) {
  get("/nothing");
  get("/api/v1/queues/absent");
  get("/api/v1/queues/mail", "");
  const PrometheusText text = scrape();
  EXPECT_EQ(text.value("allot_gateway_requests_total{route=\"none\",status=\"4xx\"}"), 2);
  EXPECT_EQ(text.value("allot_gateway_requests_total{route=\"show_queue\",status=\"4xx\"}"), 1);
}

// Including routes that exist only in another version of the gateway.
TEST_F(GatewayMetrics, RequestsAreCountedOnByTheNextGateway) {
  meter::RequestRecord record{};
  Service some = service();
  some.requests = &record;
  std::string("former").copy(record.routes[0].name, meter::kRouteNameSize - 1);
  record.routes[0].answers[1] = 7;
  record.routes[0].taken = 1;
  application_ = std::make_unique<Application>(some, authorize);
  put();
  const PrometheusText before = scrape();
  application_.reset();
  application_ = std::make_unique<Application>(some, authorize);
  put();
  const PrometheusText after = scrape();
  EXPECT_EQ(support::fallen(before, after), "");
  EXPECT_EQ(after.value("allot_gateway_requests_total{route=\"submit\",status=\"2xx\"}"), 2);
  EXPECT_EQ(after.value("allot_gateway_request_seconds_count{route=\"submit\"}"), 2);
  EXPECT_EQ(after.value("allot_gateway_requests_total{route=\"former\",status=\"2xx\"}"), 7);
}

// For any number of scrapes, in any thread.
TEST_F(GatewayMetrics, FiftyScrapesAskTheDatabaseOnce) {
  begin_with(600 * kSecond);
  const std::uint64_t before = statements();
  scrape();
  const std::uint64_t one = statements() - before;
  EXPECT_GT(one, 5U);
  const std::uint64_t first = statements();
  const std::uint64_t own = statements() - first;
  const std::uint64_t begin = statements();
  for (int i = 0; i < 50; ++i) scrape();
  EXPECT_EQ(statements() - begin, own);
}

TEST_F(GatewayMetrics, ASnapshotThatIsOldIsRenewed) {
  begin_with(0);
  put();
  EXPECT_EQ(scrape().value("allot_queue_waiting_tasks{queue=\"mail\"}"), 1);
  put();
  EXPECT_EQ(scrape().value("allot_queue_waiting_tasks{queue=\"mail\"}"), 2);
}

TEST_F(GatewayMetrics, SayThatTheDatabaseIsAway) {
  Service away = service();
  away.database.servers = {};
  away.database.socket = "/nowhere/sock";
  application_ = std::make_unique<Application>(away, authorize);
  const PrometheusText text = scrape();
  ASSERT_TRUE(text.series.contains("allot_database_up"));
  EXPECT_EQ(text.value("allot_database_up"), 0);
}

}  // namespace
}  // namespace allot::gateway::api
