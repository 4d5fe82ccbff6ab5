// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include <Poco/Exception.h>
#include <Poco/MemoryStream.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/StreamSocket.h>
#include <Poco/Net/StreamSocketImpl.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "body_reader.h"
#include "trouble.h"

namespace http_plugin {
namespace {

namespace net = Poco::Net;

constexpr int kMaxFields = 100;
constexpr std::size_t kMaxHead = std::size_t{64} << 10;
constexpr std::size_t kSentTogether = std::size_t{64} << 10;  // head and body in one packet

}  // namespace

Connection::Connection(UniqueFd socket) {
  UniqueFd other(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (other.get() < 0) throw Trouble(std::string("no descriptor: ") + std::strerror(errno));
  handle_ = std::make_shared<const UniqueFd>(std::move(other));
  socket_ = std::make_unique<net::StreamSocket>(new net::StreamSocketImpl(socket.release()));
}

// Shuts the socket down first: the TLS close would wait for a peer that does not read.
Connection::~Connection() {
  ::shutdown(handle_->get(), SHUT_RDWR);
}

void Connection::secure(const Tls& tls) {
  *socket_ = tls.secured(*socket_);
}

void Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const int sent = socket_->sendBytes(bytes.data(), static_cast<int>(bytes.size()));
    if (sent <= 0) throw net::NetException("it does not accept data");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool Connection::fill() {
  if (at_ < filled_) return true;
  const int got = socket_->receiveBytes(buffer_.data(), static_cast<int>(buffer_.size()));
  at_ = 0;
  filled_ = got > 0 ? static_cast<std::size_t>(got) : 0;
  return filled_ > 0;
}

std::size_t Connection::take(char* to, std::size_t size) {
  if (!fill()) return 0;
  const std::size_t taken = buffer_.copy(to, std::min(size, filled_ - at_), at_);
  at_ += taken;
  return taken;
}

bool Connection::is_quiet() const {
  pollfd event = {handle_->get(), POLLIN, 0};
  return ::poll(&event, 1, 0) == 0;
}

// Returns the reason if the request was not sent completely. There may be an answer all the same,
// if the target refuses the body.
std::string Connection::send(const std::string& head, std::string_view body) {
  try {
    if (body.size() <= kSentTogether) {
      std::string together;
      together.reserve(head.size() + body.size());
      write(together.append(head).append(body));
    } else {
      write(head);
      write(body);
    }
    return {};
  } catch (const Poco::Exception& error) {
    return error.displayText();
  }
}

void Connection::read_body(Answer& answer, bool chunked, long long length) {
  BodyReader reader([this](char* to, std::size_t size) { return take(to, size); }, kMaxAnswer,
                    answer.body);
  if (answer.status == 204 || answer.status == 304) return;
  if (chunked) {
    answer.is_whole = reader.chunks();
  } else if (length >= 0) {
    answer.is_whole = reader.exactly(static_cast<unsigned long long>(length));
  } else {
    answer.is_whole = reader.to_the_end();
    answer.ends_with_connection = true;
    may_be_kept_ = false;
  }
}

// Passes only complete heads to the library, which accepts truncated ones. False: the peer closed
// the connection before the end of a head.
bool Connection::read_head(std::string& head) {
  head.clear();
  std::size_t line = 0;  // its length so far
  while (head.size() < kMaxHead) {
    if (!fill()) {
      if (heard_) throw Trouble("the answer broke off");
      return false;
    }
    heard_ = true;
    const char c = buffer_[at_++];
    head += c;
    if (c == '\n' && line == 0) return true;
    if (c == '\n') {
      line = 0;
    } else if (c != '\r') {
      ++line;
    }
  }
  throw Trouble("the answer has a head of more than 64 KiB");
}

// Reads the answer and skips interim (1xx) answers.
Answer Connection::read_answer() {
  std::string head;
  net::HTTPResponse response;
  response.setFieldLimit(kMaxFields);
  do {
    if (!read_head(head)) throw Trouble("the target ended the connection without an answer");
    Poco::MemoryInputStream in(head.data(), static_cast<std::streamsize>(head.size()));
    response.clear();
    response.read(in);
  } while (response.getStatus() < 200 && response.getStatus() != 101);
  Answer answer;
  answer.status = response.getStatus();
  if (answer.status == 101) throw Trouble("the target answers 101, which was not requested");
  answer.retry_after = response.get("Retry-After", "");
  answer.date = response.get("Date", "");
  answer.location = response.get("Location", "");
  const bool chunked = response.getChunkedTransferEncoding();
  if (response.has("Transfer-Encoding") && !chunked) {
    throw Trouble("the target answers in a Transfer-Encoding that was not requested");
  }
  const bool has_length = response.hasContentLength();
  const long long length = has_length ? response.getContentLength64() : -1;
  if (has_length && length < 0) throw Trouble("the answer has a wrong Content-Length");
  may_be_kept_ = response.getKeepAlive() && !(chunked && has_length);
  status_ = answer.status;
  read_body(answer, chunked, length);
  return answer;
}

Answer Connection::ask(const std::string& head, std::string_view body) {
  heard_ = may_be_kept_ = false;
  status_ = 0;
  const std::string unsent = send(head, body);
  std::string trouble;
  try {
    Answer answer = read_answer();
    may_be_kept_ = may_be_kept_ && unsent.empty() && answer.is_whole && at_ == filled_;
    return answer;
  } catch (const Poco::Exception& error) {
    ERR_clear_error();  // otherwise the next OpenSSL call in this thread reports it
    trouble = (heard_ ? "the answer broke off: " : "no answer: ") + error.displayText();
  } catch (const Trouble& error) {
    trouble = error.what();
  }
  may_be_kept_ = false;
  const auto failed = Trouble::Kind::kFailed;
  if (unsent.empty()) throw Trouble(trouble, failed, status_);
  throw Trouble("the request could not be sent: " + unsent + "; " + trouble, failed, status_);
}

}  // namespace http_plugin
