// SPDX-License-Identifier: Apache-2.0
#include "config/section_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace allot::config {
namespace {

constexpr std::size_t kMaxDurations = 100;
constexpr std::size_t kMaxPath = 1023;  // size of the field in ipc/preflight.h

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

bool is_instance_name(std::string_view name) {
  return name.size() <= 31 && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

// Advice on an unknown key: a section that has it, the nearest key, or all keys.
std::string advice(const std::string& key, std::string_view header) {
  std::vector<std::string_view> known;
  for (const Row& row : rows()) {
    if (row.key == key) return "; it belongs in " + std::string(row.header);
    if (row.header == header) known.push_back(row.key);
  }
  const std::string near = did_you_mean(key, known);
  if (!near.empty()) return near;
  std::string list;
  for (const std::string_view word : known) list.append(list.empty() ? "" : ", ").append(word);
  return "; known keys: " + list;
}

}  // namespace

SectionReader::SectionReader(const Node& section, std::string path, const std::string& folder,
                             Lines& lines, Problems& problems)
    : section_(section),
      path_(std::move(path)),
      folder_(folder),
      lines_(lines),
      problems_(problems) {
  lines_[path_] = section.line;
}

void SectionReader::read(const Node& node, Kind kind, std::string& out, int, int) {
  if (kind == Kind::kTime) return read_time(node, out);
  if (node.type != Node::Type::kText) return wrong_type(node, "text in quotes");
  if (kind != Kind::kPayload && has_control(node.text))
    return problem(node, "must not hold control characters");
  if (node.text.empty() && !out.empty()) return problem(node, "must not be empty");
  if (kind == Kind::kName && !is_instance_name(node.text)) {
    return problem(
        node, "is \"" + node.text + "\"; a name has at most 31 lower-case letters, digits and '-'");
  }
  const auto& words = words_of(kind);
  if (!words.empty() && std::find(words.begin(), words.end(), node.text) == words.end()) {
    return problem(node, "is \"" + node.text + "\"; use " + joined(words));
  }
  if (kind == Kind::kPath) return read_path(node, out);
  out = node.text;
}

void SectionReader::read(const Node& node, Kind, std::uint32_t& out, std::int64_t min,
                         std::int64_t max) {
  if (node.type != Node::Type::kInteger) return wrong_type(node, "a whole number");
  if (node.number < min || node.number > max) {
    return out_of_range(node, std::to_string(min), std::to_string(max));
  }
  out = static_cast<std::uint32_t>(node.number);
}

void SectionReader::read(const Node& node, Kind kind, milliseconds& out, milliseconds min,
                         milliseconds max) {
  if (node.type == Node::Type::kInteger) {
    return problem(
        node, "is a duration and needs a unit (ms, s, m, h, d), such as \"" + node.text + "s\"");
  }
  if (node.type != Node::Type::kText) return wrong_type(node, "a duration such as \"30s\"");
  if (node.text.empty() && kind == Kind::kAutoDuration) {
    out = milliseconds(0);
    return;
  }
  const std::optional<milliseconds> duration = parse_duration(node.text);
  if (!duration) {
    return problem(node, "is \"" + node.text +
                             "\"; a duration is a whole number and a unit: \"300ms\", \"30s\", "
                             "\"5m\" or \"1h\"");
  }
  if (*duration < min || *duration > max) return out_of_range(node, text_of(min), text_of(max));
  out = *duration;
}

void SectionReader::read(const Node& node, Kind, std::vector<milliseconds>& out, milliseconds min,
                         milliseconds max) {
  if (node.type != Node::Type::kList) {
    return wrong_type(node, "a list such as [\"10s\", \"1m\"]");
  }
  if (node.children.size() > kMaxDurations) {
    return problem(node, "has " + std::to_string(node.children.size()) + " elements; allowed are " +
                             std::to_string(kMaxDurations));
  }
  std::vector<milliseconds> durations;
  for (const Node& element : node.children) {
    const auto duration = element.type == Node::Type::kText ? parse_duration(element.text)
                                                            : std::optional<milliseconds>();
    if (!duration) {
      return problem(node, "holds " + element.text +
                               "; a duration is a whole number and a unit in quotes: \"300ms\", "
                               "\"30s\", \"5m\" or \"1h\"");
    }
    if (*duration < min || *duration > max) {
      return problem(
          node, "holds " + element.text + "; allowed is " + text_of(min) + " to " + text_of(max));
    }
    durations.push_back(*duration);
  }
  out = std::move(durations);
}

void SectionReader::read(const Node& node, Kind, bool& out, int, int) {
  if (node.type != Node::Type::kFlag) return wrong_type(node, "true or false without quotes");
  out = node.flag;
}

void SectionReader::read(const Node& node, Kind, std::vector<std::string>& out, int, int) {
  if (node.type != Node::Type::kList) return wrong_type(node, "a list such as [\"mail\"]");
  std::vector<std::string> names;
  for (const Node& element : node.children) {
    if (element.type != Node::Type::kText) return wrong_type(node, "a list of texts");
    if (std::find(names.begin(), names.end(), element.text) != names.end()) {
      return problem(node, "names '" + element.text + "' twice");
    }
    names.push_back(element.text);
  }
  out = std::move(names);
}

void SectionReader::read(const Node& node, Kind, std::map<std::string, std::uint32_t>& out,
                         std::int64_t min, std::int64_t max) {
  const std::string wanted = "names with whole numbers, such as { mail = 3, reports = 1 }";
  if (node.type != Node::Type::kTable) return wrong_type(node, wanted);
  std::map<std::string, std::uint32_t> weights;
  for (const Node& child : node.children) {
    if (child.type == Node::Type::kTable) {
      return problem(node,
                     "has '" + child.key + "' with a section; a name with a dot needs quotes");
    }
    if (child.type != Node::Type::kInteger) {
      return problem(node, "of '" + child.key + "' must be a whole number, not " +
                               std::string(name_of(child.type)));
    }
    if (child.number < min || child.number > max) {
      return problem(node, "of '" + child.key + "' is " + child.text + "; allowed is " +
                               std::to_string(min) + " to " + std::to_string(max));
    }
    weights[child.key] = static_cast<std::uint32_t>(child.number);
  }
  out = std::move(weights);
}

void SectionReader::refuse_unknown(std::string_view header, bool allow_sections) {
  for (const Node& node : section_.children) {
    const bool known = std::any_of(rows().begin(), rows().end(), [&](const Row& row) {
      return row.header == header && row.key == node.key;
    });
    if (known || (allow_sections && node.type == Node::Type::kTable)) continue;
    problems_.push_back({node.line, "unknown key '" + node.key + "' in [" + path_ + "]" +
                                        advice(node.key, header)});
  }
}

const Node* SectionReader::find(const char* key) {
  const Node* node = section_.find(key);
  if (node != nullptr) lines_[path_ + "." + key] = node->line;
  return node;
}

void SectionReader::problem(const Node& node, const std::string& text) {
  problems_.push_back({node.line, "[" + path_ + "] " + node.key + " " + text});
}

void SectionReader::wrong_type(const Node& node, const std::string& wanted) {
  problem(node, "must be " + wanted + ", not " + std::string(name_of(node.type)));
}

void SectionReader::out_of_range(const Node& node, const std::string& min, const std::string& max) {
  problem(node, "is " + node.text + "; allowed is " + min + " to " + max);
}

// TOML also has native times, which are written without quotes.
void SectionReader::read_time(const Node& node, std::string& out) {
  if (node.type != Node::Type::kText && node.type != Node::Type::kTime) {
    return wrong_type(node, "a date or time");
  }
  if (!node.text.empty() && !parse_time(node.text)) {
    return problem(node, "is \"" + node.text +
                             "\"; write a date, \"2027-01-31\", which begins at midnight UTC, or "
                             "\"2027-01-31T18:00:00Z\"");
  }
  out = node.text;
}

void SectionReader::read_path(const Node& node, std::string& out) {
  if (node.text.empty()) {
    out.clear();
    return;
  }
  std::string path = (std::filesystem::path(folder_) / node.text).lexically_normal().string();
  if (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.size() > kMaxPath) return problem(node, "is longer than 1023 bytes");
  out = std::move(path);
}

}  // namespace allot::config
