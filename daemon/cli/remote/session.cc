// SPDX-License-Identifier: Apache-2.0
#include "cli/remote/session.h"

#include <Poco/Exception.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/HTTPSClientSession.h>
#include <Poco/Net/SSLException.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Net/StreamSocket.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "base/error.h"
#include "config/check.h"
#include "db/distrust.h"
#include "json/printable.h"
#include "json/task_reader.h"

namespace allot::cli::remote {
namespace {

using nlohmann::json;
namespace net = Poco::Net;
using operations::Document;
using operations::kDamage;

// Payloads, and pages of a thousand tasks with 4 KiB of text each, are smaller.
constexpr std::size_t kMostAnswer = std::size_t{64} << 20;
constexpr std::size_t kAskedFirst = std::size_t{1} << 20;
constexpr std::size_t kShown = 300;
constexpr int kMostFields = 100;
const Poco::Timespan kConnect(10, 0);
const Poco::Timespan kSend(30, 0);
const Poco::Timespan kReceive(90, 0);  // a large transaction takes its time

std::string name_of(const Address& address) {
  if (!address.socket.empty()) return "the gateway at " + address.socket;
  return "the gateway " + std::string(address.tls ? "https://" : "http://") + address.host + ":" +
         std::to_string(address.port);
}

[[noreturn]] void refuse_stranger(const Address& address, const std::string& why) {
  throw Error(name_of(address) + " did not answer like an Allot gateway (" +
                  as_json::printable(why, kShown) + "): is the address right?",
              kExitConfig);
}

// Reason why the handshake of this thread failed: Poco reports only that it failed.
thread_local int t_distrust = X509_V_OK;

int note_distrust(int is_fine, X509_STORE_CTX* store) {
  if (is_fine == 0) t_distrust = X509_STORE_CTX_get_error(store);
  return is_fine;
}

// Compares the name during the handshake, where the failure has an error number.
void expect_name(SSL_CTX* context, const std::string& host) {
  X509_VERIFY_PARAM* const wanted = SSL_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1) return;
  X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), 0);
}

net::Context::Ptr context_with(const std::string& host, const std::string& ca_file) {
  try {
    // Strict: the name is also checked for this host's own names.
    net::Context::Ptr context = new net::Context(net::Context::TLS_CLIENT_USE, ca_file,
                                                 net::Context::VERIFY_STRICT, 9, ca_file.empty());
    context->requireMinimumProtocol(net::Context::PROTO_TLSV1_2);
    SSL_CTX_set_verify(context->sslContext(), SSL_VERIFY_PEER, &note_distrust);
    expect_name(context->sslContext(), host);
    return context;
  } catch (const Poco::Exception& error) {
    throw Error("--ca-file " + ca_file + ": " + error.displayText(), kExitNoInput);
  }
}

std::unique_ptr<net::HTTPClientSession> connection_to(const Address& address,
                                                      const std::string& ca_file) {
  std::unique_ptr<net::HTTPClientSession> session;
  if (!address.socket.empty()) {
    net::StreamSocket socket;
    socket.connect(net::SocketAddress(net::SocketAddress::UNIX_LOCAL, address.socket), kConnect);
    session = std::make_unique<net::HTTPClientSession>(socket);
  } else if (address.tls) {
    session = std::make_unique<net::HTTPSClientSession>(address.host, address.port,
                                                        context_with(address.host, ca_file));
  } else {
    session = std::make_unique<net::HTTPClientSession>(address.host, address.port);
  }
  session->setTimeout(kConnect, kSend, kReceive);
  return session;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

constexpr std::size_t kMostToken = 4096;

// An invalid byte could begin another field of the request.
std::string checked(std::string token, const std::string& from) {
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  token.erase(0, token.find_first_not_of(" \t\r\n"));
  if (token.empty()) throw Error(from + " has no token", kExitConfig);
  bool good = token.size() <= kMostToken;
  for (const char c : token) good = good && c > ' ' && c < '\x7f';
  if (good) return token;
  throw Error(from + " is not a token: write one word, as printed by allot gateway token",
              kExitConfig);
}

std::string in_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostToken + 2, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) {
    throw Error("token file " + path + ": cannot be read: " + std::strerror(errno), kExitNoInput);
  }
  const std::string shared = config::shared_secret("token", path);
  if (!shared.empty()) std::fprintf(stderr, "allot: warning: %s\n", shared.c_str());
  text.resize(static_cast<std::size_t>(file.gcount()));
  return checked(std::move(text), "token file " + path);
}

