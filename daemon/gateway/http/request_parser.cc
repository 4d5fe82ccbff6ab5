// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <functional>
#include <limits>
#include <utility>

#include "base/utf8.h"

namespace allot::gateway::http {
namespace {

namespace beast = boost::beast;
using beast::http::error;
using Code = beast::error_code;

// Far above the need of any client: chunk extensions have no meaning here.
constexpr std::size_t kMostExtension = 128;
// Limit of unconsumed bytes: a chunk's size with its extensions, or all the trailers.
constexpr std::size_t kMostUnread = std::size_t{4} << 10;

// Length of the shortest chunked body, "0\r\n\r\n". In Beast 1.74 an assertion fails if a first
// chunk that is also the last arrives in shorter pieces.
constexpr std::size_t kLeastChunk = 5;

// A body appended to a string, which its owner may empty at any time.
struct DrainedBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool is_request, class Fields>
    reader(beast::http::header<is_request, Fields>& /*head*/, value_type& body) : body_(body) {}

    static void init(const boost::optional<std::uint64_t>& /*length*/, Code& code) { code = {}; }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, Code& code) {
      code = {};
      std::size_t size = 0;
      for (auto each = boost::asio::buffer_sequence_begin(buffers);
           each != boost::asio::buffer_sequence_end(buffers); ++each) {
        body_.append(static_cast<const char*>(each->data()), each->size());
        size += each->size();
      }
      return size;
    }

    static void finish(Code& code) { code = {}; }

   private:
    value_type& body_;
  };
};

HeadFault fault_of(const Code& code) {
  if (code == error::body_limit) return {413, "the body exceeds the limit of this route"};
  if (code == error::bad_chunk_extension) return {400, "a chunk extension is invalid or too long"};
  return {400, "the request is not HTTP/1.1: " + code.message()};
}

}  // namespace

struct RequestParser::State {
  bool chunk_begun = false;
  std::function<void(std::uint64_t, beast::string_view, Code&)> on_chunk =
      [this](std::uint64_t /*size*/, beast::string_view extension, Code& code) {
        chunk_begun = true;
        // Beast 1.74 searches a quoted value only for its closing quote, so a line end may be
        // inside. Other parsers start the chunk at that line end.
        const bool two_lines = extension.find_first_of("\r\n") != beast::string_view::npos;
        if (two_lines || extension.size() > kMostExtension) code = error::bad_chunk_extension;
      };
  beast::http::request_parser<DrainedBody> parser{};
};

RequestParser::RequestParser() : state_(std::make_unique<State>()) {
  // The connection has already limited the head.
  state_->parser.header_limit(64 * 1024);
  // "No limit" refuses every Content-Length in Boost 1.74.
  state_->parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  state_->parser.on_chunk_header(state_->on_chunk);
}
RequestParser::~RequestParser() = default;

std::optional<HeadFault> RequestParser::read_head(std::string_view head) {
  Code code;
  const std::size_t used = state_->parser.put(boost::asio::buffer(head.data(), head.size()), code);
  // A head that the two parsers read differently is refused.
  if (code && code != error::need_more) return fault_of(code);
  if (!state_->parser.is_header_done() || used != head.size()) {
    return HeadFault{400, "the head ends at an unexpected place"};
  }
  state_->parser.eager(true);
  return {};
}

Head RequestParser::take_head() {
  Head head;
  const auto& message = state_->parser.get();
  const beast::string_view method = message.method_string();
  const beast::string_view target = message.target();
  head.method.assign(method.data(), method.size());
  const std::size_t path_end = std::min(target.find('?'), target.size());
  head.path = std::string(target.substr(0, path_end));
  if (path_end < target.size()) head.query = std::string(target.substr(path_end + 1));
  for (const auto& each : message) {
    const beast::string_view name = each.name_string();
    head.fields.push_back({lower({name.data(), name.size()}), std::string(each.value())});
  }
  return head;
}

bool RequestParser::is_1_1() const {
  return state_->parser.get().version() == 11;
}
bool RequestParser::keeps_alive() const {
  return state_->parser.keep_alive();
}
bool RequestParser::expects_continue() const {
  return is_1_1() && state_->parser.get().count(beast::http::field::expect) != 0;
}

std::optional<std::uint64_t> RequestParser::content_length() const {
  if (state_->parser.chunked()) return {};
  return state_->parser.content_length().value_or(0);
}

bool RequestParser::done() const {
  return state_->parser.is_done();
}
void RequestParser::bound_body(std::uint64_t bytes) {
  state_->parser.body_limit(bytes);
}

RequestParser::Step RequestParser::read_body(std::string_view bytes) {
  Step step;
  while (!state_->parser.is_done() && step.used < bytes.size()) {
    Code code;
    const auto rest = bytes.substr(step.used);
    if (state_->parser.chunked() && !state_->chunk_begun && rest.size() < kLeastChunk) break;
    const std::size_t used =
        state_->parser.put(boost::asio::buffer(rest.data(), rest.size()), code);
    step.used += used;
    if (code && code != error::need_more) {
      step.fault = fault_of(code);
      return step;
    }
    if (used == 0) break;
  }
  if (!state_->parser.is_done() && bytes.size() - step.used > kMostUnread) {
    step.fault = HeadFault{400, "a chunk extension or the trailer section is too long"};
  }
  return step;
}

std::string& RequestParser::body() {
  return state_->parser.get().body();
}

}  // namespace allot::gateway::http
