// SPDX-License-Identifier: Apache-2.0
// Requests of Fireworq's programs and their answers, as far as no database is needed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "gateway/fireworq/allowed.h"
#include "gateway/fireworq/answer.h"
#include "gateway/fireworq/authenticator.h"
#include "gateway/fireworq/body.h"
#include "gateway/fireworq/figures.h"
#include "gateway/fireworq/objects.h"
#include "gateway/fireworq/path.h"
#include "queue/model/task.h"

namespace allot::gateway::fireworq {
namespace {

using nlohmann::json;

// "400 the detail" for a refusal; "" otherwise.
template <typename Act>
std::string refused(const Act& act) {
  try {
    static_cast<void>(act());
    return {};
  } catch (const Refused& refusal) {
    const std::string detail = refusal.what();
    return std::to_string(refusal.status()) + (detail.empty() ? "" : " " + detail);
  }
}
std::string job_refused(const std::string& body) {
  return refused([&] { return read_job(body, "c"); });
}

TEST(FireworqPath, EachPlace) {
  const auto place = [](const std::string& path) { return target_of(path).place; };
  EXPECT_EQ(place("/"), Place::kVersion);
  EXPECT_EQ(place("/version"), Place::kVersion);
  EXPECT_EQ(place("/settings"), Place::kSettings);
  EXPECT_EQ(place("/stats"), Place::kStats);
  EXPECT_EQ(place("/queues"), Place::kQueues);
  EXPECT_EQ(place("/queues/stats"), Place::kQueuesStats);
  EXPECT_EQ(place("/routings"), Place::kRoutings);
  EXPECT_EQ(place("/queue/q"), Place::kQueue);
  EXPECT_EQ(place("/queue/q/node"), Place::kNode);
  EXPECT_EQ(place("/queue/q/stats"), Place::kQueueStats);
  EXPECT_EQ(place("/queue/q/grabbed"), Place::kGrabbed);
  EXPECT_EQ(place("/queue/q/waiting"), Place::kWaiting);
  EXPECT_EQ(place("/queue/q/deferred"), Place::kDeferred);
  EXPECT_EQ(place("/queue/q/failed"), Place::kFailedList);
  EXPECT_EQ(place("/queue/q/failed/7"), Place::kFailed);
  EXPECT_EQ(place("/queue/q/job/7"), Place::kJobOfQueue);
  for (const char* path :
       {"/x", "/version/", "/queues/", "/queue/", "/queue", "/queue/q/", "/job/", "/queue/q/x",
        "/queue/q/job/", "/queue/q/job/1/2", "/routing/", "/queue/a%2Fb", "/settings/x"}) {
    EXPECT_EQ(place(path), Place::kNone) << path;
  }
}

TEST(FireworqPath, NamesAndIds) {
  EXPECT_EQ(target_of("/job/My%3A%3AWorker").name, "My::Worker");
  EXPECT_EQ(target_of("/job/a/b%2Fc/").name, "a/b/c/");
  EXPECT_EQ(target_of("/job/a+b%2B").name, "a+b+") << "a plus is one";
  EXPECT_EQ(target_of("/routing/x/y").name, "x/y");
  EXPECT_EQ(target_of("/queue/%ff%20q").name, "\xff q");
  EXPECT_EQ(target_of("/queue/q/job/18").id, 18U);
  EXPECT_EQ(target_of("/queue/q/job/+018").id, 18U);
  EXPECT_EQ(target_of("/queue/q/failed/-1").id, 0U) << "a number, of no job";
  EXPECT_EQ(target_of("/queue/q/job/9223372036854775807").id, 9'223'372'036'854'775'807U);
  for (const char* id :
       {"x", "1.5", "9223372036854775808", "99999999999999999999999", "%20", "+-1", "+", "++1"}) {
    const Target target = target_of("/queue/q/job/" + std::string(id));
    EXPECT_EQ(target.place, Place::kJobOfQueue) << id;
    EXPECT_EQ(target.id, std::nullopt) << id;
  }
}

TEST(FireworqPath, UncleanPathIsRedirected) {
  const auto moved = [](const std::string& path) {
    const Target target = target_of(path);
    return target.place == Place::kMoved ? target.moved : "not moved";
  };
  EXPECT_EQ(moved("//queues"), "/queues");
  EXPECT_EQ(moved("/queue//q"), "/queue/q");
  EXPECT_EQ(moved("/a/./b/../queues/"), "/a/queues/");
  EXPECT_EQ(moved("/../.."), "/");
  EXPECT_EQ(moved("/job/a%2F%2Fb%20c"), "/job/a/b%20c");
  EXPECT_EQ(moved("/routing//(a);,!\xff"), "/routing/%28a%29;,%21%FF");
  EXPECT_EQ(moved("/queues"), "not moved");
}

TEST(FireworqPath, Parameters) {
  EXPECT_EQ(parameter("a=1&b=x%20y+z&b=2", "b"), "x y z");
  EXPECT_EQ(parameter("pp", "pp"), "");
  EXPECT_EQ(parameter("cursor=MTI=", "cursor"), "MTI=");
  EXPECT_EQ(parameter("a=1", "b"), std::nullopt);
}

TEST(FireworqJob, EachField) {
  const PushedJob job = read_job(
      R"({"URL":"http://h/","payload":{"a": 1e500 },"run_after":1,"timeout":2,"Retry_Delay":3,)"
      R"("max_retries":4,"unknown":[],"url":null} garbage)",
      "c");
  EXPECT_EQ(job.fields.url, "http://h/");
  EXPECT_EQ(job.payload, R"({"a": 1e500 })") << "the very bytes";
  EXPECT_EQ(job.shown, job.payload);
  EXPECT_EQ(job.fields.run_after, 1U);
  EXPECT_EQ(job.fields.timeout, 2U);
  EXPECT_EQ(job.fields.retry_delay, 3U);
  EXPECT_EQ(job.fields.max_retries, 4U);
}

TEST(FireworqJob, LastOfTwoKeysCounts) {
  EXPECT_EQ(read_job(R"({"url":"http://a","URL":"http://b"})", "c").fields.url, "http://b");
}

TEST(FireworqJob, Payloads) {
  const auto payload = [](const std::string& text) {
    return read_job(R"({"url":"u","payload":)" + text + "}", "c").payload;
  };
  EXPECT_EQ(payload(R"("a\"b\ud800")"), "a\"b\xef\xbf\xbd");
  EXPECT_EQ(payload("null"), "");
  EXPECT_EQ(payload("[1,  2]"), "[1,  2]");
  EXPECT_EQ(payload("12345678901234567890.10"), "12345678901234567890.10");
  EXPECT_EQ(payload("false"), "false");
  EXPECT_EQ(payload("1,\"payload\":null"), "") << "the last counts, whatever it is";
  EXPECT_EQ(read_job(R"({"payload":1,"url":"u","payload":null})", "c").shown, "null");
  EXPECT_EQ(read_job(R"({"url":"u"})", "c").shown, "null");
  EXPECT_EQ(read_job(R"({"url":"u","payload":"x"})", "c").shown, "\"x\"");
}

TEST(FireworqJob, InvalidJobIsRefused) {
  EXPECT_EQ(job_refused(""), "400 EOF");
  EXPECT_EQ(job_refused("{}"), "400 Missing field: url");
  EXPECT_EQ(job_refused("null"), "400 Missing field: url");
  EXPECT_EQ(job_refused(R"({"url":""})"), "400 Missing field: url");
  EXPECT_EQ(job_refused("[]").substr(0, 3), "400");
  EXPECT_EQ(job_refused(R"({"url":1})"), "400 url must be text");
  for (const char* value : {"-1", "1.5", "\"1\"", "4294967296", "{}"}) {
    for (const char* key : {"run_after", "timeout", "retry_delay", "max_retries"}) {
      EXPECT_EQ(job_refused("{\"url\":\"u\",\"" + std::string(key) + "\":" + value + "}"),
                "400 " + std::string(key) + " must be a whole number from 0 to 4294967295");
    }
  }
  EXPECT_EQ(job_refused(R"({"url":"u","category":5})"), "400 category must be text");
  EXPECT_EQ(job_refused(R"({"url":"u","category":"other"})"), "");
  EXPECT_EQ(job_refused(R"({"url":"u","run_after":null,"timeout":null,"payload":null})"), "");
}

TEST(FireworqJob, TheEnvelope) {
  PushedJob job = read_job(R"({"url":"http://h/\n","payload":"a\nb","max_retries":2})", "My::W");
  const std::string text = stored(job);
  EXPECT_EQ(text,
            "{\"url\":\"http://h/\\n\",\"category\":\"My::W\",\"run_after\":0,\"timeout\":0,"
            "\"retry_delay\":0,\"max_retries\":2}\na\nb");
  const StoredJob back = read_stored(text);
  EXPECT_EQ(back.fields.url, "http://h/\n");
  EXPECT_EQ(back.fields.category, "My::W");
  EXPECT_EQ(back.fields.max_retries, 2U);
  EXPECT_EQ(back.payload, "a\nb");
  EXPECT_EQ(read_stored("of another program").payload, "of another program");
  const PushedJob late = read_job(R"({"url":"u","run_after":4000000000})", "c");
  EXPECT_EQ(late.fields.run_after, 4'000'000'000U) << "answered as it was asked";
  EXPECT_EQ(read_stored(stored(late)).fields.run_after, 3'153'600'000U)
      << "from which its creation follows: 100 years before it is due";
  job.payload.assign(queue::kMaxPayload, 'x');
  EXPECT_EQ(refused([&] { return stored(job); }).substr(0, 3), "413");
}

queue::FireworqQueue queue_of(const std::string& body) {
  queue::FireworqQueue defaults;
  defaults.max_workers = 20;
  defaults.polling_interval = 200;
  return read_queue(body, "q", defaults);
}
std::string queue_refused(const std::string& body) {
  return refused([&] { return queue_of(body); });
}

TEST(FireworqQueueBody, Defaults) {
  const queue::FireworqQueue queue = queue_of(R"({"name":"other"})");
  EXPECT_EQ(queue.name, "q");
  EXPECT_EQ(json::parse(queue_object(queue)),
            json({{"name", "q"}, {"polling_interval", 200}, {"max_workers", 20}}));
  EXPECT_EQ(queue_of(R"({"max_workers":0,"polling_interval":null})").max_workers, 20U);
  EXPECT_EQ(json::parse(queue_object({.name = "q", .max_workers = 3})),
            json({{"name", "q"}, {"max_workers", 3}}))
      << "no interval of 0";
}

TEST(FireworqQueueBody, Throttled) {
  const auto queue =
      queue_of(R"({"polling_interval":7,"max_workers":3,"max_dispatches_per_second":2.5,)"
               R"("max_burst_size":5})");
  EXPECT_EQ(json::parse(queue_object(queue)), json({{"name", "q"},
                                                    {"polling_interval", 100},
                                                    {"max_workers", 3},
                                                    {"max_dispatches_per_second", 2.5},
                                                    {"max_burst_size", 5}}));
  EXPECT_EQ(queue_refused(R"({"max_dispatches_per_second":1})"),
            "400 Cannot configure MaxDispatchesPerSecond without MaxBurstSize");
  EXPECT_EQ(queue_refused(R"({"max_dispatches_per_second":-1,"max_burst_size":1})"),
            "400 MaxDispatchesPerSecond should be non-negative");
  EXPECT_EQ(queue_refused(R"({"max_dispatches_per_second":-1})"),
            "400 MaxDispatchesPerSecond should be non-negative");
  EXPECT_EQ(queue_refused(R"({"max_burst_size":1})"),
            "400 Cannot configure MaxBurstSize without MaxDispatchesPerSecond");
  EXPECT_EQ(queue_refused(R"({"max_burst_size":0,"max_dispatches_per_second":0})"), "");
}

TEST(FireworqQueueBody, InvalidDefinitionIsRefused) {
  for (const char* body : {"", "[]", "{", R"({"max_workers":-1})", R"({"max_workers":"1"})",
                           R"({"name":1})", R"({"max_dispatches_per_second":"1"})"}) {
    EXPECT_EQ(queue_refused(body).substr(0, 3), "400") << body;
  }
  EXPECT_EQ(queue_refused("{}"), "");
}

TEST(FireworqRoutingBody, NamesItsQueue) {
  EXPECT_EQ(read_routing(R"({"queue_name":"q","job_category":"x"})"), "q");
  EXPECT_EQ(read_routing("{}"), "");
  EXPECT_EQ(refused([] { return read_routing("{\"queue_name\":1}"); }).substr(0, 3), "400");
}

TEST(FireworqAnswer, Errors) {
  const http::Response plain = error_answer(404);
  EXPECT_EQ(plain.status, 404U);
  EXPECT_EQ(plain.type, "text/plain; charset=utf-8");
  EXPECT_EQ(plain.body, "404 Not Found\n");
  EXPECT_EQ(error_answer(500, "No\nroute").body, "500 Internal Server Error\n\nNo route\n");
}

TEST(FireworqListing, Times) {
  EXPECT_EQ(time_text(1'735'689'600'000), "2025-01-01T00:00:00Z");
  EXPECT_EQ(time_text(1'735'689'600'500), "2025-01-01T00:00:00.5Z");
  EXPECT_EQ(time_text(1'735'689'600'050), "2025-01-01T00:00:00.05Z");
  EXPECT_EQ(time_text(1'735'689'661'123), "2025-01-01T00:01:01.123Z");
}

TEST(FireworqListing, Cursors) {
  const queue::ListPlace place{1'735'689'600'000, 42};
  EXPECT_EQ(cursor_text(place), "MTczNTY4OTYwMDAwMCw0Mg==");
  EXPECT_EQ(read_cursor(cursor_text(place)), place);
  for (const char* text : {"", "x", "MTI=", "MTIs", "LTEsMQ==", "OTk5OTk5OTk5OTk5OTk5OTksMQ=="}) {
    EXPECT_EQ(read_cursor(text), std::nullopt) << text;
  }
}

TEST(FireworqListing, Asks) {
  const queue::ListAsk usual = list_ask("");
  EXPECT_EQ(usual.limit, 100U);
  EXPECT_TRUE(usual.latest_first);
  EXPECT_FALSE(usual.from);
  EXPECT_EQ(list_ask("limit=0").limit, 0U);
  EXPECT_EQ(list_ask("limit=5000").limit, 1000U);
  EXPECT_EQ(list_ask("limit=%2B7").limit, 7U);
  EXPECT_EQ(list_ask("limit=%2B%2B7").limit, 100U);
  EXPECT_EQ(list_ask("limit=x").limit, 100U);
  EXPECT_EQ(list_ask("limit=-3").limit, 100U);
  EXPECT_FALSE(list_ask("order=asc").latest_first);
  EXPECT_TRUE(list_ask("order=up").latest_first);
  EXPECT_TRUE(list_ask("cursor=MTczNTY4OTYwMDAwMCw0Mg==").from);
  EXPECT_FALSE(list_ask("cursor=nonsense").from);
}

queue::Job job_of(const std::string& payload) {
  queue::Job job;
  job.number = 7;
  job.id.first_key = std::uint64_t{30'000'000} << 12;  // 30 s into 2025
  job.run_key = std::uint64_t{40'250'000} << 12;
  job.attempts = 3;
  job.headers.max_losses = 3;
  job.headers.verdicts = 2;
  job.payload = R"({"url":"http://h","category":"c","run_after":10,"timeout":1,"retry_delay":2,)"
                R"("max_retries":5})"
                "\n" +
                payload;
  return job;
}

TEST(FireworqObject, Job) {
  EXPECT_EQ(json::parse(job_object(job_of(R"({"a":1})"))),
            json({{"id", 7},
                  {"category", "c"},
                  {"url", "http://h"},
                  {"payload", {{"a", 1}}},
                  {"status", "claimed"},
                  {"created_at", "2025-01-01T00:00:20Z"},
                  {"next_try", "2025-01-01T00:00:40.25Z"},
                  {"timeout", 1},
                  {"fail_count", 2},
                  {"max_retries", 5},
                  {"retry_delay", 2}}));
  queue::Job grabbed = job_of("raw \xff");
  grabbed.grabbed = true;
  EXPECT_EQ(json::parse(job_object(grabbed))["status"], "grabbed");
  EXPECT_EQ(json::parse(job_object(grabbed))["payload"], "raw \xef\xbf\xbd");
  EXPECT_EQ(json::parse(job_object(job_of("")))["payload"], "");
}

TEST(FireworqObject, Failed) {
  queue::Job job = job_of("1");
  job.died_ms = 1'735'689'700'000;
  job.error = "permanent-failure 503: it is over: for good";
  EXPECT_EQ(
      json::parse(failed_object(job)),
      json({{"id", 7},
            {"job_id", 7},
            {"category", "c"},
            {"url", "http://h"},
            {"payload", 1},
            {"result",
             {{"status", "permanent-failure"}, {"code", 503}, {"message", "it is over: for good"}}},
            {"fail_count", 2},
            {"failed_at", "2025-01-01T00:01:40Z"},
            {"created_at", "2025-01-01T00:00:20Z"}}));
}

TEST(FireworqObject, Results) {
  const auto text = [](const std::string& error) {
    const Result result = result_of(error);
    return std::string(result.status) + "|" + std::to_string(result.code) + "|" +
           std::string(result.message);
  };
  EXPECT_EQ(text("failure 200: "), "failure|200|");
  EXPECT_EQ(text("internal-failure 0: Request failed: reset"),
            "internal-failure|0|Request failed: reset");
  for (const char* other : {"its worker died", "success 200: x", "failure x: y", "failure -1: y",
                            "failure: 200 x", "failure 200:x", ""}) {
    EXPECT_EQ(text(other), "internal-failure|0|" + std::string(other));
  }
}

TEST(FireworqObject, Pushed) {
  PushedJob job = read_job(R"({"url":"u","payload":"p"})", "c");
  EXPECT_EQ(json::parse(pushed_object(1, "q", job)), json({{"id", 1},
                                                           {"queue_name", "q"},
                                                           {"category", "c"},
                                                           {"url", "u"},
                                                           {"payload", "p"},
                                                           {"run_after", 0},
                                                           {"timeout", 0},
                                                           {"retry_delay", 0},
                                                           {"max_retries", 0}}));
  EXPECT_TRUE(
      json::parse(pushed_object(1, "q", read_job(R"({"url":"u"})", "c"))).at("payload").is_null());
}

TEST(FireworqObject, Stats) {
  const json stats = json::parse(stats_object({}));
  EXPECT_EQ(stats.size(), 13U);
  for (const char* name :
       {"total_pushes", "total_pops", "total_successes", "total_failures",
        "total_permanent_failures", "total_completes", "total_elapsed", "pushes_per_second",
        "pops_per_second", "outstanding_jobs", "total_workers", "idle_workers", "active_nodes"}) {
    EXPECT_TRUE(stats.contains(name)) << name;
  }
  for (const auto& [name, value] : stats.items()) EXPECT_TRUE(value.is_number_integer()) << name;
  const json process = json::parse(process_stats(false));
  EXPECT_EQ(process.size(), 27U);
  for (const char* name : {"time",           "go_version",
                           "go_os",          "go_arch",
                           "cpu_num",        "goroutine_num",
                           "gomaxprocs",     "cgo_call_num",
                           "memory_alloc",   "memory_total_alloc",
                           "memory_sys",     "memory_lookups",
                           "memory_mallocs", "memory_frees",
                           "memory_stack",   "heap_alloc",
                           "heap_sys",       "heap_idle",
                           "heap_inuse",     "heap_released",
                           "heap_objects",   "gc_next",
                           "gc_last",        "gc_num",
                           "gc_per_second",  "gc_pause_per_second",
                           "gc_pause"}) {
    EXPECT_TRUE(process.contains(name)) << name;
  }
  EXPECT_TRUE(process["gc_pause"].is_array());
  EXPECT_GT(process["goroutine_num"], 0);
  EXPECT_NE(process_stats(true).find('\n'), std::string::npos);
}

class FireworqDoor : public testing::Test {
 protected:
  static access::Access::Verdict of_token(std::string_view token) {
    if (token != "good") return {std::nullopt, 401, "unknown token"};
    return {access::Caller("token:t", {access::Reach{true, {}}, {}, {}}), 200, {}};
  }
  // The caller, or "STATUS".
  std::string authenticate(const std::vector<http::Field>& fields,
                           const std::string& address = "127.0.0.1") const {
    http::Head head;
    head.peer.address = address;
    head.fields = fields;
    if (head.field("host") == nullptr) head.fields.push_back({"host", "localhost:8080"});
    try {
      return Authenticator(settings_, of_token).authenticate(head).name();
    } catch (const Refused& refused) {
      return std::to_string(refused.status());
    }
  }

  config::GatewayFireworq settings_;
};

TEST_F(FireworqDoor, TokenIsRequiredUnlessAnonymous) {
  EXPECT_EQ(authenticate({}), "401");
  EXPECT_EQ(authenticate({{"authorization", "Bearer good"}}), "token:t");
  EXPECT_EQ(authenticate({{"authorization", "Basic eDpnb29k"}}), "token:t");
  EXPECT_EQ(authenticate({{"authorization", "Basic eDpiYWQ="}}), "401");
  EXPECT_EQ(authenticate({{"authorization", "Digest good"}}), "401");
  settings_.anonymous = true;
  EXPECT_EQ(authenticate({}), "anonymous");
  EXPECT_EQ(authenticate({}, "::1"), "anonymous");
  EXPECT_EQ(authenticate({}, "192.0.2.7"), "401") << "the default is this host";
  EXPECT_EQ(authenticate({{"authorization", "Bearer good"}}, "192.0.2.7"), "token:t");
  settings_.allow_from = {"192.0.2.0/24"};
  EXPECT_EQ(authenticate({}, "192.0.2.7"), "anonymous");
  EXPECT_EQ(authenticate({}), "401");
}

TEST_F(FireworqDoor, AProxySaysForWhom) {
  settings_.anonymous = true;
  settings_.allow_from = {"127.0.0.0/8", "::1", "192.0.2.0/24"};
  EXPECT_EQ(authenticate({{"x-forwarded-for", "192.0.2.9"}}), "anonymous");
  EXPECT_EQ(authenticate({{"x-forwarded-for", "192.0.2.9,\t::1 , 127.0.0.1"}}), "anonymous");
  EXPECT_EQ(authenticate({{"x-forwarded-for", "192.0.2.9"}}, "198.51.100.1"), "401");
  for (const char* list : {"198.51.100.1", "192.0.2.9, 198.51.100.1", "198.51.100.1, 192.0.2.9", "",
                           "192.0.2.9,", "unknown", "192.0.2.9 198.51.100.1"}) {
    EXPECT_EQ(authenticate({{"x-forwarded-for", list}}), "401") << list;
  }
  EXPECT_EQ(authenticate({{"x-forwarded-for", "192.0.2.9"}, {"x-forwarded-for", "198.51.100.1"}}),
            "401")
      << "each of the fields counts";
  EXPECT_EQ(authenticate({{"forwarded", "for=192.0.2.9"}}), "401");
  EXPECT_EQ(authenticate({{"forwarded", "for=192.0.2.9"}, {"authorization", "Bearer good"}}),
            "token:t");
  EXPECT_EQ(authenticate({{"x-forwarded-for", "x"}, {"authorization", "Bearer good"}}), "token:t");
}

TEST_F(FireworqDoor, NoForeignPage) {
  settings_.anonymous = true;
  EXPECT_EQ(authenticate({{"sec-fetch-site", "cross-site"}}), "403");
  EXPECT_EQ(authenticate({{"sec-fetch-site", "same-site"}}), "403");
  EXPECT_EQ(authenticate({{"sec-fetch-site", "none"}}), "anonymous");
  EXPECT_EQ(authenticate({{"origin", "http://evil.example"}}), "403");
  EXPECT_EQ(authenticate({{"origin", "null"}}), "403");
  EXPECT_EQ(authenticate({{"origin", "http://x"}, {"sec-fetch-site", "same-origin"}}), "anonymous");
  settings_.allow_origins = {"http://console.example:8888"};
  EXPECT_EQ(authenticate({{"origin", "http://Console.example:8888"}}), "anonymous");
  EXPECT_EQ(
      authenticate({{"origin", "http://console.example:8888"}, {"sec-fetch-site", "cross-site"}}),
      "403");
}

TEST_F(FireworqDoor, NoForeignName) {
  settings_.anonymous = true;
  EXPECT_EQ(authenticate({{"host", "evil.example"}}), "403");
  EXPECT_EQ(authenticate({{"host", "192.0.2.1:8080"}}), "anonymous");
  EXPECT_EQ(authenticate({{"host", "[::1]:8080"}}), "anonymous");
  settings_.names = {"jobs.example"};
  EXPECT_EQ(authenticate({{"host", "Jobs.example.:80"}}), "anonymous");
}

TEST(FireworqAllowed, Targets) {
  config::Plugins plugins;
  const auto check_url = [&](const std::string& url) {
    return refused([&] {
      Allowed(plugins).check(url);
      return 0;
    });
  };
  EXPECT_EQ(check_url("http://any.example/x"), "") << "other hosts dispatch";
  for (const char* url : {"ftp://h/", "h/x", "http://", "http:///x", "http://u:p@h/", "http://h:x/",
                          "http://h/\na", "file:///etc", "http://h:080/", "http://h:65536/",
                          "http://h /", "http://h\\/", "http://h \\x"}) {
    EXPECT_EQ(check_url(url).substr(0, 8), "400 url:") << url;
  }
  EXPECT_EQ(check_url("http://h/a b\\c?d e"), "") << "the plugin escapes them";
  EXPECT_EQ(check_url("http://h:/"), "400 url: its port is not a number from 1 to 65535");
  // An escaped character takes three in the plugin's request.
  const auto long_path = [&](const std::string& part, std::size_t count) {
    std::string url = "http://h:65535/";
    for (std::size_t i = 0; i < count; ++i) url += part;
    return check_url(url + "#not-this");
  };
  EXPECT_EQ(long_path("x", 7999), "");
  EXPECT_EQ(long_path("x", 8000), "400 url: its path is longer than 8000 characters");
  EXPECT_EQ(long_path("{", 2666), "");
  EXPECT_EQ(long_path(" ", 2667), "400 url: its path is longer than 8000 characters");
  EXPECT_EQ(long_path("\xff", 2667), "400 url: its path is longer than 8000 characters");
  plugins.sections["http"] = {{"allow", "http://127.0.0.1:9"}, {"allow", "https://H.example"}};
  EXPECT_EQ(check_url("http://127.0.0.1:9/a?b"), "");
  EXPECT_EQ(check_url("HTTPS://h.EXAMPLE:443/"), "");
  EXPECT_EQ(check_url("http://127.0.0.1:8/"),
            "400 url: http://127.0.0.1:8 is not an allowed target: write it into allow of "
            "[plugins.http]");
  plugins.sections["http"].clear();
  EXPECT_NE(check_url("http://127.0.0.1:9/"), "") << "nothing is allowed";
}

}  // namespace
}  // namespace allot::gateway::fireworq
