// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/refusal.h"

namespace allot::plugin_host {

const char* name_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNotAFile:
      return "not a file";
    case Refusal::kWritableFile:
      return "world-writable file";
    case Refusal::kFileOwner:
      return "wrong owner";
    case Refusal::kWritableFolder:
      return "world-writable folder";
    case Refusal::kFolderOwner:
      return "wrong owner of the folder";
    case Refusal::kCannotOpen:
      return "cannot be opened";
    case Refusal::kNoSymbol:
      return "missing symbol";
    case Refusal::kNoDescription:
      return "no description";
    case Refusal::kPreRelease:
      return "pre-release ABI";
    case Refusal::kWrongMagic:
      return "wrong magic";
    case Refusal::kTooNew:
      return "ABI too new";
    case Refusal::kNoVersion:
      return "no ABI version";
    case Refusal::kShortPlugin:
      return "description too small";
    case Refusal::kBadName:
      return "bad plugin name";
    case Refusal::kNoHandlers:
      return "no handlers";
    case Refusal::kShortHandler:
      return "handler too small";
    case Refusal::kBadType:
      return "bad type";
    case Refusal::kTypeTwice:
      return "duplicate type";
    case Refusal::kNoRun:
      return "missing run function";
    case Refusal::kTypeTaken:
      return "type taken";
    case Refusal::kBadConfig:
      return "bad configuration";
    case Refusal::kInitFailed:
      return "init failed";
    case Refusal::kCrashes:
      return "crashes";
    case Refusal::kHangs:
      return "hangs";
  }
  return "unknown";
}

}  // namespace allot::plugin_host
