// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/architecture.h"

#include <elf.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>

namespace allot::plugin_host {
namespace {

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

}  // namespace

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

}  // namespace allot::plugin_host
