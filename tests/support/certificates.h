// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/temp_dir.h"

namespace allot::support {

// A certificate authority made by openssl, which exists as long as this object.
class Authority {
 public:
  struct Files {
    std::string cert;
    std::string key;
  };

  Authority();
  // PEM file with the certificate to trust.
  [[nodiscard]] std::string ca() const { return folder_ / "ca.pem"; }
  // Issues a signed certificate. `names` as in openssl's subjectAltName:
  // "DNS:localhost,IP:127.0.0.1". Overwrites earlier files of the same `file` name. Valid for
  // `days` days; -1: until yesterday.
  [[nodiscard]] Files issue(const std::string& file, const std::string& names, int days = 2) const;
  // Issues a self-signed certificate.
  [[nodiscard]] Files issue_alone(const std::string& file, const std::string& names) const;

 private:
  TempDir folder_;
};

}  // namespace allot::support