// The token in the file, else in the file that $ALLOT_TOKEN_FILE names, else in $ALLOT_TOKEN;
// empty: none is given. Never an argument, which every user of the host can see. Warns if other
// users may read the file.
std::string read_token(const std::string& file) {
  if (!file.empty()) return in_file(file);
  if (const std::string named = variable("ALLOT_TOKEN_FILE"); !named.empty()) return in_file(named);
  const std::string token = variable("ALLOT_TOKEN");
  return token.empty() ? token : checked(token, "$ALLOT_TOKEN");
}

// False: the response ended early.
bool read_text(std::istream& in, const net::HTTPResponse& response, Document& answer) {
  constexpr std::size_t kPart = std::size_t{64} << 10;
  std::string part(kPart, '\0');
  while (in && answer.text.size() <= kMostAnswer) {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    answer.text.append(part, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (!response.hasContentLength()) return !in.bad();
  return response.getContentLength64() == static_cast<Poco::Int64>(answer.text.size());
}

// Documents that nest deeper are not from Allot and could overflow the stack.
json parsed(const std::string& text) {
  const auto bounded = [](int depth, json::parse_event_t /*event*/, json& /*value*/) {
    return depth <= static_cast<int>(as_json::kMaxDepth);  // deeper parts are left out
  };
  return json::parse(text, bounded);
}

// Response of a proxy in front of the gateway, in its own words. The request may have been
// forwarded, unless the proxy has no upstream (503).
[[noreturn]] void refuse_proxy(const Address& address, const Request& request,
                               const Document& answer) {
  const std::string what = " (a proxy says status " + std::to_string(answer.status) + ")";
  if (request.writes() && answer.status != 503) {
    throw Error("outcome unknown, because " + name_of(address) + " did not answer" + what,
                kExitOutcomeUnknown);
  }
  throw Error(name_of(address) + " is not there" + what, kExitUnavailable);
}

[[noreturn]] void refuse_as(const Address& address, const Request& request,
                            const Document& answer) {
  if (answer.type != "application/problem+json") {
    if (answer.status >= 502 && answer.status <= 504) refuse_proxy(address, request, answer);
    refuse_stranger(address, "status " + std::to_string(answer.status) + ", " + answer.type);
  }
  throw refusal_of(answer.status, parsed(answer.text));
}

// Reads a response to the head, if the gateway sends one before the body. If megabytes of body were
// sent without being read, this response would be lost.
bool refuses_head(net::HTTPClientSession& connection, net::HTTPRequest& head,
                  net::HTTPResponse& response) {
  return head.getExpectContinue() && !connection.peekResponse(response);
}

}  // namespace

void complete(Options& options, bool local) {
  if (options.url.empty() && !local) options.url = variable("ALLOT_URL");
  if (options.chosen()) return;
  if (!options.token_file.empty()) throw Error("--token-file requires --url", kExitUsage);
  if (!options.ca_file.empty()) throw Error("--ca-file requires --url", kExitUsage);
}

Session::Session(const Options& options, std::string reason)
    : Operations(std::move(reason)),
      address_(read_address(options.url)),
      ca_file_(options.ca_file),
      token_(read_token(options.token_file)) {}

Document Session::exchange(const Request& request) const {
  net::HTTPRequest head(request.method, address_.base_path + "/api/v1" + request.path,
                        net::HTTPMessage::HTTP_1_1);
  if (!address_.socket.empty()) head.setHost("localhost");
  head.setKeepAlive(false);
  head.set("Accept", "application/json, application/problem+json");
  if (!token_.empty()) head.set("Authorization", "Bearer " + token_);
  if (request.has_body()) {
    head.setContentType(request.type);
    head.setContentLength64(static_cast<Poco::Int64>(request.body.size()));
    if (request.body.size() > kAskedFirst) head.setExpectContinue(true);
  }
  bool sent = false;
  t_distrust = X509_V_OK;
  try {
    const auto connection = connection_to(address_, ca_file_);
    std::ostream& out = connection->sendRequest(head);
    sent = true;
    net::HTTPResponse response;
    response.setFieldLimit(kMostFields);
    if (!refuses_head(*connection, head, response)) {
      out.write(request.body.data(), static_cast<std::streamsize>(request.body.size())).flush();
    }
    Document answer;
    const bool whole = read_text(connection->receiveResponse(response), response, answer);
    answer.status = response.getStatus();
    answer.type = response.getContentType();
    const std::string damage = response.get(kDamage, "");
    if (!damage.empty()) answer.fields.emplace_back(kDamage, damage);
    const bool too_large = answer.text.size() > kMostAnswer;
    if (too_large && !request.writes()) {
      refuse_stranger(address_, "the answer exceeds 64 MiB");
    }
    if (!whole || too_large) throw net::NetException("the answer was truncated");
    return answer;
  } catch (const Poco::Exception& error) {
    const std::string why = as_json::printable(error.displayText(), kShown);
    if (t_distrust != X509_V_OK) {
      throw Error(name_of(address_) + " is not trusted: " +
                      db::distrust_text(t_distrust, address_.host, "--ca-file"),
                  kExitConfig);
    }
    const bool untrusted = dynamic_cast<const net::SSLException*>(&error) != nullptr;
    if (!sent && untrusted) {
      throw Error(name_of(address_) + " is not trusted: " + why +
                      "; --ca-file names its authority if the system does not have it",
                  kExitConfig);
    }
    if (!sent) throw Error(name_of(address_) + " cannot be reached: " + why, kExitUnavailable);
    if (!request.writes()) throw Error(name_of(address_) + " was lost: " + why, kExitUnavailable);
    throw Error(
        "outcome unknown, because the reply of " + name_of(address_) + " was lost (" + why + ")",
        kExitOutcomeUnknown);
  }
}

Document Session::ask(const Request& request) const {
  Document answer = exchange(request);
  answer.type = answer.type.substr(0, answer.type.find(';'));
  if (answer.status < 200 || answer.status > 299) refuse_as(address_, request, answer);
  wrote_ = wrote_ || request.writes();
  return answer;
}

json Session::send(const Request& request) const {
  const Document answer = ask(request);
  if (answer.type == "application/json") return parsed(answer.text);
  if (!request.writes()) refuse_stranger(address_, answer.type);
  throw Error(
      "outcome unknown, because " + name_of(address_) + " sent an answer that is not from Allot",
      kExitOutcomeUnknown);
}

int over_http(const Options& options, const std::string& reason,
              const std::function<int(const Operations&)>& act) {
  const Session session(options, reason);
  try {
    return act(session);
  } catch (const json::exception& error) {
    const std::string what = "the documents of " + options.url +
                             " are not from Allot: is the address right? (" +
                             as_json::printable(error.what(), kShown) + ")";
    if (!session.wrote()) throw Error(what, kExitConfig);
    throw Error("outcome unknown: " + what, kExitOutcomeUnknown);
  }
}

void no_route(const std::string& what) {
  throw Error(what +
                  " needs the database: run it without --url and $ALLOT_URL, on a host that has "
                  "the configuration",
              kExitUsage);
}

}  // namespace allot::cli::remote
