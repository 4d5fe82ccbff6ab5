// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/far.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/remote/address.h"
#include "cli/sources/queues.h"
#include "cli/words/confirm.h"
#include "json/view_reader.h"
#include "queue/model/task.h"

namespace allot::cli::far {
namespace {

using nlohmann::json;

constexpr std::uint32_t kPage = 1000;  // maximum of the API

std::string with(const std::string& path, const char* name, const std::string& value) {
  return path + (path.find('?') == std::string::npos ? "?" : "&") + name + "=" +
         remote::escaped(value);
}

json send(const remote::Session& gateway, const std::string& method, const std::string& path,
          const json& options) {
  if (method == "POST") return gateway.post(path, options);
  if (method == "PUT") return gateway.put(path, options);
  std::string asked = path;
  for (const auto& [name, value] : options.items()) {
    asked = with(asked, name.c_str(), value.is_string() ? value.get<std::string>() : value.dump());
  }
  return gateway.remove(asked);
}

// Removes the part that is meant for programs.
std::string reason_of(const Error& refusal) {
  const std::string text = refusal.what();
  return text.substr(0, text.find("; say \"anyway\""));
}

}  // namespace

std::string queue_path(const std::string& name, const std::string& rest) {
  if (!queue::is_name(name)) unknown_queue(name, {});
  return "/queues/" + remote::escaped(name) + rest;
}

std::vector<json> items(const remote::Session& gateway, const std::string& path,
                        std::optional<std::uint32_t> most) {
  std::vector<json> all;
  std::string next;
  while (!most || all.size() < *most) {
    std::string page = path;
    if (most) {
      const auto left = *most - static_cast<std::uint32_t>(all.size());
      page = with(page, "limit", std::to_string(std::min(left, kPage)));
    }
    if (!next.empty()) page = with(page, "cursor", next);
    json answer = gateway.read(page);
    for (json& item : answer.at("items")) all.push_back(std::move(item));
    const auto at = answer.find("next");
    if (at == answer.end() || at->is_null()) break;
    next = at->get<std::string>();
  }
  return all;
}

std::vector<std::string> queue_names(const remote::Session& gateway, const std::string& name) {
  if (!name.empty()) return {name};
  std::vector<std::string> names;
  for (const json& queue : items(gateway, "/queues")) names.push_back(queue.at("name"));
  return names;
}

std::optional<queue::QueueInfo> find_queue(const remote::Session& gateway,
                                           const std::string& name) {
  try {
    for (const json& queue : items(gateway, "/queues")) {
      if (queue.at("name") == name) return as_json::queue_of(queue);
    }
  } catch (const remote::Refused& refused) {
    if (refused.status() != 403) throw;
  }
  return std::nullopt;
}

json change(const remote::Session& gateway, const std::string& method, const std::string& path,
            json options, const std::string& verb, bool yes) {
  try {
    return send(gateway, method, path, options);
  } catch (const remote::Refused& refused) {
    if (refused.status() != 409 || refused.field() != "anyway") throw;
    confirm(verb, reason_of(refused), yes);
  }
  options["anyway"] = true;
  return send(gateway, method, path, options);
}

}  // namespace allot::cli::far
