// SPDX-License-Identifier: Apache-2.0
// /ui/tasks/{id}/again: submits a task again with an edited payload.
#include <nlohmann/json.hpp>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

enum AgainAt : std::size_t { kAgainTask, kAgainPayload };

const json& task_in(const View& view) {
  return view.documents[kAgainTask].body();
}

}  // namespace

std::string edit_refusal(const std::string& payload) {
  if (payload.size() > kMostPayload) return "The payload has more than 64 KiB.";
  if (payload.starts_with(api::kSignedPayload)) {
    return "The payload is signed by its application, which would refuse any other: submit the "
           "task there.";
  }
  // A document has U+FFFD for bytes that are not UTF-8.
  if (!is_shown_whole(payload) || payload.find(kReplacement) != std::string::npos) {
    return "The payload is not plain text, so a form would change it. Download it, edit it, and "
           "submit it with the command line.";
  }
  return {};
}

bool may_submit_again(const Visit& visit, const std::string& queue) {
  return visit.may_operate(queue) && visit.caller.may(access::Role::kSubmit, queue);
}

std::vector<ApiRequest> again_requests(const Visit& visit) {
  const std::string path = "/api/v1/tasks/" + api::escaped(visit.at("id"));
  return {{path}, {path + "/payload"}};
}

std::string again_refusal(const View& view) {
  const std::string queue = text_of(task_in(view), "queue");
  if (!may_submit_again(view.visit, queue)) {
    return "This needs the roles operate and submit for queue " + queue + ".";
  }
  return edit_refusal(view.documents[kAgainPayload].raw());
}

std::string again_command(const View& view) {
  const json& task = task_in(view);
  return "allot task show " + shell_word(view.visit.at("id")) +
         " --payload >payload && editor payload && allot submit " +
         shell_word(text_of(task, "queue")) + " " + shell_word(text_of(task, "type")) +
         " --file payload";
}

void write_again_fields(const View& view, Html& html) {
  const json& task = task_in(view);
  html.in("dl", {{"class", "figures"}}, [&] {
    write_fact(html, "Queue", text_of(task, "queue"));
    write_fact(html, "Type", text_of(task, "type"));
    write_fact(html, "Unique key of the first task, not used again", text_of(task, "unique_key"));
  });
  html.in("label", [&] {
    html.text("Payload");
    // The parser drops one line break at the begin.
    html.leaf(
        "textarea",
        {{"name", "payload"}, {"rows", "16"}, {"spellcheck", "false"}, {"autocomplete", "off"}},
        "\n" + view.documents[kAgainPayload].raw());
  });
  html.in("label", [&] {
    html.text("Partition key (only for an ordered, limited or fair queue)");
    html.empty("input", {{"name", "partition_key"},
                         {"type", "text"},
                         {"maxlength", "255"},
                         {"autocomplete", "off"}});
  });
}

}  // namespace allot::gateway::ui
