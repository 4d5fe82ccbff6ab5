// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

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

}  // namespace http_plugin
