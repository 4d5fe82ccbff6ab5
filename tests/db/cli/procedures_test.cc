// SPDX-License-Identifier: Apache-2.0
// Messages about stored procedures that callers cannot use, and the command that repairs them.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "db/cli/fixture.h"
#include "support/document.h"
#include "support/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class ProceduresTest : public OwnDatabaseTest {
 protected:
  ProceduresTest() {
    must({"migrate"});
    std::filesystem::create_directory(folder_ / "plugins");
    configure("[daemon]", "[plugins]\nfolder = \"plugins\"\n[daemon]");
  }
  ProceduresTest(const ProceduresTest&) = delete;
  ProceduresTest& operator=(const ProceduresTest&) = delete;
  ~ProceduresTest() override { observer_.execute("DROP USER IF EXISTS 'passing'@'%'"); }

  // Doctor's message about them, without the fix if all is well.
  std::string said() {
    const json report = json::parse(must({"doctor", "--json"}));
    for (const json& finding : report["findings"]) {
      if (finding["check"] != "procedures") continue;
      std::string text =
          finding["level"].get<std::string>() + " " + finding["text"].get<std::string>();
      if (!finding["fix"].is_null()) text += "; " + finding["fix"].get<std::string>();
      return text;
    }
    return "nothing";
  }
  std::string warned() { return allot({"check"}).err; }
  void drop_all() {
    auto all = observer_.execute(
        "SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()");
    while (const auto row = all.front().next()) {
      observer_.execute("DROP PROCEDURE " + std::string(row->text(0)));
    }
  }
  // Creates an account with the privileges of the role.
  void make_account(const std::string& role) {
    for (const std::string& sql : support::grants(role, name_)) {
      observer_.execute(support::replaced(sql, "allot_" + role, "passing"));
    }
  }

  const std::string good_ = "ok they belong to this version of Allot, and can be called";
};

TEST_F(ProceduresTest, MissingProceduresAreNamedUntilMigrateMakesThem) {
  EXPECT_EQ(said(), good_);
  EXPECT_FALSE(has(warned(), "procedures"));
  observer_.execute("DROP PROCEDURE allot_key");
  observer_.execute("DROP PROCEDURE allot_put");
  EXPECT_TRUE(has(said(), " are missing: allot_put, allot_key; run 'allot migrate'")) << said();
  EXPECT_TRUE(has(warned(), "warning: stored procedures: 2 of ")) << warned();
  const std::string made = must({"migrate"});
  EXPECT_TRUE(has(made, "created the stored procedures, because 2 of ")) << made;
  EXPECT_EQ(said(), good_);
  EXPECT_FALSE(has(must({"migrate"}), "procedures"));
}

TEST_F(ProceduresTest, ADumpWithoutThemIsSaid) {
  drop_all();
  EXPECT_EQ(said(), "warn none exist, so every CALL fails; run 'allot migrate'");
  must({"migrate"});
  EXPECT_EQ(said(), good_);
}

TEST_F(ProceduresTest, ProceduresOfAnotherBuildAreReported) {
  observer_.execute("ALTER PROCEDURE allot_submit COMMENT 'Allot: procedures 1'");
  EXPECT_TRUE(said().starts_with("warn they belong to another version of Allot (")) << said();
  EXPECT_TRUE(has(warned(), "; run 'allot migrate'")) << warned();
  const json report = json::parse(must({"migrate", "--json"}));
  EXPECT_TRUE(has(report["procedures_created"], "they belong to another version of Allot"))
      << report;
  EXPECT_EQ(said(), good_);
  EXPECT_TRUE(json::parse(must({"migrate", "--json"}))["procedures_created"].is_null());
}

TEST_F(ProceduresTest, ADefinerThatIsGoneIsNamed) {
  make_account("migrate");
  drop_all();  // on MySQL only an account like root may replace root's procedures
  configure("user = \"root\"", "user = \"passing\"\npassword = \"change-me\"");
  EXPECT_TRUE(has(must({"migrate"}), "created the stored procedures, because none existed"));
  EXPECT_EQ(said(), good_);
  configure("user = \"passing\"\npassword = \"change-me\"", "user = \"root\"");
  EXPECT_EQ(said(), good_) << "with any definer";
  observer_.execute("DROP USER 'passing'@'%'");
  EXPECT_EQ(
      said(),
      "warn their definer passing@% does not exist, so every CALL fails; run 'allot migrate', "
      "whose account becomes their definer");
  EXPECT_TRUE(has(warned(), "their definer passing@% does not exist")) << warned();
  EXPECT_TRUE(
      has(must({"migrate"}), "created the stored procedures, because their definer is passing@%"));
  EXPECT_EQ(said(), good_);
}

TEST_F(ProceduresTest, AnAccountThatCannotSeeThemGetsTheMissingRight) {
  make_account("worker");
  configure("user = \"root\"", "user = \"passing\"\npassword = \"change-me\"");
  EXPECT_EQ(said(), good_);
  observer_.execute("REVOKE EXECUTE ON " + name_ + ".* FROM 'passing'@'%'");
  EXPECT_TRUE(said().starts_with("warn this account has no right to see them: ")) << said();
  EXPECT_TRUE(has(said(), "GRANT EXECUTE ON `" + name_ + "`.* TO 'passing'@'%'")) << said();
}

}  // namespace
}  // namespace allot::cli
