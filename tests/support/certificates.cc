// SPDX-License-Identifier: Apache-2.0
#include "support/certificates.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "support/process.h"

namespace allot::support {
namespace {

void openssl(std::vector<std::string> words) {
  words.insert(words.begin(), "openssl");
  const Finished done = run_program(std::move(words));
  if (done.status != ExitStatus{0, 0}) throw std::runtime_error("openssl: " + done.err);
}

}  // namespace

Authority::Authority() {
  openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
           "-days", "2", "-subj", "/CN=Allot test authority", "-keyout", folder_ / "ca.key", "-out",
           ca()});
}

Authority::Files Authority::issue(const std::string& file, const std::string& names,
                                  int days) const {
  const Files files{folder_ / (file + ".pem"), folder_ / (file + ".key")};
  const std::string request = folder_ / (file + ".csr");
  openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
           "/O=Allot test/CN=" + file, "-keyout", files.key, "-out", request});
  openssl({"x509", "-req", "-in", request, "-CA", ca(), "-CAkey", folder_ / "ca.key",
           "-CAcreateserial", "-days", std::to_string(days), "-extfile",
           folder_.write(file + ".ext", "subjectAltName=" + names + "\n"), "-out", files.cert});
  return files;
}

Authority::Files Authority::issue_alone(const std::string& file, const std::string& names) const {
  const Files files{folder_ / (file + ".pem"), folder_ / (file + ".key")};
  openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
           "-days", "2", "-subj", "/O=Allot test/CN=" + file, "-addext", "subjectAltName=" + names,
           "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", files.key, "-out",
           files.cert});
  return files;
}

}  // namespace allot::support
