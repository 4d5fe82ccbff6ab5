// SPDX-License-Identifier: Apache-2.0
// Streams of lines.
#include <algorithm>
#include <utility>

#include "gateway/http/response_text.h"
#include "gateway/http/session.h"

namespace allot::gateway::http {
namespace {

constexpr std::size_t kMostBatch = std::size_t{1} << 20;

}  // namespace

// Passes lines on and sends the reports back, batch by batch. The next batch begins after the
// report on the previous one is sent: this limits the peer to the speed of the application, and a
// broken connection leaves at most one batch with an unknown outcome (S62).
Awaitable<bool> Session::stream_lines(RequestParser& parser, Admission admission,
                                      std::size_t most_line) {
  const auto question = std::make_shared<Question>(hold_);
  question->lines = std::move(admission.lines);
  const LinesHead head{std::move(admission.lines_type), is_1_1_, is_1_1_ && parser.keeps_alive()};
  std::string& body = parser.body();
  bool last = false;
  for (;;) {
    std::string lines;
    if (question->then != LineStream::Then::kRest) {
      const bool gathered = co_await gather_lines(parser, most_line);
      if (!gathered) co_return false;
      last = parser.done();
      const std::size_t whole = last ? body.size() : body.rfind('\n') + 1;
      lines = body.substr(0, whole);
      body.erase(0, whole);
      if (last) unread_ = false;
    }
    const bool stops = (state_.stopping || full_) && !last;
    hand_on(question, std::move(lines), last, stops);
    const bool in_time = co_await answered(question);
    if (!in_time) co_return false;
    held_by_lines_ = question->lines->held();
    const bool rest = question->then == LineStream::Then::kRest && !stops;
    const bool ends = !rest && (last || stops || question->then == LineStream::Then::kEnd);
    const bool sent = co_await write_lines(head, std::move(question->written), ends);
    if (!sent || (!ends && transport_.is_closed_by_peer())) co_return false;
    if (!ends) continue;
    question->lines.reset();
    if (last && head.keeps && (!state_.stopping || (is_kept() && in_.empty()))) co_return true;
    co_await linger();
    co_return false;
  }
}

// Reads until there is a whole line, or the end, and no more bytes are available; or until reading
// must stop.
Awaitable<bool> Session::gather_lines(RequestParser& parser, std::size_t most_line) {
  std::size_t searched = 0;
  bool whole = false;
  for (;;) {
    if (auto fault = use_body(parser)) co_return co_await refuse(fault->status, fault->title);
    const std::string& body = parser.body();
    whole = whole || body.find('\n', searched) != std::string::npos;
    searched = body.size();
    if (parser.done() || state_.stopping) co_return true;
    if (whole && (body.size() >= kMostBatch || !transport_.has_input())) co_return true;
    if (!whole && body.size() > most_line) co_return co_await refuse(413, too_large(most_line));
    if (!hold_->resize(here(parser) + held_by_lines_ + read_size_)) {
      full_ = !whole;  // whole lines are processed first
      if (full_) drop(parser);
      co_return true;
    }
    between_batches_ = true;
    const bool more = co_await await_lines(parser);
    between_batches_ = false;
    if (!more) co_return state_.stopping && !late_ && !cut_;
  }
}

// Between lines a stream may pause for the idle time of a connection between two requests.
Awaitable<bool> Session::await_lines(RequestParser& parser) {
  if (!parser.body().empty()) co_return co_await continue_body(parser);
  allow(state_.limits.idle_time);
  const bool more = co_await read_some(read_size_);
  if (!more && late_) co_await refuse(408, "no further lines arrived");
  co_return more;
}

void Session::hand_on(const std::shared_ptr<Question>& question, std::string lines, bool last,
                      bool stops) {
  auto written = [question, mailbox = state_.mailbox](std::string text, LineStream::Then then) {
    mailbox->post([question, text = std::move(text), then]() mutable {
      question->written = std::move(text);
      question->then = then;
      question->answered.open();
    });
  };
  if (stops) {
    question->lines->stop(full_ ? kNoRoom : "the gateway stops", std::move(written));
  } else {
    question->lines->take(std::move(lines), last, std::move(written));
  }
}

Awaitable<bool> Session::write_lines(const LinesHead& head, std::string text, bool last) {
  std::string out;
  if (!answer_begun_) {
    Response response{200, head.type};
    out = head_of(response, {head.chunked ? BodyForm::kChunked : BodyForm::kUntilEnd, !head.keeps});
  }
  answer_begun_ = answer_begun_ || last || !text.empty();
  if (!answer_begun_) co_return true;
  if (!text.empty()) out += head.chunked ? chunk_of(text) : text;
  if (last && head.chunked) out += kLastChunk;
  allow(state_.limits.answer_time);
  co_return co_await write(out, {});
}

}  // namespace allot::gateway::http
