// SPDX-License-Identifier: Apache-2.0
#include "cli/remote/address.h"

#include <Poco/Exception.h>
#include <Poco/URI.h>
#include <sys/un.h>

#include "base/error.h"
#include "json/printable.h"

namespace allot::cli::remote {
namespace {

constexpr std::size_t kShownUrl = 200;
constexpr std::string_view kSocket = "unix:";

[[noreturn]] void refuse(const std::string& url, const char* why) {
  throw Error("--url '" + as_json::printable(url, kShownUrl) + "' " + why, kExitUsage);
}

Address socket_at(const std::string& url) {
  Address address;
  address.socket = url.substr(kSocket.size());
  if (!address.socket.starts_with('/')) {
    refuse(url, "is not a socket: write unix:/run/allot/default/gateway.sock");
  }
  if (address.socket.size() >= sizeof(sockaddr_un::sun_path)) {
    refuse(url, "exceeds the length limit of a socket path");
  }
  return address;
}

}  // namespace

Address read_address(const std::string& url) {
  if (url.starts_with(kSocket)) return socket_at(url);
  Poco::URI uri;
  try {
    uri = Poco::URI(url);
  } catch (const Poco::Exception&) {
    refuse(url, "is not an address");
  }
  const std::string& scheme = uri.getScheme();
  if ((scheme != "https" && scheme != "http") || uri.getHost().empty()) {
    refuse(url,
           "is not an address of a gateway: https://HOST[:PORT], http://HOST[:PORT] or unix:PATH");
  }
  // An address is visible in process lists and shell histories.
  if (!uri.getUserInfo().empty()) {
    throw Error(
        "--url must not contain a user or a password; put the token into a file, see --token-file",
        kExitUsage);
  }
  if (!uri.getRawQuery().empty() || !uri.getFragment().empty()) {
    refuse(url, "has a query or fragment (? or #) after its path");
  }
  Address address{scheme == "https", uri.getHost(), uri.getPort(), uri.getPathEtc(), {}};
  while (address.base_path.ends_with('/')) address.base_path.pop_back();
  return address;
}

}  // namespace allot::cli::remote
