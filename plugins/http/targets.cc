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
#include <utility>

#include "job.h"
#include "programs/section.h"

namespace http_plugin {
namespace {

using std::chrono::milliseconds;

constexpr const char* kTypes = "plugins.http.types";
constexpr std::chrono::hours kLongest{720};

// Reads a section: of one type, or of Fireworq jobs.
class Reader {
 public:
  Reader(programs::Section section, const AllowList& allowed)
      : section_(std::move(section)), allowed_(allowed) {}

  std::optional<JobTarget> read_jobs() {
    section_.refuse_unknown({"enabled", "user_agent", "name_timeout", "connect_timeout",
                             "stop_grace", "keep_alive", "send_task", "send_attempt", "send_trace",
                             "tls_ca", "tls_cert", "tls_key"});
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
    section_.refuse_unknown({"url", "verdict", "name_timeout", "timeout", "connect_timeout",
                             "stop_grace", "keep_alive", "retry_after_max", "content_type",
                             "tls_ca", "tls_cert", "tls_key", "secret_file"});
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
    if (!target.url.origin.tls && target.tls != TlsFiles())
      section_.fail("tls_... need an https url");
    return target;
  }

 private:
  [[nodiscard]] Url url() const {
    const std::string text = section_.config().get("url");
    if (text.empty()) section_.fail("url = \"https://example.com/tasks\" is needed");
    Url url;
    try {
      url = parse_url(text);
    } catch (const std::invalid_argument& error) {
      section_.fail("url = \"" + text + "\": " + error.what());
    }
    if (allowed_.has(url.origin)) return url;
    section_.fail("url: its target is not allowed; write allow = [\"" + text_of(url.origin) +
                  "\"] into [plugins.http]");
  }

  [[nodiscard]] VerdictBy verdict() const {
    const std::string word = section_.config().get("verdict", "status");
    if (word != "status" && word != "body") section_.fail("verdict must be \"status\" or \"body\"");
    return word == "body" ? VerdictBy::kBody : VerdictBy::kStatus;
  }

  [[nodiscard]] TlsFiles tls_files() const {
    TlsFiles files = {file("tls_ca"), file("tls_cert"), file("tls_key")};
    if (files.cert.empty() != files.key.empty())
      section_.fail("tls_cert and tls_key need each other");
    return files;
  }

  void take_flag(const char* key, bool& to) const {
    const std::string text = section_.config().get(key, to ? "true" : "false");
    if (text != "true" && text != "false")
      section_.fail(std::string(key) + " must be true or false");
    to = text == "true";
  }

  // A value for a request header.
  [[nodiscard]] std::string field(const char* key, const std::string& otherwise,
                                  const std::string& wanted) const {
    std::string text = section_.config().get(key, otherwise);
    const auto is_fine = [](char c) { return c >= ' ' && c < '\x7f'; };
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_fine)) {
      section_.fail(std::string(key) + " must be " + wanted);
    }
    return text;
  }

  void take(const char* key, milliseconds& to, bool may_be_none = false) const {
    const auto time = section_.duration(key);
    if (!time) return;
    to = *time;
    if (to > kLongest) section_.fail(std::string(key) + " is at most 720h");
    if (to.count() == 0 && !may_be_none) section_.fail(std::string(key) + " must be more than 0");
  }

  // The path of a readable file.
  [[nodiscard]] std::string file(const char* key) const {
    std::string path = section_.config().get(key);
    if (path.empty()) return path;
    if (path.front() != '/') section_.fail(std::string(key) + " must be an absolute path");
    if (::access(path.c_str(), R_OK) != 0) {
      section_.fail(std::string(key) + ": " + path + ": " + std::strerror(errno));
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
    if (text.size() < kLeast) section_.fail("secret_file: " + path + " has less than 16 bytes");
    return text;
  }

  programs::Section section_;
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
    targets.by_type.emplace(type,
                            Reader({kTypes, type, types.section(type)}, targets.allowed).read());
  }
  targets.jobs = Reader({"plugins.http.fireworq", "", config.section("fireworq")}, targets.allowed)
                     .read_jobs();
  return targets;
}

}  // namespace http_plugin
