// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/transport.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <utility>

namespace allot::gateway::http {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;
using Tls = asio::ssl::stream<Socket&>;
using asio::use_awaitable;

constexpr std::size_t kOneRecord = std::size_t{16} << 10;  // of TLS

template <typename Stream>
Awaitable<std::size_t> read_from(Stream& stream, char* to, std::size_t space) {
  Code code;
  const std::size_t count = co_await stream.async_read_some(
      asio::buffer(to, space), asio::redirect_error(use_awaitable, code));
  co_return code ? 0 : count;
}

template <typename Stream>
Awaitable<bool> write_to(Stream& stream, std::string_view first, std::string_view second) {
  Code code;
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(first), asio::buffer(second)};
  co_await asio::async_write(stream, buffers, asio::redirect_error(use_awaitable, code));
  co_return !code;
}

// Asio sends each buffer as its own record, with its own system call.
Awaitable<bool> write_joined(Tls& stream, std::string_view first, std::string_view second) {
  std::string joined(first);
  joined += second;
  const bool sent = co_await write_to(stream, joined, {});
  co_return sent;
}

}  // namespace

struct Transport::Streams {
  Socket socket;
  std::unique_ptr<Tls> tls{};  // over the socket; nullptr: not encrypted
};

Transport::Transport(asio::io_context& io, asio::ssl::context* tls, UniqueFd fd, const Peer& peer) {
  const int family = peer.address.empty() ? AF_UNIX : AF_INET;
  Socket socket(io, asio::generic::stream_protocol(family, 0), fd.release());
  streams_ = std::make_unique<Streams>(Streams{std::move(socket)});
  if (peer.encrypted) streams_->tls = std::make_unique<Tls>(streams_->socket, *tls);
}
Transport::~Transport() = default;

Awaitable<bool> Transport::open() {
  if (streams_->tls == nullptr) co_return true;
  Code code;
  co_await streams_->tls->async_handshake(asio::ssl::stream_base::server,
                                          asio::redirect_error(use_awaitable, code));
  co_return !code;
}

Awaitable<std::size_t> Transport::read(char* to, std::size_t space) {
  if (streams_->tls != nullptr) return read_from(*streams_->tls, to, space);
  return drop(to, space);
}

Awaitable<bool> Transport::write(std::string_view first, std::string_view second) {
  if (streams_->tls == nullptr) return write_to(streams_->socket, first, second);
  if (first.size() + second.size() > kOneRecord) return write_to(*streams_->tls, first, second);
  return write_joined(*streams_->tls, first, second);
}

// With TLS it also waits for the peer's close_notify; the deadline of the phase limits that.
Awaitable<void> Transport::finish() {
  Code ignored;
  if (streams_->tls != nullptr) {
    co_await streams_->tls->async_shutdown(asio::redirect_error(use_awaitable, ignored));
  }
  streams_->socket.shutdown(Socket::shutdown_send, ignored);
}

Awaitable<std::size_t> Transport::drop(char* to, std::size_t space) {
  return read_from(streams_->socket, to, space);
}

UniqueFd Transport::release() {
  if (streams_->tls != nullptr) return {};
  Code code;
  const int fd = streams_->socket.release(code);
  return UniqueFd(code ? -1 : fd);
}

void Transport::cancel() {
  Code ignored;
  streams_->socket.cancel(ignored);
}

void Transport::close() {
  Code ignored;
  streams_->socket.close(ignored);
}

bool Transport::has_input() {
  Code code;
  return streams_->socket.available(code) > 0 && !code;
}

bool Transport::is_closed_by_peer() {
  pollfd state{streams_->socket.native_handle(), 0, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace allot::gateway::http
