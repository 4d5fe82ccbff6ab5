// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/temp_dir.h"

namespace allot::support {

// A certificate authority of its own, made by openssl, for as long as this object lives.
class Authority {
 public:
  struct Files {
    std::string cert;
    std::string key;
  };

  Authority();
  // PEM file with the certificate to trust.
  [[nodiscard]] std::string ca() const { return folder_ / "ca.pem"; }
  // A signed certificate. `names` as in openssl's subjectAltName: "DNS:localhost,IP:127.0.0.1". The
  // files of the same `file` name are written anew. It is valid for so many days; -1: until
  // yesterday.
  [[nodiscard]] Files issue(const std::string& file, const std::string& names, int days = 2) const;
  // One that has signed itself.
  [[nodiscard]] Files issue_alone(const std::string& file, const std::string& names) const;

 private:
  TempDir folder_;
};

}  // namespace allot::support
