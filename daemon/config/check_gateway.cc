// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "config/check.h"
#include "config/networks.h"
#include "config/rows.h"

namespace allot::config {
namespace {

constexpr std::size_t kHashDigits = 64;
constexpr off_t kLeastKey = 32;           // bytes of cookie_key_file
constexpr std::size_t kMostOfUser = 255;  // bytes of a user's name

class GatewayChecker : Section {
 public:
  GatewayChecker(Settings& settings, Problems& problems)
      : Section(settings, problems, "gateway"), gateway_(*settings.gateway) {}

  void run() {
    check_account();
    check_listen();
    check_certificate(gateway_.tls_cert, gateway_.tls_key);
    check_cookie_key();
    check_names();
    check_proxies();
    if (gateway_.fireworq) check_fireworq(*gateway_.fireworq);
    for (GatewayToken& token : gateway_.tokens) check_token(token);
    for (const GatewayUser& user : gateway_.users) check_user(user);
    warn_unused();
  }

 private:
  [[nodiscard]] Section section(const std::string& name) const {
    return {settings_, problems_, name};
  }

  void check_account() {
    Database& own = gateway_.database;
    const Database& of_workers = settings_.database;
    const Section in = section("gateway.database");
    if (in.has("embedded")) {
      return in.problem("embedded", "has no embedded; it is a key of [database]");
    }
    own.embedded = of_workers.embedded;
    inherit(in);
    if (own.embedded.empty() && !in.has("user")) {
      return problem("database.user",
                     "needs its own database account, limited to the rights of its tokens: write "
                     "[gateway.database] with user and password_file (docs/database.md)");
    }
    check_database(settings_, own, "gateway.database", problems_);
    if (!own.embedded.empty() || own.user != of_workers.user) return;
    if (!section("database").has("user")) return;  // a file for the gateway alone
    in.warn("user",
            "user is also the user of [database]; a gateway should not have the rights of workers");
  }

  // The address is inherited as a whole, so that a socket here is not combined with a host there.
  void inherit(const Section& in) {
    Database& own = gateway_.database;
    const Database& from = settings_.database;
    const bool address = in.has("host") || in.has("port") || in.has("hosts") || in.has("socket");
    if (!address) {
      own.host = from.host;
      own.port = from.port;
      own.hosts = from.hosts;
      own.socket = from.socket;
    }
    if (!address && !in.has("tls") && !in.has("tls_ca")) {
      own.tls = from.tls;
      own.tls_ca = from.tls_ca;
    }
    if (!in.has("name")) own.name = from.name;
    if (!in.has("connect_timeout")) own.connect_timeout = from.connect_timeout;
    if (!in.has("call_timeout")) own.call_timeout = from.call_timeout;
  }

  void check_listen() {
    for (const std::string& text : gateway_.listen) {
      const auto server = address_of(*this, text);
      if (!server) continue;
      gateway_.addresses.push_back(*server);
      const bool local = is_loopback(*parse_address(server->host));
      if (local || !gateway_.tls_cert.empty() || gateway_.insecure) continue;
      problem("listen",
              "listen: '" + text +
                  "' can be reached from other hosts, and tokens would cross the network in clear "
                  "text; set tls_cert and tls_key, or insecure = true");
    }
  }

  // nullopt, and a problem, unless the text is an address with a port.
  static std::optional<Server> address_of(const Section& in, const std::string& text) {
    const auto server = parse_server(text, 0);
    if (server && server->port != 0 && parse_address(server->host)) return server;
    in.problem("listen", "listen: '" + text +
                             "' is not an address with a port; write \"127.0.0.1:8080\" or "
                             "\"[::1]:8080\"");
    return std::nullopt;
  }

  static void check_host_names(const Section& in, const std::string& key,
                               const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (is_word(name, ".-_")) continue;
      in.problem(key, key + ": '" + name + "' is not a name; write \"jobs.example.com\"");
    }
  }

  void check_cookie_key() {
    const std::string& file = gateway_.cookie_key_file;
    if (file.empty()) return;
    const std::string key = "cookie_key_file";
    struct stat status {};
    if (::access(file.c_str(), R_OK) != 0 || ::stat(file.c_str(), &status) != 0) {
      return problem(key, key + ": cannot read " + file + ": " + std::strerror(errno));
    }
    if (status.st_size < kLeastKey) {
      return problem(key, key + ": " + file +
                              " has fewer than 32 bytes; head -c 32 /dev/urandom makes such a key");
    }
    warn_if_shared(key, "cookie key", file);
  }

  void check_names() {
    check_host_names(*this, "hosts", gateway_.hosts);
    std::string& path = gateway_.base_path;
    if (path == "/") path.clear();
    if (path.empty()) return;
    if (path.front() == '/' && path.back() != '/' && is_word(path, "/._~-") &&
        path.find("//") == path.npos) {
      return;
    }
    problem("base_path", "base_path is \"" + path +
                             "\"; write a path such as \"/allot\", without a / at its end");
  }

