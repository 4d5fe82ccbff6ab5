// SPDX-License-Identifier: Apache-2.0
#include "pipe/conversation.h"

#include <utility>

namespace pipe_plugin {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{100};  // interval of the stop check

}  // namespace

void await_hello(const Settings& settings, Child& child, const allot::Context& ctx) {
  const auto until = std::chrono::steady_clock::now() + settings.hello_timeout;
  for (;;) {
    if (const auto line = child.next_line()) {
      if (read_line(*line).kind == Said::Kind::kHello) return;
      throw BadLine("expected a hello line first");
    }
    if (child.gone()) throw Broken("it ended before its hello");
    if (ctx.stop_requested()) throw Stopped();
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      throw Broken("no hello within " + std::to_string(settings.hello_timeout.count()) + " ms");
    }
    child.wait(std::min(left, kTick));
  }
}

Conversation::Conversation(const Settings& settings, Child& child, const allot::Context& ctx)
    : settings_(settings), child_(child), ctx_(ctx), said_before_(child.bytes_said()) {}

allot::Outcome Conversation::run() {
  child_.send(task_line(ctx_));
  for (;;) {
    while (const auto line = child_.next_line()) {
      if (auto verdict = take(*line)) return std::move(*verdict);
    }
    if (child_.gone()) throw Broken("it ended during the task");
    child_.wait(kTick);
    const auto now = Clock::now();
    if (std::exchange(said_before_, child_.bytes_said()) != child_.bytes_said()) {
      ctx_.heartbeat();
      last_said_ = now;
    }
    pass_on_stop(now);
    end_in_time(now);
  }
}

std::optional<allot::Outcome> Conversation::take(const std::string& line) {
  Said said = read_line(line);
  if (said.kind == Said::Kind::kHello) throw BadLine("it sent a second hello");
  if (said.id != ctx_.id()) {
    throw BadLine("it names the task '" + said.id.substr(0, 40) + "', which is not running");
  }
  switch (said.kind) {
    case Said::Kind::kVerdict:
      last_ = said.last;
      return std::move(said.verdict);
    case Said::Kind::kLog:
      ctx_.log(said.level, said.text);
      break;
    case Said::Kind::kProgress:
      ctx_.progress(said.percent, said.text);
      break;
    case Said::Kind::kHello:
    case Said::Kind::kHeartbeat:
      break;
    case Said::Kind::kCheckpoint:
    case Said::Kind::kSubmit:
    case Said::Kind::kReplace:
      call(said);
  }
  return std::nullopt;
}

// Reports the result to the program, even for a lost lease: the program then ends soon, with any
// verdict.
void Conversation::call(Said& said) {
  try {
    if (!said.trouble.empty()) throw allot::CallError(ALLOT_BAD_INPUT, 0, said.trouble);
    std::vector<std::string> ids;
    if (said.kind == Said::Kind::kCheckpoint) ctx_.checkpoint(said.payload);
    if (said.kind == Said::Kind::kSubmit) ids = ctx_.submit_many(said.tasks);
    if (said.kind == Said::Kind::kReplace) ctx_.replace_with(said.tasks);
    child_.send(done_line(ctx_.id(), ids));
  } catch (const allot::CallError& error) {
    child_.send(refused_line(ctx_.id(), error));
  }
}

void Conversation::pass_on_stop(Clock::time_point now) {
  if (stop_seen_ || !ctx_.stop_requested()) return;
  stop_seen_ = now;
  if (why_ == nullptr) child_.send(stop_line(ctx_.id(), ctx_.stop_reason()));
}

// A verdict still counts until the program is killed.
void Conversation::end_in_time(Clock::time_point now) {
  if (why_ == nullptr) {
    if (stop_seen_ && ctx_.time_left().count() == 0) {
      must_end(now, "its time limit expired");
    } else if (settings_.timeout && now - started_ >= *settings_.timeout) {
      must_end(now, "its timeout expired");
    } else if (stop_seen_ && now - *stop_seen_ >= settings_.stop_grace) {
      throw Broken("it did not stop when asked to");
    }
  } else if (now - over_ >= settings_.kill_after) {
    throw Broken(why_);
  }
  if (settings_.progress_every && now - last_said_ >= *settings_.progress_every) {
    throw Broken("it sent nothing for " + std::to_string(settings_.progress_every->count()) +
                 " ms");
  }
}

void Conversation::must_end(Clock::time_point now, const char* why) {
  why_ = why;
  over_ = now;
  if (!stop_seen_) child_.send(stop_line(ctx_.id(), ALLOT_STOP_TIME_LIMIT));
}

}  // namespace pipe_plugin
