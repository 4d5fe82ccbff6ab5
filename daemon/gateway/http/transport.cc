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

// Operations of the socket below both kinds of streams.
class SocketTransport : public Transport {
 public:
  Awaitable<std::size_t> drop(char* to, std::size_t space) override {
    return read_from(socket(), to, space);
  }

  UniqueFd release() override { return {}; }

  void cancel() override {
    Code ignored;
    socket().cancel(ignored);
  }

  void close() override {
    Code ignored;
    socket().close(ignored);
  }

  bool has_input() override {
    Code code;
    return socket().available(code) > 0 && !code;
  }

  bool is_closed_by_peer() override {
    pollfd state{socket().native_handle(), 0, 0};
    return poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
  }

 protected:
  virtual Socket& socket() = 0;
};

class PlainTransport : public SocketTransport {
 public:
  explicit PlainTransport(Socket socket) : socket_(std::move(socket)) {}

  Awaitable<bool> open() override { co_return true; }

  Awaitable<std::size_t> read(char* to, std::size_t space) override {
    return read_from(socket_, to, space);
  }

  Awaitable<bool> write(std::string_view first, std::string_view second) override {
    return write_to(socket_, first, second);
  }

  Awaitable<void> finish() override {
    Code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    co_return;
  }

  UniqueFd release() override {
    Code code;
    const int fd = socket_.release(code);
    return UniqueFd(code ? -1 : fd);
  }

 private:
  Socket& socket() override { return socket_; }

  Socket socket_;
};

class TlsTransport : public SocketTransport {
 public:
  TlsTransport(Socket socket, asio::ssl::context& context) : stream_(std::move(socket), context) {}

  Awaitable<bool> open() override {
    Code code;
    co_await stream_.async_handshake(asio::ssl::stream_base::server,
                                     asio::redirect_error(use_awaitable, code));
    co_return !code;
  }

  Awaitable<std::size_t> read(char* to, std::size_t space) override {
    return read_from(stream_, to, space);
  }

  Awaitable<bool> write(std::string_view first, std::string_view second) override {
    if (first.size() + second.size() > kOneRecord) {
      const bool sent = co_await write_to(stream_, first, second);
      co_return sent;
    }
    // Asio sends each buffer as its own record, with its own system call.
    std::string joined(first);
    joined += second;
    const bool sent = co_await write_to(stream_, joined, {});
    co_return sent;
  }

  // Also waits for the peer's close_notify; the deadline of the phase limits that.
  Awaitable<void> finish() override {
    Code ignored;
    co_await stream_.async_shutdown(asio::redirect_error(use_awaitable, ignored));
    socket().shutdown(Socket::shutdown_send, ignored);
  }

 private:
  Socket& socket() override { return stream_.next_layer(); }

  asio::ssl::stream<Socket> stream_;
};

}  // namespace

std::unique_ptr<Transport> transport_of(asio::io_context& io, asio::ssl::context* tls, UniqueFd fd,
                                        const Peer& peer) {
  const int family = peer.address.empty() ? AF_UNIX : AF_INET;
  Socket socket(io, asio::generic::stream_protocol(family, 0), fd.release());
  if (peer.encrypted) return std::make_unique<TlsTransport>(std::move(socket), *tls);
  return std::make_unique<PlainTransport>(std::move(socket));
}

}  // namespace allot::gateway::http
