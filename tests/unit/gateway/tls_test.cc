// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "support/certificates.h"
#include "support/eventually.h"
#include "support/http_client.h"
#include "support/process.h"
#include "unit/gateway/tiny_application.h"

namespace allot::test {
namespace {

// An encrypted connection over a plain client's descriptor.
class TlsClient {
 public:
  TlsClient(int port, const std::string& ca, int most_version = 0)
      : connection_(HttpClient::to_port(port)), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_load_verify_locations(context_.get(), ca.c_str(), nullptr);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_security_level(context_.get(), 0);
    if (most_version != 0) SSL_CTX_set_max_proto_version(context_.get(), most_version);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), connection_.fd());
    open_ = SSL_connect(ssl_.get()) == 1;
    ERR_clear_error();
  }

  [[nodiscard]] bool open() const { return open_; }
  [[nodiscard]] std::string version() const { return SSL_get_version(ssl_.get()); }
  void send(const std::string& bytes) {
    SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  // Reads until the server announces the end, or `text` has arrived.
  std::string until(const std::string& text) {
    std::string in;
    char buffer[4096];
    while (in.find(text) == std::string::npos) {
      const int count = SSL_read(ssl_.get(), buffer, sizeof buffer);
      if (count <= 0) break;
      in.append(buffer, static_cast<std::size_t>(count));
    }
    return in;
  }
  // True if the server announced the end, unlike a cut connection.
  bool ended_politely() {
    char byte = 0;
    const int count = SSL_read(ssl_.get(), &byte, 1);
    return count <= 0 && SSL_get_error(ssl_.get(), count) == SSL_ERROR_ZERO_RETURN;
  }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  HttpClient connection_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> ssl_;
  bool open_ = false;
};

class TlsTest : public testing::Test {
 protected:
  support::Authority authority_;
  support::Authority::Files files_ = authority_.issue("server", "DNS:localhost,IP:127.0.0.1");
  TinyApplication application_;
};

TEST_F(TlsTest, ServesManyRequests) {
  RunningServer server(application_, {}, {files_.cert, files_.key});
  TlsClient client(server.tls_port(), authority_.ca());
  ASSERT_TRUE(client.open());
  EXPECT_EQ(client.version(), "TLSv1.3");
  client.send(get("/peer"));
  EXPECT_NE(client.until("encrypted").find("127.0.0.1 none encrypted"), std::string::npos);
  client.send(get("/hello", "Connection: close\r\n"));
  EXPECT_NE(client.until("hello").find("Connection: close"), std::string::npos);
  EXPECT_TRUE(client.ended_politely());
}

TEST_F(TlsTest, ALargeAnswerIsWhole) {
  RunningServer server(application_, {}, {files_.cert, files_.key});
  TlsClient client(server.tls_port(), authority_.ca());
  client.send(get("/large", "Connection: close\r\n"));
  EXPECT_GT(client.until("never comes").size(), 8U * 1024 * 1024);
}

TEST_F(TlsTest, TakesNoOlderVersion) {
  RunningServer server(application_, {}, {files_.cert, files_.key});
  EXPECT_TRUE(TlsClient(server.tls_port(), authority_.ca(), TLS1_2_VERSION).open());
  EXPECT_FALSE(TlsClient(server.tls_port(), authority_.ca(), TLS1_1_VERSION).open());
}

TEST_F(TlsTest, AHandshakeThatDoesNotEndIsClosed) {
  http::Limits limits;
  limits.head_time = std::chrono::milliseconds(200);
  RunningServer server(application_, limits, {files_.cert, files_.key});
  auto silent = HttpClient::to_port(server.tls_port());
  EXPECT_TRUE(silent.is_closed());
}

TEST_F(TlsTest, PlainTextIsNotARequest) {
  RunningServer server(application_, {}, {files_.cert, files_.key});
  auto client = HttpClient::to_port(server.tls_port());
  client.send(get("/hello"));
  EXPECT_EQ(client.rest().find("hello"), std::string::npos);
  EXPECT_EQ(application_.answered(), 0);
}

TEST_F(TlsTest, AStopEndsAnIdleConnection) {
  RunningServer server(application_, {}, {files_.cert, files_.key});
  TlsClient client(server.tls_port(), authority_.ca());
  client.send(get("/hello"));
  client.until("hello");
  server.server().stop(std::chrono::minutes(10));
  EXPECT_TRUE(support::eventually([&] { return server.ended(); }));
}

TEST_F(TlsTest, FilesThatCannotBeUsedAreNamed) {
  const auto message_of = [&](const http::Tls& tls) -> std::string {
    try {
      const RunningServer server(application_, {}, tls);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), kExitConfig);
      return error.what();
    }
    return "no error";
  };
  const support::TempDir folder;
  const std::string empty = folder.write("empty.pem", "");
  EXPECT_NE(message_of({"/no/such.pem", files_.key}).find("/no/such.pem"), std::string::npos);
  EXPECT_NE(message_of({files_.cert, empty}).find("empty.pem"), std::string::npos);
  const auto other = authority_.issue("other", "DNS:other");
  EXPECT_NE(message_of({files_.cert, other.key}).find("other"), std::string::npos);
}

}  // namespace
}  // namespace allot::test
