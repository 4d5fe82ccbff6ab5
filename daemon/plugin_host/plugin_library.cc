// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/plugin_library.h"

#include <elf.h>

#include <array>
#include <boost/dll/shared_library.hpp>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trust/trust.h"

namespace allot::plugin_host {
namespace {

Refusal refusal_of(const trust::Flaw& flaw) {
  const bool file = flaw.role == trust::Role::kFile;
  if (flaw.fault == trust::Fault::kOwner) {
    return file ? Refusal::kFileOwner : Refusal::kFolderOwner;
  }
  if (flaw.fault != trust::Fault::kWritable) return Refusal::kNotAFile;
  return file ? Refusal::kWritableFile : Refusal::kWritableFolder;
}

// The first bytes of an ELF file, which all classes have in common.
struct Head {
  unsigned char ident[EI_NIDENT];
  std::uint16_t type;
  std::uint16_t machine;
};

std::optional<Head> head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, sizeof(Head)> bytes{};
  if (!file.read(bytes.data(), bytes.size())) return std::nullopt;
  Head head{};
  std::memcpy(&head, bytes.data(), sizeof head);
  if (std::memcmp(head.ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  const bool little = head.ident[EI_DATA] == ELFDATA2LSB;
  const auto low = static_cast<unsigned char>(bytes[little ? 18 : 19]);
  const auto high = static_cast<unsigned char>(bytes[little ? 19 : 18]);
  head.machine = static_cast<std::uint16_t>(low + high * 256U);
  return head;
}

std::string name_of(const Head& head) {
  constexpr std::array<std::pair<unsigned, const char*>, 9> kNames = {{{EM_386, "x86"},
                                                                       {EM_X86_64, "x86-64"},
                                                                       {EM_ARM, "ARM"},
                                                                       {EM_AARCH64, "AArch64"},
                                                                       {EM_RISCV, "RISC-V"},
                                                                       {EM_PPC64, "PowerPC"},
                                                                       {EM_S390, "S/390"},
                                                                       {EM_MIPS, "MIPS"},
                                                                       {258, "LoongArch"}}};
  std::string name = "ELF machine " + std::to_string(head.machine);
  for (const auto& [machine, text] : kNames) {
    if (machine == head.machine) name = text;
  }
  return name + (head.ident[EI_CLASS] == ELFCLASS32 ? ", 32 bits" : ", 64 bits") +
         (head.ident[EI_DATA] == ELFDATA2MSB ? ", big endian" : "");
}

// For a shared object of another machine than this one, which machine each of the two is: the
// dynamic linker only says that it cannot be opened, or does not exist. nullopt: the file is of
// this machine, or not a shared object.
std::optional<std::string> foreign_architecture(const std::string& path) {
  const auto its = head_of(path);
  const auto ours = head_of("/proc/self/exe");
  if (!its || !ours) return std::nullopt;
  const bool same = its->machine == ours->machine &&
                    its->ident[EI_CLASS] == ours->ident[EI_CLASS] &&
                    its->ident[EI_DATA] == ours->ident[EI_DATA];
  if (same) return std::nullopt;
  return "it is built for " + name_of(*its) + ", and this machine is " + name_of(*ours) +
         "; build it for this one";
}

// The list is never emptied, on purpose: see the header.
std::vector<boost::dll::shared_library>& opened() {
  static auto& libraries = *new std::vector<boost::dll::shared_library>;
  return libraries;
}

// The dynamic linker's own message. Boost wraps it, and adds a meaningless errno.
std::string linker_message(const std::string& boost_message) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  const auto before = boost_message.find(kBefore);
  const auto end = boost_message.rfind("): ");
  if (before == std::string::npos || end == std::string::npos) return boost_message;
  const auto begin = before + kBefore.size();
  return begin < end ? boost_message.substr(begin, end - begin) : boost_message;
}

}  // namespace

std::variant<std::string, Finding> trusted_file(const std::string& path) {
  const auto found = trust::resolve(path, trust::Role::kFile);
  const auto* const flaw = std::get_if<trust::Flaw>(&found);
  if (flaw == nullptr) return std::get<std::string>(found);
  const Refusal refusal = refusal_of(*flaw);
  const bool no_file = refusal == Refusal::kNotAFile;
  return Finding{refusal, flaw->text + (no_file ? "; a plugin is a shared object" : "")};
}

std::variant<const allot_plugin*, Finding> open_plugin(const std::string& path) {
  const auto trusted = trusted_file(path);
  if (const auto* finding = std::get_if<Finding>(&trusted)) return *finding;
  boost::dll::shared_library library;
  try {
    // Boost's default is lazy binding, which would find a missing function only inside a task.
    library.load(std::get<std::string>(trusted),
                 boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  } catch (const std::exception& thrown) {
    if (auto foreign = foreign_architecture(std::get<std::string>(trusted))) {
      return Finding{Refusal::kCannotOpen, std::move(*foreign)};
    }
    return Finding{Refusal::kCannotOpen,
                   linker_message(thrown.what()) + "; 'ldd -r FILE' shows what it needs"};
  }
  opened().push_back(library);
  if (!library.has(ALLOT_DESCRIBE_SYMBOL)) {
    return Finding{Refusal::kNoSymbol,
                   "no symbol " ALLOT_DESCRIBE_SYMBOL
                   "; include <allot/plugin.hpp>, or remove the file from the plugin folder"};
  }
  const auto describe = library.get<const allot_plugin*()>(ALLOT_DESCRIBE_SYMBOL);
  const allot_plugin* plugin = describe();
  if (auto finding = check_abi(plugin)) return *finding;
  return plugin;
}

}  // namespace allot::plugin_host
