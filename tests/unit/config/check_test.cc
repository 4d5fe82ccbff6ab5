// SPDX-License-Identifier: Apache-2.0
// Rules: S23, S27.
#include <sys/stat.h>

#include "base/error.h"
#include "unit/config/fixture.h"

// Rules that involve several keys.
namespace allot::config {
namespace {

using Check = ConfigTest;

TEST_F(Check, PoolNamesAnUnknownQueue) {
  EXPECT_EQ(
      failure_of("[queues.mail]\n[pools.slow]\nqueues = [\"reports\"]\n"),
      "allot.toml:3: [pools.slow] serves queue 'reports', but the file has no [queues.reports]");
  EXPECT_EQ(failure_of("[queues.a]\n[pools.p]\nqueues = [\"a\", \"a\"]\n"),
            "allot.toml:3: [pools.p] queues names 'a' twice");
}

TEST_F(Check, PoolMayNameTheDefaultQueue) {
  EXPECT_EQ(load_text("[pools.p]\nqueues = [\"default\"]\n").pools[0].queues,
            std::vector<std::string>{"default"});
}

TEST_F(Check, ThePoolOfTheStewardIsTheDaemonsOwn) {
  EXPECT_EQ(failure_of("[pools.p]\n[pools.steward]\nsize = 2\n"),
            "allot.toml:2: [pools.steward] is reserved for the steward process of the daemon; give "
            "this pool another name");
}

TEST_F(Check, SixteenPoolsAndNotOneMore) {
  std::string text;
  for (int i = 0; i < 16; ++i) text += "[pools.p" + std::to_string(i) + "]\nsize = 16\n";
  EXPECT_EQ(load_text(text).pools.size(), 16U);
  EXPECT_EQ(failure_of(text + "[pools.q]\nsize = 0\n"),
            "allot.toml:33: [pools.q] is one pool too many; the limit is 16");
}

TEST_F(Check, WorkersOfAllPoolsTogether) {
  EXPECT_EQ(failure_of("[pools.a]\nsize = 200\n[pools.b]\nsize = 57\n"),
            "allot.toml:3: [pools.b] makes it 257 workers in all pools; allowed are 256");
}

TEST_F(Check, WeightsAreOfQueuesThatThePoolServes) {
  const std::string queues = "[queues.mail]\n[queues.\"big.reports\"]\n[queues.other]\n[pools.p]\n";
  const auto weights =
      load_text(queues + "weights = { mail = 3, \"big.reports\" = 1 }\n").pools[0].weights;
  EXPECT_EQ(weights, (kind::Weights{{"mail", 3}, {"big.reports", 1}}));
  EXPECT_EQ(load_text(queues + "[pools.p.weights]\nmail = 1000\n").pools[0].weights,
            (kind::Weights{{"mail", 1000}}));
  EXPECT_EQ(load_text(queues + "weights = {}\n").pools[0].weights.size(), 0U);
  EXPECT_EQ(failure_of(queues + "weights = { mial = 3 }\n"),
            "allot.toml:5: [pools.p] weights names queue 'mial', which this pool does not serve; "
            "did you mean 'mail'?");
  EXPECT_EQ(failure_of(queues + "queues = [\"mail\"]\nweights = { mail = 3, other = 1 }\n"),
            "allot.toml:6: [pools.p] weights names queue 'other', which this pool does not serve");
}

TEST_F(Check, AWeightIsAWholeNumberFromOneToAThousand) {
  const auto failure = [&](const std::string& value) {
    return failure_of("[queues.mail]\n[pools.p]\nweights = " + value + "\n");
  };
  const std::string at = "allot.toml:3: [pools.p] weights ";
  EXPECT_EQ(failure("{ mail = 0 }"), at + "of 'mail' is 0; allowed is 1 to 1000");
  EXPECT_EQ(failure("{ mail = -1 }"), at + "of 'mail' is -1; allowed is 1 to 1000");
  EXPECT_EQ(failure("{ mail = 1001 }"), at + "of 'mail' is 1001; allowed is 1 to 1000");
  EXPECT_EQ(failure("{ mail = 1.5 }"),
            at + "of 'mail' must be a whole number, not a number with a fraction");
  EXPECT_EQ(failure("{ mail = \"3\" }"), at + "of 'mail' must be a whole number, not text");
  EXPECT_EQ(failure("{ big.mail = 3 }"),
            at + "has 'big' with a section; a name with a dot needs quotes");
  EXPECT_EQ(failure("[\"mail\"]"),
            at + "must be names with whole numbers, such as { mail = 3, reports = 1 }, not a list");
}

TEST_F(Check, AStrictPoolNamesItsQueuesInTheirOrder) {
  const std::string queues = "[queues.mail]\n[queues.reports]\n[pools.p]\nstrict = true\n";
  const Settings settings = load_text(queues + "queues = [\"reports\", \"mail\"]\n");
  EXPECT_TRUE(settings.pools[0].strict);
  EXPECT_EQ(settings.pools[0].queues, (std::vector<std::string>{"reports", "mail"}));
  EXPECT_EQ(failure_of(queues),
            "allot.toml:4: [pools.p] strict needs queues, in order of importance");
  EXPECT_EQ(failure_of(queues + "queues = [\"mail\"]\nweights = { mail = 2 }\n"),
            "allot.toml:6: [pools.p] has both weights and strict; remove one");
}

TEST_F(Check, APoolOfFireworqsQueuesNamesNone) {
  const std::string pool = "[queues.mail]\n[pools.p]\nfireworq = true\n";
  EXPECT_TRUE(load_text(pool).pools[0].queues.empty());
  const std::string why = "; remove one: with fireworq its queues are created by requests";
  const std::string both = "[pools.p] has both fireworq and ";
  EXPECT_EQ(failure_of(pool + "queues = [\"mail\"]\n"), "allot.toml:4: " + both + "queues" + why);
  EXPECT_EQ(failure_of(pool + "weights = { mail = 2 }\n"),
            "allot.toml:4: " + both + "weights" + why);
  EXPECT_EQ(failure_of(pool + "strict = true\n"), "allot.toml:4: " + both + "strict" + why);
}

TEST_F(Check, APoolOfFireworqsQueuesNeedsThePluginForTheirJobs) {
  const std::string pool = "[pools.p]\nfireworq = true\n";
  const std::string plugin = "[plugins.http.fireworq]\n";
  EXPECT_TRUE(load_text(pool + plugin + "enabled = true\n").warnings.empty());
  EXPECT_TRUE(load_text("[pools.p]\n").warnings.empty());
  for (const std::string& without : {std::string(), plugin, plugin + "enabled = false\n"}) {
    const auto warnings = load_text(pool + without).warnings;
    ASSERT_EQ(warnings.size(), 1U) << without;
    EXPECT_EQ(shortened(warnings[0]),
              "allot.toml:2: [pools.p] serves the queues of Fireworq's programs, but no plugin "
              "takes their jobs; write enabled = true into [plugins.http.fireworq]");
  }
}

// D9: without a cgroup they are not applied.
TEST_F(Check, LimitsOfACgroupNeedOne) {
  EXPECT_EQ(failure_of("[pools.a]\ncgroup_memory = 512\ncgroup_cpu = 50\n"),
            "allot.toml:2: [pools.a] cgroup_memory needs [daemon] cgroup = true\n"
            "allot.toml:3: [pools.a] cgroup_cpu needs [daemon] cgroup = true");
  EXPECT_EQ(failure_of("[daemon]\ncgroup = true\n[pools.a]\ncgroup_memory = 63\ncgroup_cpu = 4\n"),
            "allot.toml:4: [pools.a] cgroup_memory is 63 MiB; a worker needs 64 for itself\n"
            "allot.toml:5: [pools.a] cgroup_cpu is 4 percent; a worker needs 5 for itself");
  const auto pool =
      load_text("[daemon]\ncgroup = true\n[pools.a]\ncgroup_memory = 64\ncgroup_cpu = 5\n")
          .pools[0];
  EXPECT_EQ(pool.cgroup_memory, 64U);
  EXPECT_EQ(pool.cgroup_cpu, 5U);
}

TEST_F(Check, AMemoryLimitLeavesRoomForTheWorker) {
  EXPECT_EQ(failure_of("[pools.a]\nmemory_limit = 71\n"),
            "allot.toml:2: [pools.a] memory_limit is 71 MiB; with a concurrency of 1 a worker "
            "needs 72 for itself");
  EXPECT_EQ(failure_of("[pools.a]\nmemory_limit = 100\nconcurrency = 10\n"),
            "allot.toml:2: [pools.a] memory_limit is 100 MiB; with a concurrency of 10 a worker "
            "needs 144 for itself");
  EXPECT_EQ(load_text("[pools.a]\nmemory_limit = 72\n").pools.at(0).memory_limit, 72U);
}

TEST_F(Check, QueueWithoutAPoolIsAWarning) {
  const Settings settings =
      load_text("[queues.a]\n[queues.b]\n[pools.p]\nqueues = [\"a\"]\n[pools.q]\nsize = 0\n");
  ASSERT_EQ(settings.warnings.size(), 1U);
  EXPECT_EQ(shortened(settings.warnings[0]),
            "allot.toml:2: no pool of this daemon serves queue 'b'");
}

TEST_F(Check, RetryDelays) {
  EXPECT_EQ(failure_of("[queues.a]\nretry_delay = \"2h\"\n"),
            "allot.toml:2: [queues.a] retry_delay (2h) is more than retry_delay_max (1h)");
  EXPECT_EQ(failure_of("[queues.a]\nretry_delay_max = \"1s\"\n"),
            "allot.toml:2: [queues.a] retry_delay (5s) is more than retry_delay_max (1s)");
}

TEST_F(Check, HooksNameAQueueAndAType) {
  const std::string ops = "[queues.ops]\nplacement = \"ordered\"\n";
  EXPECT_EQ(failure_of("[queues.a]\non_dead = \"alert\"\n"),
            "allot.toml:2: [queues.a] on_dead is \"alert\"; it names a queue and a type: "
            "\"ops/alert.dead\"");
  EXPECT_EQ(failure_of("[queues.a]\non_dead = \"ops/alert\"\n" + ops),
            "allot.toml:2: [queues.a] on_dead names queue 'ops', whose placement is ordered; tasks "
            "of a hook have no partition_key, so it must be a spread queue");
  EXPECT_EQ(failure_of("[queues.a]\non_stuck = \"a/alert\"\n"),
            "allot.toml:2: [queues.a] on_stuck names its own queue; the hook would not run while "
            "this queue is stuck");
  const Settings settings = load_text(
      "[queues.a]\non_dead = \"a/x\"\non_stuck = \"elsewhere/y\"\nhistory = \"7d\"\n"
      "[queues.b]\nstuck_after = \"1m\"\n");
  EXPECT_EQ(settings.queues[0].history, hours(168));
  ASSERT_EQ(settings.warnings.size(), 1U);
  EXPECT_EQ(shortened(settings.warnings[0]),
            "allot.toml:6: [queues.b] stuck_after is not used without on_stuck");
}

TEST_F(Check, RetryDelaysOfAType) {
  EXPECT_EQ(failure_of("[types.t]\nretry_delay = \"2h\"\nretry_delay_max = \"1h\"\n"),
            "allot.toml:2: [types.t] retry_delay (2h) is more than retry_delay_max (1h)");
  EXPECT_EQ(load_text("[types.t]\nretry_delay = \"2h\"\n").types.size(), 1U);
}

TEST_F(Check, FrozenBeforeTheLeaseExpires) {
  EXPECT_EQ(
      failure_of("[daemon]\nlease_ttl = \"5s\"\nfrozen_after = \"5s\"\n"),
      "allot.toml:3: [daemon] frozen_after is 5s but must be below lease_ttl (5s), else another "
      "host takes the lease of a frozen worker first");
  EXPECT_EQ(load_text("[daemon]\nfrozen_after = \"\"\n").daemon.frozen_after, milliseconds(0));
}

TEST_F(Check, ComputedLimits) {
  Daemon daemon;
  EXPECT_EQ(frozen_limit(daemon), seconds(20));
  daemon.lease_ttl = seconds(3);
  EXPECT_EQ(frozen_limit(daemon), seconds(2));
  daemon.frozen_after = milliseconds(700);
  EXPECT_EQ(frozen_limit(daemon), milliseconds(700));
  EXPECT_EQ(soft_task_timeout(hours(1)), hours(1) - seconds(10));
  EXPECT_EQ(soft_task_timeout(seconds(4)), seconds(2));
}

TEST_F(Check, ServersOfTheList) {
  const Database database =
      load_text(
          "[database]\nhosts = [\"a:1\", \"b\", \"::1\", \"[fe80::2%eth0]:65535\"]\nport = 7\n")
          .database;
  EXPECT_EQ(database.servers,
            (std::vector<Server>{{"a", 1}, {"b", 7}, {"::1", 7}, {"fe80::2%eth0", 65535}}));
  EXPECT_EQ(load_text("[database]\nhost = \"a:1\"\n").database.servers,
            (std::vector<Server>{{"a", 1}}));
}

TEST_F(Check, WrongRequirement) {
  EXPECT_EQ(failure_of("[database]\nrequired = \"durable\"\n"),
            "allot.toml:2: [database] required is 'durable' (\"replicated\", or nothing)");
}

TEST_F(Check, WrongServers) {
  for (const char* wrong : {"", "a:", "a:0", "a:65536", "a:x", ":1", "a b", "a,b", "[::1", "[]:1",
                            "[::1]1", "[::1]:", "a/b", "a:1x"}) {
    EXPECT_EQ(failure_of("[database]\n\nhosts = [\"a\", \"" + std::string(wrong) + "\"]\n"),
              "allot.toml:3: [database] '" + std::string(wrong) +
                  "' is not a server; write \"HOST\", \"HOST:PORT\" or \"[ADDRESS]:PORT\"");
  }
  EXPECT_EQ(failure_of("[database]\nhost = \"a\"\nhosts = [\"b\"]\n"),
            "allot.toml:3: [database] has both host and hosts; remove one");
}

// The supervisor waits 30 s for a check of the database.
TEST_F(Check, ManyServersHaveABoundForAllOfThem) {
  EXPECT_EQ(failure_of("[database]\nhosts = [\"a\", \"b\"]\nconnect_timeout = \"26s\"\n"),
            "allot.toml:3: [database] connect_timeout is 26s; with several hosts the limit is 25s");
  const Settings most =
      load_text("[database]\nhosts = [\"a\", \"b\"]\nconnect_timeout = \"25s\"\n");
  EXPECT_EQ(most.database.servers.size(), 2U);
  EXPECT_EQ(
      load_text("[database]\nhosts = [\"a\"]\nconnect_timeout = \"10m\"\n").database.servers.size(),
      1U);
}

TEST_F(Check, PasswordFromItsFile) {
  const std::string secret = write("secret", "p\xc3\xa4ss \n");
  ASSERT_EQ(::chmod(secret.c_str(), 0600), 0);
  const Settings settings = load_text("[database]\npassword_file = \"secret\"\n");
  EXPECT_EQ(settings.database.password, "p\xc3\xa4ss ");
  EXPECT_TRUE(settings.warnings.empty());
  static_cast<void>(write("secret", "word\r\n"));
  EXPECT_EQ(load_text("[database]\npassword_file = \"secret\"\n").database.password, "word");
  static_cast<void>(write("secret", "two\n\n"));
  EXPECT_EQ(load_text("[database]\npassword_file = \"secret\"\n").database.password, "two\n");
}

TEST_F(Check, PasswordFileThatOthersReadIsAWarning) {
  const std::string secret = write("secret", "x");
  ASSERT_EQ(::chmod(secret.c_str(), 0640), 0);
  EXPECT_TRUE(load_text("[database]\npassword_file = \"secret\"\n").warnings.empty());
  ASSERT_EQ(::chmod(secret.c_str(), 0644), 0);
  const Settings settings = load_text("[database]\npassword_file = \"secret\"\n");
  ASSERT_EQ(settings.warnings.size(), 1U);
  EXPECT_EQ(shortened(settings.warnings[0]),
            "allot.toml:2: secret holds a password and is open to every user of this host (mode "
            "0644); run chmod o= secret");
}

TEST_F(Check, APasswordInAFileThatOthersReadIsAWarning) {
  const std::string text = "[database]\npassword = \"x\"\n";
  const Settings open = load_text(text);
  ASSERT_EQ(open.warnings.size(), 1U);
  EXPECT_EQ(shortened(open.warnings[0]),
            "allot.toml:2: allot.toml holds a password and is open to every user of this host "
            "(mode 0644); run chmod o= allot.toml");
  ASSERT_EQ(::chmod((folder() + "/allot.toml").c_str(), 0640), 0);
  EXPECT_TRUE(load_text(text).warnings.empty());
}

// The keys are the plugin's own; a file named by one of them is checked anyway.
TEST_F(Check, ASecretOfAPluginThatOthersReadIsAWarning) {
  const std::string secret = write("secret", "x");
  const std::string text = "[plugins.http.types.\"a.b\"]\nurl = \"https://x\"\nsecret_file = \"" +
                           secret + "\"\ntls_key = \"" + secret + "\"\n";
  ASSERT_EQ(::chmod(secret.c_str(), 0640), 0);
  EXPECT_TRUE(load_text(text).warnings.empty());
  ASSERT_EQ(::chmod(secret.c_str(), 0604), 0);
  const Settings open = load_text(text);
  ASSERT_EQ(open.warnings.size(), 2U);
  EXPECT_EQ(shortened(open.warnings[0]),
            "allot.toml:3: secret holds a secret and is open to every user of this host (mode "
            "0604); run chmod o= secret");
  EXPECT_EQ(shortened(open.warnings[1]),
            "allot.toml:4: secret holds a private key and is open to every user of this host (mode "
            "0604); run chmod o= secret");
}

TEST_F(Check, PasswordFileThatIsMissing) {
  EXPECT_EQ(failure_of("[database]\npassword_file = \"secret\"\n"),
            "allot.toml:2: cannot read the password file secret: No such file or directory");
}

TEST_F(Check, PasswordFromACredential) {
  const std::string text = "[database]\npassword_credential = \"allot-db\"\n";
  EXPECT_EQ(failure_of(text),
            "allot.toml:2: [database] password_credential: $CREDENTIALS_DIRECTORY is not set; only "
            "what systemd started with LoadCredential=allot-db:FILE has it, everything else needs "
            "password_file");
  ::setenv("CREDENTIALS_DIRECTORY", (folder() + "/credentials").c_str(), 1);
  EXPECT_EQ(failure_of(text),
            "allot.toml:2: cannot read the credential allot-db: No such file or directory");
  // systemd shows the access list that it sets as a group bit.
  ASSERT_EQ(::chmod(write("credentials/allot-db", "word\n").c_str(), 0440), 0);
  const Settings settings = load_text(text);
  EXPECT_EQ(settings.database.password, "word");
  EXPECT_TRUE(settings.warnings.empty());
  EXPECT_EQ(failure_of("[database]\npassword_credential = \"../secret\"\n"),
            "allot.toml:2: [database] password_credential is a name, not a path");
  ::unsetenv("CREDENTIALS_DIRECTORY");
}

TEST_F(Check, TwoPasswords) {
  EXPECT_EQ(failure_of("[database]\npassword_credential = \"a\"\npassword_file = \"secret\"\n"),
            "allot.toml:2: [database] has both password_file and password_credential; remove one");
  EXPECT_EQ(failure_of("[database]\npassword = \"a\"\npassword_file = \"secret\"\n"),
            "allot.toml:3: [database] has both password and password_file; remove one");
}

TEST_F(Check, TlsKeysThatBelongTogether) {
  for (const char* name : {"ca.pem", "c.pem", "c.key"}) {
    ASSERT_EQ(::chmod(write(name, "x").c_str(), 0600), 0);
  }
  const std::string host = "[database]\nhost = \"a\"\n";
  const Settings good = load_text(
      host + "tls = \"verify\"\ntls_ca = \"ca.pem\"\ntls_cert = \"c.pem\"\ntls_key = \"c.key\"\n");
  EXPECT_EQ(good.database.tls_ca, folder() + "/ca.pem");
  EXPECT_TRUE(good.warnings.empty());
  EXPECT_EQ(failure_of(host + "tls = \"on\"\n"),
            "allot.toml:3: [database] tls is \"on\"; use off, required or verify");
  EXPECT_EQ(failure_of(host + "tls = \"required\"\ntls_ca = \"ca.pem\"\n"),
            "allot.toml:4: [database] tls_ca is used with tls = \"verify\" only");
  EXPECT_EQ(failure_of(host + "tls_cert = \"c.pem\"\ntls_key = \"c.key\"\n"),
            "allot.toml:3: [database] tls_cert is not used while tls is off");
  EXPECT_EQ(failure_of(host + "tls = \"required\"\ntls_cert = \"c.pem\"\n"),
            "allot.toml:4: [database] tls_cert and tls_key need each other");
  EXPECT_EQ(failure_of(host + "tls = \"required\"\ntls_key = \"c.key\"\n"),
            "allot.toml:4: [database] tls_cert and tls_key need each other");
  EXPECT_EQ(failure_of(host + "tls = \"verify\"\ntls_ca = \"no.pem\"\n"),
            "allot.toml:4: [database] tls_ca: cannot read no.pem: No such file or directory");
}

TEST_F(Check, TlsWarnings) {
  ASSERT_EQ(::chmod(write("c.key", "x").c_str(), 0644), 0);
  const Settings shared =
      load_text("[database]\ntls = \"required\"\ntls_cert = \"c.key\"\ntls_key = \"c.key\"\n");
  ASSERT_EQ(shared.warnings.size(), 1U);
  EXPECT_EQ(shortened(shared.warnings[0]),
            "allot.toml:4: c.key holds a private key and is open to every user of this host (mode "
            "0644); run chmod o= c.key");
  const Settings local = load_text("[database]\nsocket = \"s\"\ntls = \"required\"\n");
  ASSERT_EQ(local.warnings.size(), 1U);
  EXPECT_EQ(shortened(local.warnings[0]),
            "allot.toml:3: [database] tls is not used: the server is reached through its socket");
  EXPECT_EQ(local.database.tls, "off");
}

TEST_F(Check, EmbeddedWarnsOfWhatItIgnores) {
  const Settings settings =
      load_text("[database]\nembedded = \"db\"\nhost = \"x\"\npassword_file = \"missing\"\n");
  ASSERT_EQ(settings.warnings.size(), 2U);
  EXPECT_EQ(shortened(settings.warnings[0]),
            "allot.toml:3: [database] host is not used: the database is embedded");
  EXPECT_EQ(settings.database.password, "");
}

TEST_F(Check, SocketPathFitsAUnixSocket) {
  const std::string fits = "/" + std::string(106, 's');
  EXPECT_EQ(load_text("[database]\nsocket = \"" + fits + "\"\n").database.socket, fits);
  EXPECT_EQ(
      failure_of("[database]\nsocket = \"" + fits + "s\"\n"),
      "allot.toml:2: the path of the socket " + fits + "s has 108 bytes; a Unix socket takes 107");
  const std::string dir = "/" + std::string(97, 'd');
  EXPECT_EQ(failure_of("[database]\nembedded = \"" + dir + "\"\n"),
            "allot.toml:2: the path of the socket " + dir +
                "/data/sock has 108 bytes; a Unix socket takes 107, so choose a shorter folder");
}

TEST_F(Check, MetricsNameTypesOrPrefixes) {
  for (const std::string& type : {std::string("a b"), std::string("*"), std::string("shop*"),
                                  std::string(".*"), std::string(128, 'x')}) {
    EXPECT_EQ(failure_of("[metrics]\ntypes = [\"" + type + "\"]\n"),
              "allot.toml:2: [metrics] types has \"" + type +
                  "\"; allowed are types, or prefixes such as shop.*, of at most 127 bytes");
  }
}

}  // namespace
}  // namespace allot::config
