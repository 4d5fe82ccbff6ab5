// SPDX-License-Identifier: Apache-2.0
// The SQL procedures, on a connection as an application opens one.
#include "contract/interface.h"
#include "support/db_error.h"

namespace allot::contract {
namespace {

std::string quoted(const std::string& bytes) {
  return db::Statement::quoted(bytes);
}

// SQL state of SIGNAL; another error does not come from the procedures.
constexpr unsigned kRefused = 1644;

class ProcedureInterface final : public Interface {
 public:
  explicit ProcedureInterface(World& world) : app_(world.connect()) {
    app_.execute(
        "SET SESSION sql_mode = DEFAULT, time_zone = DEFAULT, sql_safe_updates = DEFAULT"
        " /*M!110602 , innodb_snapshot_isolation = DEFAULT */;"
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  }

  [[nodiscard]] bool takes(const Task& task) const override {
    for (const auto& [name, value] : task.options) {
      if (!is_text(value)) return false;
    }
    return is_text(task.queue) && is_text(task.type);
  }
  [[nodiscard]] bool takes_many(const Task& task) const override {
    return takes(task) && is_text(task.payload);
  }

  Answer submit(const Task& task) override {
    const std::string options =
        task.options.empty() ? "NULL" : quoted(fields_of(task.options).dump());
    Answer answer =
        called("allot_submit(" + quoted(task.queue) + ", " + quoted(task.type) + ", _binary" +
               quoted(task.payload) + ", " + options + ", @id, @existed)");
    if (answer.kind == Kind::kDone) answer.add(variable("@id"), variable("@existed") == "1");
    return answer;
  }

  Answer submit_many(const std::vector<Task>& tasks) override {
    json list = json::array();
    for (const Task& each : tasks) list.push_back(document_of(each));
    Answer answer = called("allot_submit_many(" + quoted(list.dump()) + ", @made)");
    if (answer.kind != Kind::kDone) return answer;
    for (const json& each : json::parse(variable("@made"))) {
      answer.add(each.at("id"), each.at("existed"));
    }
    return answer;
  }

  Answer state(Text id) override { return word("allot_task(" + quoted(id) + ", @word)"); }

  Answer find(Text queue, Text unique_key) override {
    Answer answer =
        word("allot_find(" + quoted(queue) + ", " + quoted(unique_key) + ", @id, @word)");
    if (answer.kind == Kind::kDone) answer.add(variable("@id"), true);
    return answer;
  }

  Answer cancel(Text id, Text reason, bool as_done) override {
    Answer answer = word(std::string(as_done ? "allot_cancel_as_done(" : "allot_cancel(") +
                         quoted(id) + ", " + quoted(reason) + ", @word)");
    if (answer.kind == Kind::kFailed) answer.word = "gone";
    if (answer.word == "dead" || answer.word == "conflict") answer.kind = Kind::kFailed;
    if (as_done && answer.kind == Kind::kDone && answer.word != "requested") {
      answer.word = answer.word == "done" ? "cancelled" : "not done: " + answer.word;
    }
    return answer;
  }

  Answer pause_schedule(Text name, Text reason) override {
    return word("allot_schedule_pause(" + quoted(name) + ", " + quoted(reason) + ", @word)");
  }
  Answer resume_schedule(Text name) override {
    return word("allot_schedule_resume(" + quoted(name) + ", @word)");
  }
  Answer run_schedule(Text name) override {
    Answer answer = word("allot_schedule_run(" + quoted(name) + ", @word)");
    if (answer.kind == Kind::kDone) answer.add(answer.word);
    return answer;
  }
  // It says by NULL that there is none.
  Answer remove_schedule(Text name) override {
    Answer answer = word("allot_schedule_remove(" + quoted(name) + ", @word)");
    if (answer.kind == Kind::kFailed) answer = {Kind::kBadInput, "schedule: there is none"};
    return answer;
  }

  Answer take_lock(Text name, Text slots, Text ttl) override {
    json options = json::object();
    if (!slots.empty()) options["slots"] = json::parse(slots);
    if (!ttl.empty()) options["ttl"] = ttl;
    Answer answer = word("allot_lock_take(" + quoted(name) + ", " +
                         (options.empty() ? "NULL" : quoted(options.dump())) + ", @word)");
    if (answer.kind == Kind::kDone) answer.number = std::stoull(answer.word);
    return answer;
  }
  Answer release_lock(Text name, std::uint64_t token) override {
    return called("allot_lock_release(" + quoted(name) + ", " + std::to_string(token) + ")");
  }

 private:
  template <typename Call>
  Answer refusal_of(Call&& call) {
    const auto error = support::db_error_of(call);
    if (!error) return {};
    return {error->number() == kRefused ? Kind::kBadInput : Kind::kOther, error->what()};
  }

  Answer called(const std::string& call) {
    return refusal_of([&] { app_.execute("CALL " + call); });
  }
  // "" for NULL.
  std::string variable(const std::string& name) {
    return support::value_of(app_, "SELECT COALESCE(" + name + ", '')");
  }

  // NULL is kFailed: there is nothing that it could say.
  Answer word(const std::string& call) {
    Answer answer = called(call);
    if (answer.kind != Kind::kDone) return answer;
    answer.word = variable("@word");
    if (answer.word.empty()) answer = {Kind::kFailed, "NULL"};
    return answer;
  }

  db::Connection app_;
};

}  // namespace

std::unique_ptr<Interface> open_procedure(World& world) {
  return std::make_unique<ProcedureInterface>(world);
}

}  // namespace allot::contract
