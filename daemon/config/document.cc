// SPDX-License-Identifier: Apache-2.0
#include "config/document.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "config/rows.h"

namespace allot::config {
namespace {

constexpr std::size_t kColumns = 98;
constexpr std::string_view kBegin = "<!-- Begin: made by allot-config-doc, do not edit. -->\n";
constexpr std::string_view kEnd = "<!-- End -->\n";

constexpr std::string_view kExampleHead = R"(# SPDX-License-Identifier: Apache-2.0
# Configuration of Allot: every key with its default. Remove the # to change one.
# Looked for: --config FILE, $ALLOT_CONFIG, /etc/allot/allot.toml. Reference: docs/configuration.md
# Durations have a unit: "300ms", "30s", "5m", "1h". Relative paths begin at this file's folder.
)";

struct Header {
  std::string_view name;
  std::string_view line;  // of the example
  std::string_view comment;
};
constexpr std::array<Header, 15> kHeaders = {{
    {Database::kHeader, "[database]", ""},
    {Wake::kHeader, "[wake]",
     "This account can read every change in every database of the server: see docs/database.md."},
    {Daemon::kHeader, "[daemon]", ""},
    {Queue::kHeader, "[queues.default]",
     "One section for each queue. If there is none: one queue named default."},
    {Type::kHeader, "#[types.NAME]",
     "One section for each type of task with retry settings or a time limit of its own."},
    {Pool::kHeader, "[pools.default]",
     "One section for each pool of workers, at most 16 with 256 workers together. If there is "
     "none: one pool named default."},
    {Schedule::kHeader, "#[schedules.NAME]",
     "One section for each schedule that this file makes, or changes if the section changed. "
     "Removing a section does not remove its schedule. See docs/schedules.md."},
    {Plugins::kHeader, "[plugins]", ""},
    {Notices::kHeader, "[notices]", ""},
    {Metrics::kHeader, "[metrics]", ""},
    {Gateway::kHeader, "#[gateway]",
     "With this section allotd starts a gateway, which answers over HTTP. See docs/operations.md."},
    {GatewayFireworq::kHeader, "#[gateway.fireworq]",
     "With this section the gateway also answers programs that were written for Fireworq. See "
     "docs/from-fireworq.md."},
    {GatewayToken::kHeader, "#[gateway.tokens.NAME]",
     "One section for each token; several are valid at a time. Made by allot gateway token."},
    {GatewayUser::kHeader, "#[gateway.users.NAME]",
     "One section for each user that a trusted proxy names; \"*\" is for users without a section."},
    {Logging::kHeader, "[logging]", ""},
}};

constexpr std::string_view kExampleAccount = R"(
# Database account of the gateway, limited to the rights of its tokens (docs/database.md). It has
# the keys of [database]; a missing key, except the account, has the value given there.
#[gateway.database]
#user = "allot-gateway"
#password_file = ""
)";

constexpr std::string_view kExamplePlugin = R"(
# One section for each plugin with settings, whose keys the plugin defines.
#[plugins.NAME]
#key = "text, a number, true or false, or a list of these"
)";

void append_comment(std::string& out, std::string_view text) {
  while (text.size() > kColumns) {
    const std::size_t space = text.rfind(' ', kColumns);
    out.append("# ").append(text.substr(0, space)).append(1, '\n');
    text.remove_prefix(space + 1);
  }
  out.append("# ").append(text).append(1, '\n');
}

std::string sentence_with_range(const Row& row) {
  std::string text(row.sentence);
  if (row.range.empty()) return text;
  text.pop_back();  // the full stop
  text.append(" (").append(row.range).append(").");
  return text;
}

std::string table_of(std::string_view header) {
  std::string out = "\n### " + std::string(header) + "\n\n";
  out += "| key | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
  for (const Row& row : rows()) {
    if (row.header != header) continue;
    std::string type(name_of(row.kind));
    if (!row.unit.empty()) type.append(" (").append(row.unit).append(1, ')');
    out.append("| `").append(row.key).append("` | ").append(type);
    out.append(" | `").append(row.initial).append("` | ").append(row.range);
    out.append(row.range.empty() ? "" : " ").append("| ").append(row.sentence).append(" |\n");
  }
  return out;
}

}  // namespace

std::string example_file() {
  std::string out(kExampleHead);
  for (const Header& header : kHeaders) {
    out += '\n';
    if (!header.comment.empty()) append_comment(out, header.comment);
    out.append(header.line).append(1, '\n');
    for (const Row& row : rows()) {
      if (row.header != header.name) continue;
      append_comment(out, sentence_with_range(row));
      out.append(1, '#').append(row.key).append(" = ").append(row.initial).append(1, '\n');
    }
    if (header.name == Plugins::kHeader) out += kExamplePlugin;
    if (header.name == Gateway::kHeader) out += kExampleAccount;
  }
  return out;
}

std::string renewed_page(const std::string& page) {
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return {};
  }
  std::string out = page.substr(0, begin + kBegin.size());
  for (const Header& header : kHeaders) out += table_of(header.name);
  return out + '\n' + page.substr(end);
}

std::string settings_manual(const Edition& edition) {
  ManualPage page("allot.toml", 5, edition, "configuration of Allot");
  page.heading("DESCRIPTION");
  page.paragraph(
      "The file is TOML. It is looked for as --config FILE, $ALLOT_CONFIG, and "
      "/etc/allot/allot.toml; without one every key has its default. Durations have a unit: 300ms, "
      "30s, 5m, 1h. Relative paths begin at the file's folder. A key that is not known is an "
      "error. allotd reads the file when it starts and at HUP.");
  page.paragraph("allot check finds what is wrong with it; allot config shows what is in force.");
  for (const Header& header : kHeaders) {
    page.heading(header.name);
    if (!header.comment.empty()) page.paragraph(header.comment);
    for (const Row& row : rows()) {
      if (row.header != header.name) continue;
      page.term(std::string(row.key) + " = " + row.initial,
                std::string(name_of(row.kind)) +
                    (row.unit.empty() ? "" : " (" + std::string(row.unit) + ")") + ". " +
                    sentence_with_range(row));
    }
  }
  page.paragraph(
      "[gateway.database] has the database account of the gateway. It has the keys of [database]; "
      "a missing key, except the account, has the value given there.");
  page.paragraph("[plugins.NAME] has the settings of one plugin, whose keys the plugin defines.");
  page.heading("FILES").term("/etc/allot/allot.toml", "The configuration.");
  page.heading("SEE ALSO").paragraph("allot(1), allotd(8)");
  return page.text();
}

}  // namespace allot::config
