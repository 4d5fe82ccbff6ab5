// SPDX-License-Identifier: Apache-2.0
#include "unit/config/fixture.h"

// Messages for a user after a mistake, word for word.
namespace allot::config {
namespace {

using Message = ConfigTest;

TEST_F(Message, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(failure_of("[queues.mail]\npartitons = 4\n"),
            "allot.toml:2: unknown key 'partitons' in [queues.mail]; did you mean 'partitions'?");
  EXPECT_EQ(failure_of("[database]\nhots = \"a\"\n"),
            "allot.toml:2: unknown key 'hots' in [database]; did you mean 'hosts'?");
}

TEST_F(Message, UnknownKeyNamesTheSectionItBelongsTo) {
  EXPECT_EQ(failure_of("[queues.mail]\nsize = 4\n"),
            "allot.toml:2: unknown key 'size' in [queues.mail]; it belongs in [pools.NAME]");
  EXPECT_EQ(failure_of("lease_ttl = \"3s\"\n"),
            "allot.toml:1: key 'lease_ttl' is before the first section; it belongs in [daemon]");
}

TEST_F(Message, UnknownKeyListsWhatThereIs) {
  EXPECT_EQ(failure_of("[logging]\ncolour = true\n"),
            "allot.toml:2: unknown key 'colour' in [logging]; known keys: level, format, file, "
            "slow_task");
}

TEST_F(Message, UnknownSection) {
  EXPECT_EQ(failure_of("\n[databse]\nhost = \"a\"\n"),
            "allot.toml:2: unknown section [databse]; did you mean [database]?");
  EXPECT_EQ(failure_of("[http]\n"),
            "allot.toml:1: unknown section [http]; known sections: database, wake, daemon, queues, "
            "types, "
            "pools, schedules, plugins, notices, metrics, gateway, logging");
}

TEST_F(Message, SectionWithoutAName) {
  EXPECT_EQ(failure_of("[queues]\npartitions = 4\n"),
            "allot.toml:2: 'partitions' is in [queues]; write [queues.NAME] above it");
  EXPECT_EQ(failure_of("queues = 3\n"),
            "allot.toml:1: 'queues' must be a section, not a whole number");
}

TEST_F(Message, WrongType) {
  EXPECT_EQ(failure_of("[database]\nport = \"3306\"\n"),
            "allot.toml:2: [database] port must be a whole number, not text");
  EXPECT_EQ(failure_of("[database]\nhost = 1.5\n"),
            "allot.toml:2: [database] host must be text in quotes, not a number with a fraction");
  EXPECT_EQ(failure_of("[queues.a]\nexclusive = \"yes\"\n"),
            "allot.toml:2: [queues.a] exclusive must be true or false without quotes, not text");
  EXPECT_EQ(failure_of("[queues.a]\n[pools.p]\nqueues = \"a\"\n"),
            "allot.toml:3: [pools.p] queues must be a list such as [\"mail\"], not text");
  EXPECT_EQ(failure_of("[daemon]\nlease_ttl = [1]\n"),
            "allot.toml:2: [daemon] lease_ttl must be a duration such as \"30s\", not a list");
}

TEST_F(Message, ListOfDurations) {
  EXPECT_EQ(failure_of("[queues.a]\nretry_delays = \"10s\"\n"),
            "allot.toml:2: [queues.a] retry_delays must be a list such as [\"10s\", \"1m\"], not "
            "text");
  EXPECT_EQ(failure_of("[queues.a]\nretry_delays = [\"10s\", 60]\n"),
            "allot.toml:2: [queues.a] retry_delays holds 60; a duration is a whole number and a "
            "unit in quotes: \"300ms\", \"30s\", \"5m\" or \"1h\"");
  EXPECT_EQ(failure_of("[types.t]\nretry_delays = [\"721h\"]\n"),
            "allot.toml:2: [types.t] retry_delays holds 721h; allowed is 0s to 720h");
}

TEST_F(Message, ATypeWithADotNeedsQuotes) {
  EXPECT_EQ(failure_of("[types.mail.send]\nmax_attempts = 3\n"),
            "allot.toml:1: [types.mail.send]: a name with a dot needs quotes, as in "
            "[types.\"mail.send\"]");
}

TEST_F(Message, DurationWithoutAUnit) {
  EXPECT_EQ(
      failure_of("[daemon]\nlease_ttl = 30\n"),
      "allot.toml:2: [daemon] lease_ttl is a duration and needs a unit (ms, s, m, h, d), such as "
      "\"30s\"");
  EXPECT_EQ(failure_of("[daemon]\nlease_ttl = \"30\"\n"),
            "allot.toml:2: [daemon] lease_ttl is \"30\"; a duration is a whole number and a unit: "
            "\"300ms\", \"30s\", \"5m\" or \"1h\"");
}

TEST_F(Message, OutOfRangeSaysTheRange) {
  EXPECT_EQ(failure_of("[queues.a]\npartitions = 4097\n"),
            "allot.toml:2: [queues.a] partitions is 4097; allowed is 1 to 4096");
  EXPECT_EQ(failure_of("[queues.a]\npartitions = 0\n"),
            "allot.toml:2: [queues.a] partitions is 0; allowed is 1 to 4096");
  EXPECT_EQ(failure_of("[pools.a]\nsize = -1\n"),
            "allot.toml:2: [pools.a] size is -1; allowed is 0 to 256");
  EXPECT_EQ(failure_of("[daemon]\nlease_ttl = \"999ms\"\n"),
            "allot.toml:2: [daemon] lease_ttl is 999ms; allowed is 1s to 1h");
  EXPECT_EQ(failure_of("[daemon]\nlease_ttl = \"61m\"\n"),
            "allot.toml:2: [daemon] lease_ttl is 61m; allowed is 1s to 1h");
}

TEST_F(Message, Names) {
  EXPECT_EQ(
      failure_of("[daemon]\ninstance = \"Blue\"\n"),
      "allot.toml:2: [daemon] instance is \"Blue\"; a name has at most 31 lower-case letters, "
      "digits and '-'");
  EXPECT_EQ(failure_of("[queues.\"a b\"]\n"),
            "allot.toml:1: [queues.a b]: a name has 1 to 63 letters, digits, '_', '-' and '.'");
  EXPECT_EQ(failure_of("[pools." + std::string(32, 'p') + "]\n"),
            "allot.toml:1: [pools." + std::string(32, 'p') +
                "]: a name has 1 to 31 letters, digits, '_', '-' and '.'");
  EXPECT_EQ(failure_of("[logging]\nlevel = \"verbose\"\n"),
            "allot.toml:2: [logging] level is \"verbose\"; use debug, info, warn or error");
}

TEST_F(Message, TextThatCannotBeUsed) {
  EXPECT_EQ(failure_of("[database]\nhost = \"\"\n"),
            "allot.toml:2: [database] host must not be empty");
  EXPECT_EQ(failure_of("[database]\nuser = \"a\\u0000b\"\n"),
            "allot.toml:2: [database] user must not hold control characters");
  EXPECT_EQ(failure_of("[logging]\nfile = \"/" + std::string(1023, 'x') + "\"\n"),
            "allot.toml:2: [logging] file is longer than 1023 bytes");
}

TEST_F(Message, APluginsValueIsTextOrAListOfTexts) {
  EXPECT_EQ(
      failure_of("[plugins.digest]\nnested = [[1]]\ntables = [{a = 1}]\n[plugins.digest.deep]\n"
                 "day = 2026-11-21\n"),
      "allot.toml:2: [plugins.digest] nested must be text, a number, true or false, or a list of "
      "these, not a list\n"
      "allot.toml:3: [plugins.digest] tables must be text, a number, true or false, or a list of "
      "these, not a section\n"
      "allot.toml:5: [plugins.digest] deep.day must be text, a number, true or false, or a list of "
      "these, not a date or time");
  EXPECT_EQ(failure_of("[plugins]\nfloder = \"x\"\n"),
            "allot.toml:2: unknown key 'floder' in [plugins]; did you mean 'folder'?");
}

TEST_F(Message, SyntaxErrorHasItsLine) {
  const std::string message = failure_of("[daemon]\ninstance = \"a\"\nlease_ttl = \n");
  EXPECT_EQ(message.find("allot.toml:3: "), 0U) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  const std::string twice = failure_of("[daemon]\ninstance = \"a\"\ninstance = \"b\"\n");
  EXPECT_EQ(twice.find("allot.toml:3: "), 0U) << twice;
  const std::string bytes = failure_of("[daemon]\ninstance = \"\xff\"\n");
  EXPECT_EQ(bytes.find("allot.toml:2: "), 0U) << bytes;
}

TEST_F(Message, AllProblemsAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(
      failure_of("[queues.mail]\n"
                 "partitons = 4\n"
                 "block_size = 0\n"
                 "[pools.p]\n"
                 "queues = [\"mial\"]\n"
                 "[daemon]\n"
                 "lease_ttl = 5\n"),
      "allot.toml:2: unknown key 'partitons' in [queues.mail]; did you mean 'partitions'?\n"
      "allot.toml:3: [queues.mail] block_size is 0; allowed is 1 to 1000\n"
      "allot.toml:5: [pools.p] serves queue 'mial', but the file has no [queues.mial]; did you "
      "mean 'mail'?\n"
      "allot.toml:7: [daemon] lease_ttl is a duration and needs a unit (ms, s, m, h, d), such as "
      "\"5s\"");
}

}  // namespace
}  // namespace allot::config
