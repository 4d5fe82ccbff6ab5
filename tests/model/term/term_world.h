// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "model/walk.h"

// A model of the writer's term (S52, S53): two servers, of which one replicates from the other
// until a failover, and two hosts, each with its memory, a steward, and a persistent session: of a
// worker, or of a client, which never records the server. One-shot programs and plain SQL have no
// state: their possible actions are checked in each state. Uses the same walk as the lease
// protocol.
namespace allot::model::term {

using Byte = std::uint8_t;

// Rules that a scenario may remove, one at a time.
enum class Mutation : Byte {
  kNone,
  kHighest,        // S52: a server with a lower term than the highest is used
  kMemory,         // S52: a host remembers nothing
  kEqual,          // S52: of two servers with equal terms the first one is used
  kConfirm,        // S52: a steward does not raise the term of a promoted server
  kMark,           // S53: a superseded server is not marked
  kMarkIsNotRead,  // S53: a host does not learn a term from a mark
  kMarkAsSeen,     // S53: a mark is written without asking for the server's own term again
  kClear,          // S53: a server that is promoted again keeps its mark
  kPromoteByOne,   // S52: a promotion exceeds a known term by no more than a failover does
};

struct Scenario {
  const char* name = "";
  Byte faults = 1;  // a server dies or freezes
  Byte failovers = 1;
  Byte attaches = 0;  // the operator makes the former primary a replica, in place
  Byte promotes = 0;  // allot promote
  Byte cuts = 0;      // a host cannot reach a server
  Byte reboots = 0;   // a host forgets everything
  // Limits, see README.md.
  bool promoted_unaware = false;     // allot promote on a host that has not seen the highest term
  bool replica_is_writable = false;  // by mistake
  bool notes_in_sql = false;         // a lock in plain SQL is taken on a server that takes writes
  bool equal_needs_both = false;  // equal terms are refused also where one server gives no answer
  bool unseen_reign = false;      // a writer is replaced before a worker or steward has used it
  Mutation without = Mutation::kNone;
};

enum class Broken : Byte {
  kNothing,
  kLowerTerm,
  kWrongServer,
  kOutranked,
  kMarkedIsUsed,
  kWriterIsMarked,
  kStillOpen,
  kNotTheWriter,
  kEqualIsUsed,
};

enum class Health : Byte { kUp, kFrozen, kDead };

struct Server {
  Health health;
  Byte writable;
  Byte attached;  // replicates from the other one
  Byte term;
  Byte named;  // by server_identity
  Byte mark;   // queue.superseded_by; 0: none
};

// Answers to a steward, on which it acts at any later time.
struct Look {
  Byte there;
  Byte highest;
  Byte term[2];  // 0: not connected
  Byte mark[2];
};

struct Host {
  Byte memory;  // the highest term that it has seen
  Byte cut[2];
  Byte session;  // its server + 1; 0: none
  Byte noted;    // it has recorded which server it is
  Look look;
};

struct State {
  Server servers[2];
  Host hosts[2];
  Byte writer;  // the server that was promoted last
  Byte met;     // since then, a worker or a steward has used it
  // Events so far.
  Byte faults;
  Byte failovers;
  Byte attaches;
  Byte promotes;
  Byte cuts;
  Byte reboots;
  Byte broken;
};

struct Step {
  const char* what = "";
  int host = -1;    // -1: none
  int server = -1;  // -1: none
  bool fault = false;
};

struct Move {
  Step step;
  State after;
};

class World {
 public:
  using State = term::State;
  using Step = term::Step;
  using Move = term::Move;

  explicit World(const Scenario& scenario) : scenario_(scenario) {}
  [[nodiscard]] State first() const;
  void moves(const State& state, std::vector<Move>& out) const;
  bool make_canonical(State& state) const;
  [[nodiscard]] bool ended(const State& state) const;
  [[nodiscard]] std::string line(const Step& step, bool swapped) const;

 private:
  [[nodiscard]] bool without(Mutation rule) const { return scenario_.without == rule; }
  [[nodiscard]] Byte highest(const Host& host, Byte answered) const;
  [[nodiscard]] Look ask(const State& state, Host& host) const;
  [[nodiscard]] int chosen(const Look& look) const;
  [[nodiscard]] int connect(const State& state, Host& host) const;
  [[nodiscard]] bool look_of_session(const State& state, Host& host, int server) const;
  bool note(State& state, int server) const;
  void clear(State& state, int server) const;
  void note_change(State& state, Host& host, int server) const;
  void mark(State& state, int server, Byte term) const;
  void confirm(State& state, Host& host, int server, bool marked) const;
  void act(State& state, Host& host) const;
  void promote(State& state, Host& host, int server) const;
  void check(State& state) const;
  void check_new_connection(State& state, int who) const;
  void check_after_looks(State& state) const;
  void steward_moves(const State& state, int who, std::vector<Move>& out) const;
  void session_moves(const State& state, int who, std::vector<Move>& out) const;
  void operator_moves(const State& state, std::vector<Move>& out) const;
  void fault_moves(const State& state, std::vector<Move>& out) const;
  void cut_moves(const State& state, std::vector<Move>& out) const;

  Scenario scenario_;
};

const char* name_of(Broken broken);

}  // namespace allot::model::term
