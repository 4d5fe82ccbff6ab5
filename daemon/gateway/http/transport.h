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
  // `tls` is used if the peer's connection is encrypted.
  Transport(boost::asio::io_context& io, boost::asio::ssl::context* tls, UniqueFd fd,
            const Peer& peer);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport();

  // The handshake.
  Awaitable<bool> open();
  // Number of bytes read; 0: the stream has ended.
  Awaitable<std::size_t> read(char* to, std::size_t space);
  // Writes both texts.
  Awaitable<bool> write(std::string_view first, std::string_view second);
  // Tells the peer that no more bytes follow.
  Awaitable<void> finish();
  // After finish(): reads bytes that are not used. 0: the peer has closed its side.
  Awaitable<std::size_t> drop(char* to, std::size_t space);
  // Releases the descriptor if it holds the whole state of the connection; otherwise returns none.
  UniqueFd release();

  // Ends the operations in progress.
  void cancel();
  void close();
  // Whether received bytes have not been read.
  bool has_input();
  // Whether the connection is reset, or closed in both directions.
  bool is_closed_by_peer();

 private:
  struct Streams;
  std::unique_ptr<Streams> streams_;
};

}  // namespace allot::gateway::http
