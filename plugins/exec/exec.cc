// SPDX-License-Identifier: Apache-2.0
//
// exec: runs a configured command for each task of a type. The payload is its standard input, the
// exit code its verdict. It uses no shell, and a payload never becomes an argument.
//
//   [plugins.exec.types."thumbs.make"]
//   command = ["/usr/local/bin/make-thumbs", "--size", "200"]
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "programs/process.h"
#include "programs/section.h"

namespace exec_plugin {
namespace {

using allot::UniqueFd;
using programs::above_those_of_programs;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick{100};  // interval of the stop check
constexpr std::size_t kMaxLogged = 4096;

// One command of the configuration.
struct Command {
  programs::Program program;  // its environment without the variables of the task
  std::map<int, int> codes;   // exit code -> ALLOT_SUCCESS, ALLOT_RETRY, ALLOT_FAIL
  int other_codes = ALLOT_RETRY;
  std::optional<std::chrono::milliseconds> timeout;                // after this time: TERM
  std::chrono::milliseconds kill_after = std::chrono::seconds(5);  // after TERM: KILL
  // Delay between a stop and TERM, in which most commands end by themselves.
  std::chrono::milliseconds stop_grace = std::chrono::seconds(15);
  bool keep_stdout = false;  // included in the error text; otherwise discarded
};

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
  section.refuse_unknown(programs::program_keys_and(
      {"success", "retry", "fail", "otherwise", "timeout", "kill_after", "stop_grace", "stdout"}));
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

// Reads all of [plugins.exec], by task type. Throws std::invalid_argument that names section and
// key, and the permitted values.
std::map<std::string, Command> read_commands(const allot::Config& config) {
  std::map<std::string, Command> commands;
  for (const programs::Section& section : programs::sections_of("exec", {"types"}, config)) {
    commands.emplace(section.name(), command_of(section));
  }
  return commands;
}

std::vector<std::string> variables(const allot::Context& ctx) {
  const auto text = [](const char* name, std::string_view value) {
    return std::string("ALLOT_TASK_") + name + "=" + std::string(value);
  };
  std::vector<std::string> all = {text("ID", ctx.id()), text("QUEUE", ctx.queue()),
                                  text("TYPE", ctx.type()),
                                  text("ATTEMPT", std::to_string(ctx.attempt())),
                                  text("MAX_ATTEMPTS", std::to_string(ctx.max_attempts()))};
  // Names defined by OpenTelemetry.
  if (!ctx.traceparent().empty()) all.push_back("TRACEPARENT=" + std::string(ctx.traceparent()));
  if (!ctx.tracestate().empty()) all.push_back("TRACESTATE=" + std::string(ctx.tracestate()));
  const auto left = ctx.time_left();
  if (left != std::chrono::nanoseconds::max()) {
    const auto ms = std::chrono::duration_cast<milliseconds>(left).count();
    all.push_back(text("TIME_LEFT_MS", std::to_string(ms)));
  }
  return all;
}

// The payload as a memory file, so that no thread must feed a pipe and the command may leave it
// unread.
UniqueFd file_of(std::string_view content) {
  UniqueFd file =
      above_those_of_programs(::memfd_create("allot-payload", MFD_CLOEXEC), "no memory file");
  for (std::size_t at = 0; at < content.size();) {
    const ssize_t put =
        ::pwrite(file.get(), content.data() + at, content.size() - at, static_cast<off_t>(at));
    if (put < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "the payload cannot be passed on");
    }
    if (put > 0) at += static_cast<std::size_t>(put);
  }
  return file;
}

// Runs one command to its end, with all time limits. SIGKILL ends it with this object, and with the
// thread that created it.
class Watch {
 public:
  // Throws std::system_error that names the failed step.
  Watch(const Command& command, allot::Context& ctx) : command_(command), ctx_(ctx) {
    const UniqueFd payload = file_of(ctx.payload());
    const UniqueFd nowhere =
        above_those_of_programs(::open("/dev/null", O_WRONLY | O_CLOEXEC), "/dev/null");
    programs::Pipe output = programs::make_pipe();
    const int out = command.keep_stdout ? output.write.get() : nowhere.get();
    process_.emplace(command.program, variables(ctx),
                     std::vector<int>{payload.get(), out, output.write.get()});
    output_ = programs::Output(std::move(output.read));
  }

