// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/unique_fd.h"
#include "gateway/http/application.h"
#include "gateway/http/awaitable.h"

namespace boost::asio {
class io_context;
namespace ssl {
class context;
}
}  // namespace boost::asio

namespace allot::gateway::http {

// The byte stream of a connection, encrypted or not. One operation of a kind at a time.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  // The handshake.
  virtual Awaitable<bool> open() = 0;
  // Number of bytes read; 0: the stream has ended.
  virtual Awaitable<std::size_t> read(char* to, std::size_t space) = 0;
  // Writes both texts.
  virtual Awaitable<bool> write(std::string_view first, std::string_view second) = 0;
  // Tells the peer that no more bytes follow.
  virtual Awaitable<void> finish() = 0;
  // After finish(): reads bytes that are not used. 0: the peer has closed its side.
  virtual Awaitable<std::size_t> drop(char* to, std::size_t space) = 0;
  // Releases the descriptor if it holds the whole state of the connection; otherwise returns none.
  virtual UniqueFd release() = 0;

  // Ends the operations in progress.
  virtual void cancel() = 0;
  virtual void close() = 0;
  // Whether received bytes have not been read.
  virtual bool has_input() = 0;
  // Whether the connection is reset, or closed in both directions.
  virtual bool is_closed_by_peer() = 0;
};

// `tls` is used if the peer's connection is encrypted.
std::unique_ptr<Transport> transport_of(boost::asio::io_context& io, boost::asio::ssl::context* tls,
                                        UniqueFd fd, const Peer& peer);

}  // namespace allot::gateway::http
