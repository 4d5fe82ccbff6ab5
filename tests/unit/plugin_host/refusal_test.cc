// SPDX-License-Identifier: Apache-2.0
// A real file provokes each reason of Refusal.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/temp_dir.h"
#include "unit/plugin_host/fixture.h"

namespace allot::plugin_host {
namespace {

struct Refused {
  const char* folder;
  const char* file;
  Refusal refusal;
  const char* says;  // the part of the message with the fix
};

void PrintTo(const Refused& it, std::ostream* out) {
  *out << it.folder;
}

class RefusalTest : public testing::TestWithParam<Refused> {
 protected:
  [[nodiscard]] static std::string file() {
    return folder_of(GetParam().folder) + "/" + GetParam().file;
  }
  static void expect_message(const std::string& message) {
    const std::string start =
        "plugin " + file() + " refused (" + name_of(GetParam().refusal) + "): ";
    EXPECT_EQ(message.substr(0, start.size()), start);
    EXPECT_NE(message.find(GetParam().says, start.size()), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
};

TEST_P(RefusalTest, IsDescribedByFileReasonAndFix) {
  std::size_t refused = 0;
  for (const PluginFile& found : describe(folder_of(GetParam().folder))) {
    if (!found.refused) continue;
    ++refused;
    EXPECT_EQ(found.path, file());
    EXPECT_EQ(found.refused->refusal, GetParam().refusal);
    expect_message(refusal_line(found));
  }
  EXPECT_EQ(refused, 1U);
}

TEST_P(RefusalTest, FailsTheLoadByTheSameWords) {
  const auto error = load_failure(folder_of(GetParam().folder));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->exit_code(), kExitConfig);
  expect_message(error->what());
}

INSTANTIATE_TEST_SUITE_P(
    Files, RefusalTest,
    testing::Values(
        Refused{"not_a_file", "folder.so", Refusal::kNotAFile, "a plugin is a shared object"},
        Refused{"not_elf", "not_elf.so", Refusal::kCannotOpen, "invalid ELF header"},
        Refused{"undefined_symbol", "undefined_symbol.so", Refusal::kCannotOpen,
                "undefined symbol: allot_test_is_defined_nowhere; 'ldd -r FILE'"},
        Refused{"no_symbol", "no_symbol.so", Refusal::kNoSymbol, "include <allot/plugin.hpp>"},
        Refused{"no_description", "no_description.so", Refusal::kNoDescription,
                "return the plugin's"},
        Refused{"pre_release", "pre_release.so", Refusal::kPreRelease,
                "built for a pre-release Allot; rebuild it with the installed headers"},
        Refused{"wrong_magic", "wrong_magic.so", Refusal::kWrongMagic, "set magic ="},
        Refused{"too_new", "too_new.so", Refusal::kTooNew, "upgrade Allot"},
        Refused{"no_version", "no_version.so", Refusal::kNoVersion, "set abi_version ="},
        Refused{"short_plugin", "short_plugin.so", Refusal::kShortPlugin, "set struct_size ="},
        Refused{"bad_name", "bad_name.so", Refusal::kBadName, "'no spaces'; 1 to 63 of"},
        Refused{"no_handlers", "no_handlers.so", Refusal::kNoHandlers, "use ALLOT_HANDLER"},
        Refused{"null_handlers", "null_handlers.so", Refusal::kNoHandlers, "use ALLOT_HANDLER"},
        Refused{"null_handler", "null_handler.so", Refusal::kShortHandler, "handler 2 is null"},
        Refused{"short_handler", "short_handler.so", Refusal::kShortHandler, "set struct_size ="},
        Refused{"bad_type", "bad_type.so", Refusal::kBadType, "'a/b'; 1 to 127 of"},
        Refused{"empty_type", "empty_type.so", Refusal::kBadType, "''; 1 to 127 of"},
        Refused{"type_twice", "type_twice.so", Refusal::kTypeTwice,
                "'test.variant' is offered twice"},
        Refused{"no_run", "no_run.so", Refusal::kNoRun, "set run"},
        Refused{"type_taken", "type_taken_second.so", Refusal::kTypeTaken,
                "type_taken_first.so too; remove one of the two files"}),
    [](const auto& it) { return std::string(it.param.folder); });

TEST(Refusals, AConstructorThatThrowsIsFoundByLoadingOnly) {
  const auto files = describe(folder_of("init_fails"));
  ASSERT_EQ(files.size(), 1U);
  EXPECT_FALSE(files[0].refused) << "describing must start nothing (S30)";
  const auto error = load_failure(folder_of("init_fails"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->exit_code(), kExitConfig);
  EXPECT_EQ(std::string(error->what()),
            "plugin " + files[0].path +
                " refused (init failed): handler of 'test.needs_key': [plugins.init] key is not "
                "set");
}

TEST(Refusals, AConstructorThatThrowsAnIntIsNotACrash) {
  const auto error = load_failure(folder_of("init_fails"), {{"init", {{"key", "set"}}}});
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("'test.throws_int': the constructor threw an object"),
            std::string::npos)
      << error->what();
}

TEST(Refusals, ADanglingLinkSaysThatNothingIsThere) {
  const support::TempDir folder;
  std::filesystem::create_symlink(folder / "nowhere", folder / "link.so");
  const auto files = describe(folder.path());
  ASSERT_EQ(files.size(), 1U);
  ASSERT_TRUE(files[0].refused);
  EXPECT_EQ(files[0].refused->refusal, Refusal::kNotAFile);
}

// Opening a pipe would block the daemon's start for ever.
TEST(Refusals, APipeIsNotOpened) {
  const support::TempDir folder;
  ASSERT_EQ(::mkfifo((folder / "pipe.so").c_str(), 0600), 0);
  const auto files = describe(folder.path());
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].refused->refusal, Refusal::kNotAFile);
}

// The dynamic linker reports such a file as missing.
TEST(Refusals, AFileOfAnotherMachineSaysWhichOne) {
  const support::TempDir folder;
  std::string bytes = support::read_file(folder_of("good") + "/good.so");
  const auto refusal = [&](std::size_t at, char value) {
    std::string other = bytes;
    other.at(at) = value;
    (void)folder.write("other.so", other);
    const auto files = describe(folder.path());
    return files.at(0).refused ? files.at(0).refused->text : std::string("none");
  };
  const bool arm = static_cast<unsigned char>(bytes.at(18)) == EM_AARCH64;
  const auto machine = static_cast<char>(arm ? EM_RISCV : EM_AARCH64);
  const char* name = arm ? "RISC-V" : "AArch64";
  EXPECT_EQ(refusal(18, machine)
                .find("it is built for " + std::string(name) + ", 64 bits, and this machine is "),
            0U)
      << refusal(18, machine);
  EXPECT_NE(refusal(EI_CLASS, ELFCLASS32).find(", 32 bits, and this machine is "),
            std::string::npos)
      << refusal(EI_CLASS, ELFCLASS32);
}

TEST(Refusals, EachPluginHasItsLineAndTheGoodOnesNone) {
  const support::TempDir folder;
  for (const char* name : {"good", "wrong_magic", "no_run"}) {
    const std::string file = std::string(name) + ".so";
    std::filesystem::copy_file(folder_of(name) + "/" + file, folder / file);
  }
  const auto error = load_failure(folder.path());
  ASSERT_TRUE(error);
  const std::string message = error->what();
  EXPECT_EQ(message.find("good.so"), std::string::npos) << message;
  const auto first = message.find("no_run.so");
  const auto second = message.find("\nplugin " + (folder / "wrong_magic.so"));
  EXPECT_NE(first, std::string::npos) << message;
  EXPECT_NE(second, std::string::npos) << message;
  EXPECT_LT(first, second) << "in the order of their names";
}

}  // namespace
}  // namespace allot::plugin_host