  allot::Outcome run() {
    std::uint64_t said = 0;
    while (!wait()) {
      if (std::exchange(said, output_.bytes_read()) != output_.bytes_read()) ctx_.heartbeat();
      end_in_time();
    }
    const auto status = process_->reap();
    output_.drain();
    return outcome(status);
  }

 private:
  // Waits for its exit or output. True: it has exited.
  bool wait() {
    // Without a pidfd, polls every few milliseconds for the exit of the command.
    const int patience = process_->alive() >= 0 ? static_cast<int>(kTick.count()) : 5;
    pollfd events[] = {{output_.fd(), POLLIN, 0}, {process_->alive(), POLLIN, 0}};
    if (::poll(events, 2, patience) > 0 && events[0].revents != 0) (void)output_.read();
    return process_->ended();
  }

  void end_in_time() {
    const auto now = Clock::now();
    if (why_ == nullptr) {
      if (must_stop(now)) {
        why_ = "it was asked to stop";
        // A task that needs more than its time limit is retried with growing delays.
        if (ctx_.time_left().count() > 0) delay_ = milliseconds(0);
      } else if (command_.timeout && now - started_ >= *command_.timeout) {
        why_ = "its timeout expired";
      } else {
        return;
      }
      terminated_ = now;
      process_->signal(SIGTERM);
    } else if (now - terminated_ >= command_.kill_after) {
      process_->signal(SIGKILL);
    }
  }

  // Stops at once when the task's time is over; otherwise after a grace time, because most commands
  // soon end by themselves.
  bool must_stop(Clock::time_point now) {
    if (!ctx_.stop_requested()) return false;
    if (!stop_seen_) stop_seen_ = now;
    return ctx_.time_left().count() == 0 || now - *stop_seen_ >= command_.stop_grace;
  }

  [[nodiscard]] allot::Outcome outcome(std::optional<int> status) const {
    const std::string end = programs::how_it_ended(status);
    // Ignores the exit code, because a terminated program may exit with 0.
    if (why_ != nullptr) {
      return allot::retry(output_.behind(why_ + ("; " + end)), delay_);
    }
    int kind = ALLOT_RETRY;
    if (status && WIFEXITED(*status)) {
      const auto code = command_.codes.find(WEXITSTATUS(*status));
      kind = code == command_.codes.end() ? command_.other_codes : code->second;
    }
    if (kind != ALLOT_SUCCESS) return {kind, std::nullopt, end, output_.all()};
    const std::string said = output_.last(kMaxLogged);
    if (!said.empty()) ctx_.info(said);
    return allot::success();
  }

  const Command& command_;
  allot::Context& ctx_;
  const Clock::time_point started_ = Clock::now();
  std::optional<programs::Process> process_;
  programs::Output output_;
  const char* why_ = nullptr;  // why it was terminated
  std::optional<Clock::time_point> stop_seen_;
  Clock::time_point terminated_;
  std::optional<milliseconds> delay_;
};

class Exec : public allot::Handler {
 public:
  static std::vector<std::string> types(const allot::Config& config) {
    std::vector<std::string> types;
    for (const auto& [type, command] : read_commands(config)) types.push_back(type);
    return types;
  }

  explicit Exec(const allot::Config& config) : commands_(read_commands(config)) {}

  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.stop_requested()) return allot::retry("it was asked to stop", milliseconds(0));
    try {
      return Watch(*programs::find_by_type(commands_, ctx.type()), ctx).run();
    } catch (const std::system_error& error) {
      return allot::not_started(error.what());  // being replaced, or process table full
    }
  }

 private:
  std::map<std::string, Command> commands_;
};

ALLOT_CONFIGURED_HANDLER(Exec)
ALLOT_PLUGIN("exec", "0.1.0")

}  // namespace
}  // namespace exec_plugin
