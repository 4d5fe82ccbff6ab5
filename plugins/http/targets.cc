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

#include "job.h"
#include "programs/advice.h"

namespace http_plugin {
namespace {

using std::chrono::milliseconds;

constexpr const char* kTypes = "plugins.http.types";
constexpr std::chrono::hours kLongest{720};

// Reads the section of one type. Every error names the section.
class Reader {
 public:
  Reader(const std::string& type, const allot::Config& section, const AllowList& allowed)
      : where_("[" + std::string(kTypes) + ".\"" + type + "\"] "),
        type_(type),
        section_(section),
        allowed_(allowed) {}
  // Reads the section of Fireworq jobs.
  Reader(const allot::Config& section, const AllowList& allowed)
      : where_("[plugins.http.fireworq] "), section_(section), allowed_(allowed) {}

  std::optional<JobTarget> read_jobs() {
    refuse_unknown({"enabled", "user_agent", "name_timeout", "connect_timeout", "stop_grace",
                    "keep_alive", "send_task", "send_attempt", "send_trace", "tls_ca", "tls_cert",
                    "tls_key"});
    JobTarget jobs;
    jobs.request.verdict = VerdictBy::kBody;
    jobs.request.keep_alive = milliseconds(0);
    take("name_timeout", jobs.request.limits.name);
    take("connect_timeout", jobs.request.limits.connect);
    take("stop_grace", jobs.request.stop_grace, true);
    take("keep_alive", jobs.request.keep_alive, true);
    take_flag("send_task", jobs.send_task);
    take_flag("send_attempt", jobs.send_attempt);
    take_flag("send_trace", jobs.send_trace);
    jobs.user_agent = field("user_agent", jobs.user_agent, "a text such as \"Fireworq/1.5.1\"");
    jobs.request.tls = tls_files();
    bool enabled = false;
    take_flag("enabled", enabled);
    if (!enabled) return std::nullopt;
    return jobs;
  }

  Target read() {
    refuse_unknown({"url", "verdict", "name_timeout", "timeout", "connect_timeout", "stop_grace",
                    "keep_alive", "retry_after_max", "content_type", "tls_ca", "tls_cert",
                    "tls_key", "secret_file"});
    Target target;
    target.url = url();
    target.verdict = verdict();
    take("name_timeout", target.limits.name);
    take("connect_timeout", target.limits.connect);
    take("timeout", target.limits.all);
    take("stop_grace", target.stop_grace, true);
    take("keep_alive", target.keep_alive, true);
    take("retry_after_max", target.retry_after_max);
    target.content_type =
        field("content_type", target.content_type, "a type such as \"application/json\"");
    target.secret = secret();
    target.tls = tls_files();
    if (!target.url.origin.tls && target.tls != TlsFiles()) fail("tls_... need an https url");
    return target;
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw std::invalid_argument(where_ + text);
  }

  void refuse_unknown(const std::vector<std::string>& known) const {
    for (const std::string& name : section_.names()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      fail(type_.empty() ? programs::unknown_key(name, known)
                         : programs::unknown_in_type(kTypes, type_, section_, name, known));
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

  [[nodiscard]] TlsFiles tls_files() const {
    TlsFiles files = {file("tls_ca"), file("tls_cert"), file("tls_key")};
    if (files.cert.empty() != files.key.empty()) fail("tls_cert and tls_key need each other");
    return files;
  }

  void take_flag(const char* key, bool& to) const {
    const std::string text = section_.get(key, to ? "true" : "false");
    if (text != "true" && text != "false") fail(std::string(key) + " must be true or false");
    to = text == "true";
  }

  // A value for a request header.
  [[nodiscard]] std::string field(const char* key, const std::string& otherwise,
                                  const std::string& wanted) const {
    std::string text = section_.get(key, otherwise);
    const auto is_fine = [](char c) { return c >= ' ' && c < '\x7f'; };
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_fine)) {
      fail(std::string(key) + " must be " + wanted);
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
      fail(std::string(key) + " = \"" + text +
           "\" is not a time; write \"300ms\", \"30s\", \"5m\"");
    }
    to = milliseconds(std::stol(text.substr(0, end)) * unit->second);
    if (to > kLongest) fail(std::string(key) + " is at most 720h");
    if (to.count() == 0 && !may_be_none) fail(std::string(key) + " must be more than 0");
  }

  // The path of a readable file.
  [[nodiscard]] std::string file(const char* key) const {
    std::string path = section_.get(key);
    if (path.empty()) return path;
    if (path.front() != '/') fail(std::string(key) + " must be an absolute path");
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
  std::string type_;
  allot::Config section_;
  const AllowList& allowed_;
};

}  // namespace

Targets read_targets(const allot::Config& config) {
  for (const std::string& name : config.names()) {
    if (name == "types" || name == "allow" || name == "fireworq") continue;
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
    if (type == kJobType) {
      throw std::invalid_argument(
          "[plugins.http.types.\"" + type +
          "\"] is the type of Fireworq's jobs; set enabled = true in [plugins.http.fireworq]");
    }
    targets.by_type.emplace(type, Reader(type, types.section(type), targets.allowed).read());
  }
  targets.jobs = Reader(config.section("fireworq"), targets.allowed).read_jobs();
  return targets;
}

}  // namespace http_plugin
