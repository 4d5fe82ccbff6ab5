// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/access_check.h"

#include "trust/trust.h"

namespace allot::plugin_host {
namespace {

Refusal refusal_of(const trust::Flaw& flaw) {
  const bool file = flaw.role == trust::Role::kFile;
  switch (flaw.fault) {
    case trust::Fault::kOwner:
      return file ? Refusal::kFileOwner : Refusal::kFolderOwner;
    case trust::Fault::kWritable:
      return file ? Refusal::kWritableFile : Refusal::kWritableFolder;
    case trust::Fault::kMissing:
    case trust::Fault::kWrongKind:
    case trust::Fault::kOpen:
      break;
  }
  return Refusal::kNotAFile;
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

}  // namespace allot::plugin_host
