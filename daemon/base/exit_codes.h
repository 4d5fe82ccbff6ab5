// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace allot {

// Exit codes of every program, after sysexits.h; docs/exit-codes.md explains them.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailure = 1,          // the operation was tried and failed; the message says why
  kExitUsage = 64,           // wrong command line
  kExitBadInput = 65,        // wrong payload, broken NDJSON line
  kExitNoInput = 66,         // a named input file cannot be read
  kExitUnavailable = 69,     // the database cannot be reached
  kExitSoftware = 70,        // a defect of Allot itself
  kExitCannotCreate = 73,    // a folder, file or socket cannot be created
  kExitOutcomeUnknown = 75,  // reply to a submission lost: the task may exist, but only once
  kExitConfig = 78,          // configuration, plugins, credentials or schema
};

}  // namespace allot
