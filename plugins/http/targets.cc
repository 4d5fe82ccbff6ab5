// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace http_plugin {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::hours kLongest{720};

// The section of one type. Every failure names it.
class Reader {
 public:
  Reader(const std::string& type, const allot::Config& section, const AllowList& allowed)
      : where_("[plugins.http.types.\"" + type + "\"] "), section_(section), allowed_(allowed) {}

  Target read() {
    refuse_unknown();
    Target target;
    target.url = url();
    target.verdict = verdict();
    take("name_timeout", target.limits.name);
    take("connect_timeout", target.limits.connect);
    take("timeout", target.limits.all);
    take("stop_grace", target.stop_grace, true);
    take("keep_alive", target.keep_alive, true);
    take("retry_after_max", target.retry_after_max);
    target.content_type = content_type(target.content_type);
    target.secret = secret();
    target.tls = {file("tls_ca"), file("tls_cert"), file("tls_key")};
    if (target.tls.cert.empty() != target.tls.key.empty()) fail("tls_cert and tls_key go together");
    if (!target.url.origin.tls && target.tls != TlsFiles()) fail("tls_... go with an https url");
    return target;
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw std::invalid_argument(where_ + text);
  }

  void refuse_unknown() const {
    static const char* const kKeys[] = {
        "url",        "verdict",    "name_timeout",    "timeout",      "connect_timeout",
        "stop_grace", "keep_alive", "retry_after_max", "content_type", "tls_ca",
        "tls_cert",   "tls_key",    "secret_file"};
    for (const std::string& name : section_.names()) {
      if (std::find(std::begin(kKeys), std::end(kKeys), name) != std::end(kKeys)) continue;
      std::string known;
      for (const char* key : kKeys) known += known.empty() ? key : std::string(", ") + key;
      fail("unknown key '" + name + "'; known: " + known);
    }
  }

  [[nodiscard]] Url url() const {
    const std::string text = section_.get("url");
    if (text.empty()) fail("url = \"https://example.com/tasks\" is needed");
    try {
      Url url = parse_url(text);
      if (allowed_.has(url.origin)) return url;
      fail("url: its target is not allowed; write allow = [\"" + text_of(url.origin) +
           "\"] into [plugins.http]");
    } catch (const std::invalid_argument& error) {
      const std::string why = error.what();
      if (why.starts_with(where_)) throw;
      fail("url = \"" + text + "\": " + why);
    }
  }

  [[nodiscard]] VerdictBy verdict() const {
    const std::string word = section_.get("verdict", "status");
    if (word != "status" && word != "body") fail("verdict must be \"status\" or \"body\"");
    return word == "body" ? VerdictBy::kBody : VerdictBy::kStatus;
  }

  [[nodiscard]] std::string content_type(const std::string& otherwise) const {
    std::string text = section_.get("content_type", otherwise);
    const auto is_fine = [](char c) { return c >= ' ' && c < '\x7f'; };
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_fine)) {
      fail("content_type must be a type such as \"application/json\"");
    }
    return text;
  }

  void take(const char* key, milliseconds& to, bool may_be_none = false) const {
    const std::string text = section_.get(key);
    if (text.empty()) return;
    static const std::map<std::string, long> kUnits = {
        {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto unit = kUnits.find(text.substr(end));
    if (unit == kUnits.end() || end == 0 || end > 9) {
      fail(std::string(key) + " = \"" + text + "\" is no time; write \"300ms\", \"30s\", \"5m\"");
    }
    to = milliseconds(std::stol(text.substr(0, end)) * unit->second);
    if (to > kLongest) fail(std::string(key) + " is at most 720h");
    if (to.count() == 0 && !may_be_none) fail(std::string(key) + " must be more than nothing");
  }

  // The path of a file that can be read.
  [[nodiscard]] std::string file(const char* key) const {
    std::string path = section_.get(key);
    if (path.empty()) return path;
    if (path.front() != '/') fail(std::string(key) + " must be a whole path");
    if (::access(path.c_str(), R_OK) != 0) {
      fail(std::string(key) + ": " + path + ": " + std::strerror(errno));
    }
    return path;
  }

  [[nodiscard]] std::string secret() const {
    const std::string path = file("secret_file");
    if (path.empty()) return {};
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    std::string text = content.str();
    if (text.ends_with('\n')) text.pop_back();
    constexpr std::size_t kLeast = 16;
    if (text.size() < kLeast) fail("secret_file: " + path + " has less than 16 bytes");
    return text;
  }

  std::string where_;
  allot::Config section_;
  const AllowList& allowed_;
};

}  // namespace

Targets read_targets(const allot::Config& config) {
  for (const std::string& name : config.names()) {
    if (name == "types" || name == "allow") continue;
    throw std::invalid_argument("[plugins.http] has no key '" + name +
                                "'; write allow = [...] and [plugins.http.types.\"TYPE\"]");
  }
  Targets targets;
  try {
    targets.allowed = AllowList(config.list("allow"));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("[plugins.http] ") + error.what());
  }
  const allot::Config types = config.section("types");
  for (const std::string& type : types.names()) {
    targets.by_type.emplace(type, Reader(type, types.section(type), targets.allowed).read());
  }
  return targets;
}

}  // namespace http_plugin
