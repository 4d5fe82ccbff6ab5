// SPDX-License-Identifier: Apache-2.0
#include "bench/gateway.h"

#include <string>

#include "bench/certificate.h"
#include "gateway/access/token.h"

namespace allot::bench {

Gateway start_gateway(const Stage& stage, bool encrypted) {
  const std::string name = encrypted ? "tls" : "plain";
  const std::string base = stage.folder() + "/" + name;
  Gateway gateway;
  gateway.endpoint = {free_port(), encrypted, gateway::access::make_token()};
  std::string sections =
      "[gateway]\nlisten = [\"127.0.0.1:" + std::to_string(gateway.endpoint.port) +
      "\"]\nmax_connections_of_peer = 0\nsocket = " + toml_text(base + ".sock") + "\n";
  if (encrypted) {
    make_certificate(base + ".pem", base + ".key");
    sections +=
        "tls_cert = " + toml_text(base + ".pem") + "\ntls_key = " + toml_text(base + ".key") + "\n";
  }
  const std::string hash =
      gateway::access::hex_of(gateway::access::hash_of(gateway.endpoint.token));
  sections += "[gateway.database]\nuser = " + toml_text(stage.settings().database.user) +
              "\n[gateway.tokens.bench]\nsha256 = \"" + hash + "\"\nsubmit = [\"*\"]\n";
  gateway.process = stage.start_gateway(name, sections);
  wait_for_endpoint(gateway.endpoint, *gateway.process);
  return gateway;
}

}  // namespace allot::bench