  void check_proxies() {
    for (const std::string& text : gateway_.trusted_proxies) {
      if (text != "unix" && !parse_network(text)) {
        problem("trusted_proxies",
                "trusted_proxies: '" + text +
                    "' is not an address; write \"192.0.2.7\", \"192.0.2.0/24\" or \"unix\"");
      }
      if (text == "unix" && gateway_.grant != "none") {
        problem("trusted_proxies",
                "trusted_proxies has unix, so a proxy uses the unix socket, which needs "
                "grant = \"none\"; otherwise each user of the proxy has the role of the socket");
      }
    }
    const std::string& field = gateway_.user_header;
    if (field.empty()) return;
    const std::string name = lower(field);
    constexpr std::array<std::string_view, 4> kTaken = {"authorization", "cookie", "host",
                                                        "origin"};
    if (!is_word(field, "-_") || std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end()) {
      problem("user_header", "user_header is \"" + field +
                                 "\"; write the name of a field of its own, such as "
                                 "\"X-Forwarded-User\"");
    }
    if (gateway_.trusted_proxies.empty()) {
      problem("user_header",
              "user_header needs trusted_proxies, the only addresses that may send it");
    }
    gateway_.user_header = name;
  }

  void check_fireworq(GatewayFireworq& fireworq) {
    const Section in = section("gateway.fireworq");
    const auto server = address_of(in, fireworq.listen);
    if (server) fireworq.address = *server;
    const auto& others = gateway_.addresses;
    if (server && std::find(others.begin(), others.end(), *server) != others.end()) {
      in.problem("listen", "listen: [gateway] listens at '" + fireworq.listen +
                               "' already; some paths exist in both, so each needs its own port");
    }
    for (const std::string& text : fireworq.allow_from) {
      if (parse_network(text)) continue;
      in.problem("allow_from", "allow_from: '" + text +
                                   "' is not an address; write \"192.0.2.7\" or "
                                   "\"192.0.2.0/24\"");
    }
    check_host_names(in, "names", fireworq.names);
    for (const std::string& origin : fireworq.allow_origins) {
      const bool scheme = origin.starts_with("http://") || origin.starts_with("https://");
      if (scheme && origin.find('/', origin.find("//") + 2) == std::string::npos) continue;
      in.problem("allow_origins", "allow_origins: '" + origin +
                                      "' is not an origin; write "
                                      "\"http://console.example.com:8888\"");
    }
    if (fireworq.queue_default.size() > kMostOfUser) {
      in.problem("queue_default", "queue_default has more than 255 bytes");
    }
    if (fireworq.anonymous || !gateway_.tokens.empty()) return;
    in.warn("", "anonymous is false and no token is configured, so every request would be refused");
  }

  void check_token(GatewayToken& token) {
    const Section in = section("gateway.tokens." + token.name);
    std::string& hash = token.sha256;
    hash = lower(hash);
    // The message omits the value, which may be the token itself.
    if (hash.size() != kHashDigits ||
        hash.find_first_not_of("0123456789abcdef") != std::string::npos) {
      in.problem("sha256",
                 std::string(hash.empty() ? "needs sha256, the hash of the token"
                                          : "sha256 is not a hash of 64 hexadecimal digits") +
                     "; allot gateway token makes a token and its section");
    } else if (const auto [other, fresh] = hashes_.emplace(hash, token.name); !fresh) {
      in.problem("sha256", "has the same sha256 as [gateway.tokens." + other->second + "]");
    }
    check_roles(in, token);
    if (token.expires.empty()) return;
    token.expires_at = parse_time(token.expires);
    const auto now = std::chrono::floor<seconds>(std::chrono::system_clock::now());
    if (token.expires_at && *token.expires_at <= now) {
      in.warn("expires", "has expired at " + token.expires);
    }
  }

  void check_user(const GatewayUser& user) {
    const Section in = section("gateway.users." + user.name);
    if (user.name.empty() || user.name.size() > kMostOfUser ||
        std::any_of(user.name.begin(), user.name.end(),
                    [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      in.plain_problem("",
                       "[gateway.users]: the name of a user has 1 to 255 bytes and no control "
                       "characters");
    }
    check_roles(in, user);
  }

  template <typename Roles>
  void check_roles(const Section& in, const Roles& roles) {
    for (const auto& [role, queues] :
         {std::pair{"read", &roles.read}, {"submit", &roles.submit}, {"operate", &roles.operate}}) {
      for (const std::string& queue : *queues) {
        const bool all = queue == "*" && queues->size() == 1;
        if (all || (queue.size() <= kMaxQueueName && is_word(queue, "_.-"))) continue;
        in.problem(role, std::string(role) + ": '" + queue +
                             "' is not a queue; write [\"mail\", \"reports\"], or [\"*\"] for all");
      }
    }
    if (!roles.read.empty() || !roles.submit.empty() || !roles.operate.empty()) return;
    in.problem("", "has no role; give it read, submit or operate, such as read = [\"*\"]");
  }

  void warn_unused() {
    const bool named = !gateway_.user_header.empty();
    if (!named && !gateway_.users.empty()) {
      section("gateway.users." + gateway_.users.front().name)
          .plain_warning("", "[gateway.users.NAME] is not used without user_header");
    }
    if (!gateway_.tokens.empty() || named) return;
    if (!gateway_.listen.empty()) {
      warn("listen", "listen: no token is configured, so every request over TCP would be refused");
    } else if (gateway_.grant == "none") {
      warn("grant", "grant is none and no token is configured, so every request would be refused");
    }
  }

  Gateway& gateway_;
  std::map<std::string, std::string> hashes_;  // hash and name of the token
};

}  // namespace

void check_gateway(Settings& settings, Problems& problems) {
  if (settings.gateway) GatewayChecker(settings, problems).run();
}

}  // namespace allot::config
