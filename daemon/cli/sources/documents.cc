// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/documents.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/sources/context.h"
#include "cli/words/terminal.h"
#include "json/fields.h"
#include "operations/route.h"
#include "queue/model/task.h"

namespace allot::cli::documents {
namespace {

using nlohmann::json;

constexpr std::uint32_t kPage = 1000;  // maximum of the API

json send(const Operations& allot, const std::string& method, const std::string& path,
          const json& options) {
  if (method == "POST") return allot.post(path, options);
  if (method == "PUT") return allot.put(path, options);
  std::string asked = path;
  for (const auto& [name, value] : options.items()) {
    asked = with(asked, name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return allot.remove(asked);
}

// Removes the part that is meant for programs.
std::string reason_of(const Error& refusal) {
  const std::string text = refusal.what();
  return text.substr(0, text.find("; send \"confirm\""));
}

}  // namespace

std::string with(const std::string& path, const std::string& name, const std::string& value) {
  if (value.empty()) return path;
  return path + (path.find('?') == std::string::npos ? "?" : "&") + name + "=" +
         operations::escaped(value);
}

std::string queue_path(const std::string& name, const std::string& rest) {
  if (!queue::is_name(name)) unknown_queue(name, {});
  return "/queues/" + operations::escaped(name) + rest;
}

Page page(const Operations& allot, const std::string& path, const std::string& cursor,
          std::optional<std::uint32_t> most) {
  std::string asked = path;
  if (most) asked = with(asked, "limit", std::to_string(std::min(*most, kPage)));
  asked = with(asked, "cursor", cursor);
  const json answer = allot.read(asked);
  return {answer.at("items"), as_json::text_in(answer, "next")};
}

std::vector<json> items(const Operations& allot, const std::string& path,
                        std::optional<std::uint32_t> most) {
  std::vector<json> all;
  std::string next;
  while (!most || all.size() < *most) {
    const auto left = most ? std::optional(*most - static_cast<std::uint32_t>(all.size())) : most;
    Page got = page(allot, path, next, left);
    std::move(got.items.begin(), got.items.end(), std::back_inserter(all));
    next = std::move(got.next);
    if (next.empty()) break;
  }
  return all;
}

std::vector<std::string> queue_names(const Operations& allot, const std::string& name) {
  if (!name.empty()) return {name};
  std::vector<std::string> names;
  for (const json& queue : items(allot, "/queues")) names.push_back(queue.at("name"));
  return names;
}

json find_queue(const Operations& allot, const std::string& name) {
  try {
    for (const json& queue : items(allot, "/queues")) {
      if (queue.at("name") == name) return queue;
    }
  } catch (const operations::Refusal& refused) {
    if (refused.problem().status != 403) throw;
  }
  return nullptr;
}

json change(const Operations& allot, const std::string& method, const std::string& path,
            json options, const std::string& verb, bool yes) {
  try {
    return send(allot, method, path, options);
  } catch (const operations::Refusal& refused) {
    if (refused.problem().status != 409 || refused.problem().field != "confirm") throw;
    confirm(verb, reason_of(refused), yes);
  }
  options["confirm"] = true;
  return send(allot, method, path, options);
}

}  // namespace allot::cli::documents
