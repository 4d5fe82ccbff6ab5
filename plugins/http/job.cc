// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/utf8.h"
#include "json/strict.h"

namespace http_plugin {
namespace {

using nlohmann::json;

std::string text_in(const json& envelope, const char* key) {
  const auto found = envelope.find(key);
  if (found == envelope.end()) return {};
  if (!found->is_string()) throw std::invalid_argument(std::string(key) + " is not a string");
  return found->get<std::string>();
}

json envelope_in(std::string_view line) {
  try {
    return allot::as_json::read_strict(line, 1);
  } catch (const allot::as_json::BadJson& error) {
    const bool named = !error.field().empty();
    throw std::invalid_argument((named ? "in its first line " : "its first line is ") +
                                std::string(error.what()));
  }
}

std::uint32_t number_in(const json& envelope, const char* key) {
  const auto found = envelope.find(key);
  if (found == envelope.end()) return 0;
  const bool fits = found->is_number_unsigned() &&
                    found->get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
  if (!fits) throw std::invalid_argument(std::string(key) + " is not a whole number of 32 bits");
  return found->get<std::uint32_t>();
}

constexpr std::size_t kMaxText = std::size_t{64} << 10;

// In the order of Word.
constexpr const char* kWords[] = {"success", "failure", "permanent-failure", "internal-failure"};

bool has_scheme(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && colon < text.find_first_of("/?#");
}

// Resolves a reference relative to its URL.
std::string whole(const Url& from, const std::string& location) {
  if (has_scheme(location)) return location;
  if (location.starts_with("//")) return (from.origin.tls ? "https:" : "http:") + location;
  const std::string origin = text_of(from.origin);
  if (location.starts_with('/')) return origin + location;
  const std::string path = from.path.substr(0, from.path.find('?'));
  if (location.empty() || location.starts_with('?')) return origin + path + location;
  return origin + path.substr(0, path.rfind('/') + 1) + location;
}

// Escapes as Fireworq does: characters not permitted in a URL become %XX. A host with such a byte
// remains invalid.
std::string escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::string_view(" \"<>\\^`{|}").find(c) == std::string_view::npos) {
      out += c;
      continue;
    }
    out += '%';
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xfU];
  }
  return out;
}

}  // namespace

Job read_job(std::string_view payload) {
  const std::size_t end = std::min(payload.find('\n'), payload.size());
  const json envelope = envelope_in(payload.substr(0, end));
  if (!envelope.is_object()) throw std::invalid_argument("its first line is not a JSON object");
  Job job;
  job.url = text_in(envelope, "url");
  job.category = text_in(envelope, "category");
  job.timeout = number_in(envelope, "timeout");
  job.retry_delay = number_in(envelope, "retry_delay");
  job.body = payload.substr(std::min(end + 1, payload.size()));
  return job;
}

Url parse_url_of_job(std::string_view text) {
  return parse_url(escaped(text.substr(0, text.find('#'))));
}

std::optional<Hop> next_hop(const Hop& from, const Answer& answer) {
  const int status = answer.status;
  const bool again = status == 307 || status == 308;
  if (!again && (status < 301 || status > 303)) return std::nullopt;
  if (answer.location.empty()) return std::nullopt;  // an ordinary answer
  const std::string where = "the redirect " + std::to_string(status);
  try {
    const std::string location = answer.location.substr(0, answer.location.find('#'));
    return Hop{parse_url_of_job(whole(from.url, location)), again && from.posts};
  } catch (const std::invalid_argument& error) {
    throw Trouble(where + " to '" + answer.location + "': " + error.what());
  }
}

JobResult result_of(const Answer& answer) {
  if (!answer.is_whole) {
    return {Word::kFailure, answer.status, "Cannot read body: it is longer than 1 MiB"};
  }
  Verdict verdict = verdict_of_body(answer.body);
  return {verdict.word, answer.status, std::move(verdict.message)};
}

JobResult result_of(const Trouble& trouble) {
  const std::string why = trouble.what();
  if (trouble.status() != 0) {
    return {Word::kFailure, trouble.status(), "Cannot read body: " + why};
  }
  const bool refused = trouble.kind() == Trouble::Kind::kRefused;
  return {refused ? Word::kPermanentFailure : Word::kInternalFailure, 0, "Request failed: " + why};
}

std::string text_of(const JobResult& result) {
  std::string text = std::string(kWords[static_cast<int>(result.word)]) + " " +
                     std::to_string(result.code) + ": " + result.message;
  text.resize(allot::utf8_cut(text, kMaxText));
  return text;
}

allot::Outcome outcome_of(const JobResult& result, const Job& job) {
  if (result.word == Word::kSuccess) return allot::success();
  if (result.word == Word::kPermanentFailure) return allot::fail(text_of(result));
  return allot::retry(text_of(result), std::chrono::seconds(job.retry_delay));
}

}  // namespace http_plugin
