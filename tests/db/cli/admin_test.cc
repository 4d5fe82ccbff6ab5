// SPDX-License-Identifier: Apache-2.0
// Rule: S17.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "db/migrate.h"

namespace allot::cli {
namespace {

using AdminTest = OwnDatabaseTest;

TEST_F(AdminTest, MigrateFromNothingThenNothingToDo) {
  const std::string empty = server_.make_empty_database();
  configure(name_, empty);
  const std::string first = must({"migrate"});
  EXPECT_TRUE(has(first, "applied "));
  EXPECT_TRUE(has(first, "queue default: 1 partitions\nqueue wide: 8 partitions\n"));
  const std::string second = must({"migrate"});
  EXPECT_EQ(
      second.rfind(
          "the schema is up to date (version " + std::to_string(db::kMigrations.size()) + ")\n", 0),
      0U)
      << second;
  must({"submit", "default", "t"});
}

TEST_F(AdminTest, MigrateAsJson) {
  configure(name_, server_.make_empty_database());
  const auto first = nlohmann::json::parse(must({"migrate", "--json"}));
  EXPECT_EQ(first.at("applied").size(), db::kMigrations.size()) << first;
  EXPECT_EQ(first.at("schema_version"), db::kMigrations.size());
  EXPECT_EQ(first.at("queues").at(1),
            nlohmann::json::parse(R"({"name": "wide", "partitions": 8, "partitions_configured": 8,
          "placement": "spread", "max_running": 1})"));
  const auto second = nlohmann::json::parse(must({"migrate", "--json"}));
  EXPECT_EQ(second.at("applied"), nlohmann::json::array());
}

TEST_F(AdminTest, TheDatabaseKeepsItsPartitions) {
  must({"migrate"});
  configure("partitions = 8", "partitions = 9");
  EXPECT_TRUE(has(
      must({"migrate"}),
      "queue wide: 8 partitions (the configuration says 9 partitions; the database decides)\n"));
  const auto queue = nlohmann::json::parse(must({"migrate", "--json"})).at("queues").at(1);
  EXPECT_EQ(queue.at("partitions"), 8) << queue;
  EXPECT_EQ(queue.at("partitions_configured"), 9) << queue;
}

TEST_F(AdminTest, MigrateLeavesANewerSchemaAlone) {
  observer_.execute("INSERT INTO allot_schema VALUES (9999, 'future', 0, UTC_TIMESTAMP(), 'x')");
  const std::string before = everything();
  const auto done = allot({"migrate"});
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_TRUE(has(done.err, "9999"));
  EXPECT_EQ(everything(), before);
}

// The worker program loads the plugins: its output and exit code are passed on.
TEST_F(AdminTest, PluginsAndCheckAreTheWorkersProgram) {
  const support::TempDir plugins;
  configure("[daemon]", "[plugins]\nfolder = \"" + plugins.path() + "\"\n[daemon]");
  EXPECT_TRUE(has(must({"plugins"}), "no plugins in " + plugins.path()));
  EXPECT_EQ(nlohmann::json::parse(must({"plugins", "--json"})), nlohmann::json::array());
  must({"check"});
  const std::string broken = plugins.write("broken.so", "no shared object");
  const auto listed = allot({"plugins"});
  EXPECT_EQ(listed.status.code, kExitConfig);
  EXPECT_TRUE(has(listed.out, broken));
  const auto json = nlohmann::json::parse(allot({"plugins", "--json"}).out);
  EXPECT_FALSE(json.at(0).at("refused").is_null()) << json;
  const auto checked = allot({"check"});
  EXPECT_EQ(checked.status.code, kExitConfig);
  EXPECT_TRUE(has(checked.err, broken));
}

// A supervisor's check answers on descriptor 7 and leaves a copy of the configuration on 9; a
// user's shell may have its own files there.
TEST_F(AdminTest, CheckWritesIntoNoFileOfItsCaller) {
  must({"migrate"});
  const support::TempDir files;
  configure("[daemon]", "[plugins]\nfolder = \"" + files.path() + "\"\n[daemon]");
  const auto checked = [&](const std::string& name) {
    const UniqueFd seven(::open((files / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const UniqueFd nine(::memfd_create("nine", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const auto done = allot({"check"}, {.descriptors = {{seven.get(), 7}, {nine.get(), 9}}});
    EXPECT_EQ(support::read_file(files / name), "");
    EXPECT_EQ(::fcntl(nine.get(), F_GET_SEALS), 0);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
    return done.status.code;
  };
  EXPECT_EQ(checked("good"), kExitOk);
  configure("partitions = 8", "partitions = 0");
  EXPECT_EQ(checked("refused"), kExitConfig);
}

TEST_F(AdminTest, AMistakeInASectionOfAPluginHasItsLine) {
  const support::TempDir plugins;
  std::filesystem::copy_file(ALLOT_EXEC_PLUGIN, plugins / "exec.so");
  must({"migrate"});
  configure("[daemon]", "[plugins]\nfolder = \"" + plugins.path() +
                            "\"\n[plugins.exec.types.mail.send]\n"
                            "command = [\"/bin/true\"]\n[daemon]");
  const auto dotted = allot({"check"});
  EXPECT_TRUE(has(dotted.err, config() + ":8: [plugins.exec.types.\"mail\"] a type with a dot "
                                         "needs quotes, as in [plugins.exec.types.\"mail.send\"]"));
  configure("mail.send]\ncommand", "\"mail.send\"]\ncomand");
  const auto check = allot({"check"});
  EXPECT_EQ(check.status.code, kExitConfig);
  EXPECT_TRUE(has(check.err, config() + ":9: [plugins.exec.types.\"mail.send\"] unknown key "
                                        "'comand'; did you mean 'command'?"));
  configure("comand = [\"/bin/true\"]", "environment = { A = \"1\" }");
  EXPECT_TRUE(
      has(allot({"plugins"}).out, config() + ":8: [plugins.exec.types.\"mail.send\"] command "));
}

// Root can reach everything, but the service account cannot.
TEST_F(AdminTest, CheckByRootSaysWhatTheServiceCannotReach) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another account";
  const support::TempDir plugins;
  std::filesystem::copy_file(ALLOT_EXEC_PLUGIN, plugins / "exec.so");
  const std::string systemctl = folder_.write(
      "systemctl", "#!/bin/sh\necho LoadState=loaded\necho User=nobody\necho ProtectHome=no\n");
  const std::string script = folder_.write("job.sh", "true\n");
  ::chmod(systemctl.c_str(), 0755);
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod(script.c_str(), 0600);
  must({"migrate"});
  configure("[daemon]", "[plugins]\nfolder = \"" + plugins.path() +
                            "\"\n[plugins.exec.types.t]\ncommand = [\"/bin/sh\", \"" + script +
                            "\"]\n[daemon]");
  const support::ProcessOptions unit{
      .environment = {"PATH=" + folder_.path() + ":" + std::getenv("PATH")}};
  const std::string says = config() + ":9: [plugins.exec.types.t] " + script +
                           ": the account 'nobody' of the service cannot use " + script;
  EXPECT_TRUE(has(allot({"check"}, unit).err, says));
  ::chmod(script.c_str(), 0644);
  EXPECT_FALSE(has(allot({"check"}, unit).err, "of the service"));
}

// Valid words that name missing things; `allot doctor` asks the same program.
TEST_F(AdminTest, CheckSaysWhichWordsNameNothing) {
  const support::TempDir plugins;
  std::filesystem::copy_file(ALLOT_EXEC_PLUGIN, plugins / "exec.so");
  std::filesystem::copy_file(ALLOT_PIPE_PLUGIN, plugins / "pipe.so");
  must({"migrate"});
  configure("[queues.default]",
            "[plugins]\nfolder = \"" + plugins.path() +
                "\"\n[plugins.exec.types.\"a.b\"]\ncommand = [\"/usr/bin/truee\", \"x\"]\n"
                "[plugins.exec.types.fine]\ncommand = [\"/bin/true\", \"/no/program\"]\n"
                "environment = { command = \"/nowhere\" }\n"
                "[plugins.exec.types.dir]\ncommand = [\"/usr/bin\"]\n"
                "[plugins.pipe.types.stays]\ncommand = [\"/usr/bin/pyhton3\", \"x.py\"]\n"
                "[plugins.pipe.programs.shop]\ncommand = [\"/no/php\"]\ntypes = [\"shop.*\"]\n"
                "[pools.default]\nqueues = [\"default\"]\n"
                "[queues.default]\non_dead = \"wid/alert\"\non_stuck = \"wide/alert\"");
  const auto check = nlohmann::json::parse(must({"check", "--json"}));
  std::vector<std::string> texts;
  for (const auto& warning : check.at("warnings")) {
    texts.push_back(warning.at("event").get<std::string>() + " " +
                    warning.at("text").get<std::string>());
  }
  const auto said = [&](const std::string& event, const std::string& text) {
    return std::count_if(texts.begin(), texts.end(), [&](const std::string& one) {
             return one.starts_with(event) && one.find(text) != std::string::npos;
           }) == 1;
  };
  EXPECT_TRUE(said("hook.unusable",
                   "[queues.default] on_dead names queue 'wid', which does not "
                   "exist; did you mean 'wide'?"))
      << check;
  EXPECT_TRUE(said("exec.no_program",
                   "[plugins.exec.types.\"a.b\"] /usr/bin/truee: No such file or directory"))
      << check;
  EXPECT_TRUE(said("exec.no_program", "[plugins.exec.types.dir] /usr/bin: no file")) << check;
  EXPECT_TRUE(said("pipe.no_program", "[plugins.pipe.types.stays] /usr/bin/pyhton3: No such file"))
      << check;
  EXPECT_TRUE(said("pipe.no_program", "[plugins.pipe.programs.shop] /no/php: No such file"))
      << check;
  EXPECT_TRUE(said("config.warning", "no pool of this daemon serves queue 'wide'")) << check;
  EXPECT_EQ(texts.size(), 6U) << check;
  const std::string doctor = must({"doctor"});
  for (const char* part : {"queue 'wid', which does not exist", "/usr/bin/truee: No such file",
                           "no pool of this daemon serves queue 'wide'"}) {
    EXPECT_TRUE(has(doctor, part));
  }
  observer_.execute("UPDATE queue SET placement = 'ordered' WHERE name = 'wide'");
  EXPECT_TRUE(has(must({"check", "--json"}), "on_stuck names queue 'wide', which is"));
}

TEST_F(AdminTest, CheckSaysThatTheDatabaseIsAway) {
  const support::TempDir plugins;
  configure("[daemon]", "[plugins]\nfolder = \"" + plugins.path() + "\"\n[daemon]");
  configure(server_.socket(), "/nonexistent");
  EXPECT_EQ(allot({"check"}).status.code, kExitUnavailable);
}

TEST_F(AdminTest, CheckAsJson) {
  const support::TempDir plugins;
  configure("[daemon]", "[plugins]\nfolder = \"" + plugins.path() + "\"\n[daemon]");
  const auto good = nlohmann::json::parse(must({"check", "--json"}));
  EXPECT_EQ(good.at("ok"), true);
  EXPECT_EQ(good.at("server"), "socket " + server_.socket());
  EXPECT_EQ(good.at("connections_needed"), 29U);  // four workers
  EXPECT_EQ(good.at("connections_allowed"), 151U);
  ASSERT_EQ(good.at("warnings").size(), 1U) << good;
  EXPECT_EQ(good.at("warnings").at(0).at("event"), "plugins.none");

  configure("[daemon]", "[daemon]\nnope = 1\nnix = 2");
  const auto done = allot({"check", "--json"});
  EXPECT_EQ(done.status.code, kExitConfig);
  const auto bad = nlohmann::json::parse(done.out);
  EXPECT_EQ(bad.at("ok"), false);
  EXPECT_EQ(bad.at("exit_code"), kExitConfig);
  EXPECT_EQ(bad.at("errors").size(), 2U) << bad;
  EXPECT_TRUE(bad.at("server").is_null());
  EXPECT_TRUE(has(done.err, "allot: " + config() + ":"));
}

// The limit of all accounts together, and the limit of an account.
TEST_F(AdminTest, CheckWarnsOfTooFewConnections) {
  const auto warning = [](const char* allowed) {
    return "allot: warning: this daemon may need 29 connections and the server allows " +
           std::string(allowed) + ": raise its max_connections";
  };
  const support::TempDir plugins;
  configure("[daemon]", "[plugins]\nfolder = \"" + plugins.path() + "\"\n[daemon]");
  observer_.execute("SET GLOBAL max_connections = 28");
  const auto few = allot({"check"});
  observer_.execute("SET GLOBAL max_connections = 29");
  const auto enough = allot({"check"});
  observer_.execute(
      "SET GLOBAL max_connections = 151; CREATE USER few@localhost WITH MAX_USER_CONNECTIONS 10;"
      "GRANT ALL ON " +
      name_ + ".* TO few@localhost");
  configure("\"root\"", "\"few\"");
  const auto mine = allot({"check"});
  observer_.execute("DROP USER few@localhost");
  EXPECT_TRUE(has(few.err, warning("28")));
  EXPECT_EQ(few.status.code, kExitOk);
  EXPECT_EQ(enough.err.find("connections"), std::string::npos) << enough.err;
  EXPECT_TRUE(has(mine.err, warning("10")));
}

TEST_F(AdminTest, AllOptionsReachTheWorkersProgram) {
  const support::TempDir libexec;
  const std::string script = libexec.write("allot-worker", "#!/bin/sh\necho \"$@\"\nexit 42\n");
  ASSERT_EQ(::chmod(script.c_str(), 0755), 0);
  const support::ProcessOptions options{.environment = {"ALLOT_LIBEXEC=" + libexec.path()}};
  const auto check = allot({"check", "--embedded", "some/dir"}, options);
  EXPECT_EQ(check.out, "--check all --config " + config() + " --embedded some/dir\n");
  EXPECT_EQ(check.status.code, 42);
  EXPECT_EQ(allot({"plugins", "--json"}, options).out,
            "--plugins --json --config " + config() + "\n");
  (void)libexec.write("allot-worker", "#!/bin/sh\nkill -PIPE $$\nexit 42\n");
  EXPECT_EQ(allot({"check"}, options).status.signal, SIGPIPE)
      << "neither ignored nor blocked across exec";
}

TEST_F(AdminTest, AnIncompleteInstallationIsNamed) {
  const auto done = allot({"check"}, {.environment = {"ALLOT_LIBEXEC=/nonexistent"}});
  EXPECT_EQ(done.status.code, kExitFailure);
  EXPECT_TRUE(has(done.err, "/nonexistent/allot-worker cannot be run: No such file"));
}

}  // namespace
}  // namespace allot::cli
