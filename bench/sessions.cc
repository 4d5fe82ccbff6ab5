// SPDX-License-Identifier: Apache-2.0
#include "bench/sessions.h"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/StreamCopier.h>

#include <istream>
#include <ostream>

#include "base/error.h"
#include "bench/target.h"

namespace allot::bench {
namespace {

void send_once(Poco::Net::HTTPClientSession& session, const Post& post) {
  Poco::Net::HTTPRequest request(Poco::Net::HTTPRequest::HTTP_POST, "/",
                                 Poco::Net::HTTPMessage::HTTP_1_1);
  request.setKeepAlive(true);
  request.setContentLength64(static_cast<Poco::Int64>(post.payload.size()));
  for (const auto& [name, value] : post.fields) request.set(name, value);
  session.sendRequest(request) << post.payload;
  Poco::Net::HTTPResponse response;
  std::string body;
  Poco::StreamCopier::copyToString(session.receiveResponse(response), body);
  if (response.getStatus() != Poco::Net::HTTPResponse::HTTP_OK) throw Error("the target refuses");
}

}  // namespace

double bare_sessions(const Post& post, std::size_t sessions, std::chrono::duration<double> length) {
  return answers_a_second(sessions, length, [&](auto until) {
    try {
      Poco::Net::HTTPClientSession session("127.0.0.1", post.port);
      session.setKeepAlive(true);
      std::uint64_t answers = 0;
      do {
        send_once(session, post);
        ++answers;
      } while (std::chrono::steady_clock::now() < until);
      return answers;
    } catch (const Poco::Exception& error) {
      throw Error("the target is gone: " + error.displayText());
    }
  });
}

}  // namespace allot::bench
