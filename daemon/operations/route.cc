// SPDX-License-Identifier: Apache-2.0
#include "operations/route.h"

namespace allot::operations {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  std::size_t from = 1;
  for (;;) {
    const std::size_t end = path.find('/', from);
    segments.push_back(path.substr(from, end - from));
    if (end == std::string_view::npos) return segments;
    from = end + 1;
  }
}

std::optional<Values> values_of(std::string_view pattern,
                                const std::vector<std::string_view>& segments) {
  const auto wanted = segments_of(pattern);
  if (wanted.size() != segments.size()) return std::nullopt;
  Values values;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].starts_with('{')) {
      if (wanted[i] != segments[i]) return std::nullopt;
      continue;
    }
    const std::string name(wanted[i].substr(1, wanted[i].size() - 2));
    auto value = unescaped(segments[i], false);
    if (!value) refuse(400, "'%' in the path is not followed by two hexadecimal digits", name);
    if (value->empty()) return std::nullopt;
    values.emplace(name, std::move(*value));
  }
  return values;
}

}  // namespace

ExitCode exit_code_of(const Problem& problem) {
  const std::string& field = problem.field;
  switch (problem.status) {
    case 404:
      return field.empty() || field == "id" || field == "unique_key" ? kExitFailure : kExitBadInput;
    case 409:
      return field == "queue" || field == "from" || field == "to" ? kExitBadInput : kExitFailure;
    case 400:
    case 413:
    case 414:
    case 415:
    case 431:
      return kExitBadInput;
    case 401:
    case 403:
      return kExitConfig;
    case 408:
    case 429:
    case 503:
      return kExitUnavailable;
    case 504:
      return kExitOutcomeUnknown;
    default:
      return kExitFailure;
  }
}

Match match(std::string_view method, std::string_view path, std::string_view base_path,
            bool read_only) {
  Match found;
  if (!path.starts_with(base_path)) return found;
  path.remove_prefix(base_path.size());
  if (!path.starts_with('/')) return found;
  const auto segments = segments_of(path);
  if (method == "HEAD") method = "GET";
  for (const Route& route : routes()) {
    if (read_only && route.writes()) continue;
    auto values = values_of(route.path, segments);
    if (!values) continue;
    if (route.method == method) return {&route, std::move(*values), {}};
    found.allowed.insert(route.method);
  }
  if (found.allowed.contains("GET")) found.allowed.insert("HEAD");
  return found;
}

std::optional<std::string> unescaped(std::string_view text, bool in_query) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && in_query) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = digit_of(text[i + 1]);
      const int low = digit_of(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out.append({'%', kDigits[byte >> 4U], kDigits[byte & 15U]});
    }
  }
  return out;
}

Values query_of(std::string_view query) {
  Values values;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto name = unescaped(pair.substr(0, equals), true);
    auto value = equals == std::string_view::npos ? std::optional(std::string())
                                                  : unescaped(pair.substr(equals + 1), true);
    if (!name || !value) {
      refuse(400, "'%' in the query is not followed by two hexadecimal digits", name.value_or(""));
    }
    const auto [at, is_new] = values.emplace(*name, std::move(*value));
    if (!is_new) refuse(400, "'" + at->first + "' is given twice in the query", at->first);
  }
  return values;
}

}  // namespace allot::operations
