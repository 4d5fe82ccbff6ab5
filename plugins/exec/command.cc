// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include "programs/section.h"

namespace exec_plugin {
namespace {

constexpr int kTempFail = 75;  // EX_TEMPFAIL of sysexits.h

bool is_digits(const std::string& text) {
  return !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == text.npos;
}

int outcome_of(const programs::Section& section, const std::string& key, const std::string& word) {
  if (word == "success") return ALLOT_SUCCESS;
  if (word == "retry") return ALLOT_RETRY;
  if (word != "fail") section.fail(key + " must be \"success\", \"retry\" or \"fail\"");
  return ALLOT_FAIL;
}

std::map<int, int> codes_of(const programs::Section& section) {
  std::map<int, int> codes;
  for (const char* word : {"success", "retry", "fail"}) {
    for (const std::string& text : section.config().list(word)) {
      const int code = is_digits(text) ? std::stoi(text) : -1;
      if (code < 0 || code > 255) {
        section.fail(std::string(word) + ": '" + text + "' is not an exit code; they are 0 to 255");
      }
      const auto [at, is_new] = codes.emplace(code, outcome_of(section, word, word));
      if (!is_new && at->second != outcome_of(section, word, word)) {
        section.fail("exit code " + text + " is in two lists");
      }
    }
  }
  codes.emplace(0, ALLOT_SUCCESS);  // overridden by the section
  codes.emplace(kTempFail, ALLOT_RETRY);
  return codes;
}

Command command_of(const programs::Section& section) {
  section.refuse_unknown(
      {"success", "retry", "fail", "otherwise", "timeout", "kill_after", "stop_grace", "stdout"});
  Command command;
  command.program = section.program("ALLOT_TASK_");
  command.codes = codes_of(section);
  command.other_codes =
      outcome_of(section, "otherwise", section.config().get("otherwise", "retry"));
  command.timeout = section.duration("timeout");
  command.kill_after = section.duration("kill_after").value_or(command.kill_after);
  command.stop_grace = section.duration("stop_grace").value_or(command.stop_grace);
  const std::string to = section.config().get("stdout", "discard");
  if (to != "discard" && to != "error") {
    section.fail("stdout must be \"discard\" or \"error\"");
  }
  command.keep_stdout = to == "error";
  return command;
}

}  // namespace

std::map<std::string, Command> read_commands(const allot::Config& config) {
  std::map<std::string, Command> commands;
  for (const programs::Section& section : programs::sections_of("exec", {"types"}, config)) {
    commands.emplace(section.name(), command_of(section));
  }
  return commands;
}

}  // namespace exec_plugin
