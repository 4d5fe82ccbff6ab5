/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI of Allot. C11 and C++. Most plugins are written with the C++ SDK over
 * it (allot/plugin.hpp); this header is what both sides agree on.
 *
 * Conventions
 *  1. A plugin is a shared object that exports one symbol, allot_plugin_describe. It returns a
 *     description that is constant for the life of the process, and does nothing else: no file, no
 *     thread, no output. It is also called when a plugin is only looked at.
 *  2. Strings are allot_str: pointer and size, UTF-8 unless said otherwise, not NUL-terminated.
 *     An argument is valid until the function returns; the function copies what it wants to keep.
 *     Strings of the description live as long as the process.
 *  3. Ownership never crosses: each side frees what it allocated. Texts for the host go into
 *     buffers that the host provides (allot_text), and are cut to their capacity.
 *  4. No exception, longjmp or signal handler crosses the border, in either direction.
 *  5. Threads: create, run, run_many and destroy are called one at a time, of all handlers, and run
 *     and run_many by one thread. Only a handler that sets `concurrent` may be called otherwise:
 *     its run by several threads at once, where the configuration wants that. The functions of
 *     allot_host may be called from any thread, but only during the call that got them.
 *  6. Every struct that may grow carries its struct_size, set by the side that fills it. Fields are
 *     only appended; a reader looks at a field only when struct_size covers it. ABI.md holds the
 *     dated list of changes.
 *  7. Plugins are never unloaded. A new version is installed by rename, never by writing into the
 *     file, and takes effect with new workers (HUP).
 */
#ifndef ALLOT_PLUGIN_H
#define ALLOT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALLOT_PLUGIN_MAGIC UINT32_C(0x31544c41) /* "ALT1" */
#define ALLOT_ABI_VERSION UINT32_C(1)
#define ALLOT_DESCRIBE_SYMBOL "allot_plugin_describe"

#if defined(__GNUC__)
#define ALLOT_EXPORT __attribute__((visibility("default"), used))
#else
#define ALLOT_EXPORT
#endif

typedef struct allot_str {
  const char* data;
  size_t size;
} allot_str;

/* One key of the plugin's section of the configuration, value as text. A list is one pair for each
 * element, in order. A key of a section inside has the names of both, as TOML joins them:
 * deeper.key, and "with.dot".key. */
typedef struct allot_pair {
  allot_str key;
  allot_str value;
} allot_pair;

/* A buffer of the host for a text of the plugin. Write up to capacity bytes to data, then size. */
typedef struct allot_text {
  char* data;
  size_t capacity;
  size_t size;
} allot_text;

typedef struct allot_task {
  size_t struct_size;
  allot_str id; /* public id, one short word */
  allot_str queue;
  allot_str type;
  allot_str payload; /* opaque bytes */
  uint32_t attempt;  /* number of this attempt, from 1 */
  uint32_t max_attempts;
  uint64_t soft_deadline_ns; /* CLOCK_BOOTTIME: stop_requested is true from then on; 0: no limit */
  /* The trace of the task, as W3C Trace Context writes it and its submitter gave it; data is NULL
   * where there is none. Pass both on to the services that the handler calls. */
  allot_str traceparent;
  allot_str tracestate;
} allot_task;

enum { ALLOT_LOG_DEBUG = 0, ALLOT_LOG_INFO = 1, ALLOT_LOG_WARN = 2, ALLOT_LOG_ERROR = 3 };

/* What came of a call of the host that writes. */
enum {
  ALLOT_OK = 0,
  /* The task is somebody else's by now, or may be: nothing was written, and nothing that this run
   * writes will be. End soon, with whatever outcome. */
  ALLOT_LEASE_LOST = 1,
  ALLOT_BAD_INPUT = 2, /* an argument is not allowed, or not now: nothing was sent */
  /* The database refused this statement, and only this: error_number is its number. */
  ALLOT_DATABASE_ERROR = 3,
  /* The transaction of this run was rolled back (a deadlock, a lost connection): whatever the
   * outcome says, the task is not acknowledged, and runs again. */
  ALLOT_TRANSACTION_LOST = 4,
  /* The reply to a submission was lost: the tasks exist all, or none of them. */
  ALLOT_OUTCOME_UNKNOWN = 5
};

/* Filled in by the host; struct_size and the buffer of error by the plugin. */
typedef struct allot_result {
  size_t struct_size;
  uint64_t affected;     /* of execute: rows that were matched, inserted or deleted */
  uint64_t insert_id;    /* of execute: the value of an AUTO_INCREMENT column */
  uint32_t error_number; /* of the database; 0: the error is not the database's */
  allot_text error;      /* what is wrong, where, and how to fix it: one line for people */
} allot_result;

/* A task to be submitted. Given by pointers, as it may grow. */
typedef struct allot_submission {
  size_t struct_size;
  allot_str queue; /* empty: the queue of the running task */
  allot_str type;
  allot_str payload;
  uint32_t prio; /* its class, 0 (first) to 3; usually ALLOT_DEFAULT_PRIO */
  /* What follows is none of it where it is 0, or data is NULL. Times are microseconds, moments
   * those since 1970. What they mean stands in docs/cli.md, under the same names. */
  int64_t delay_us;
  int64_t run_at_us;
  allot_str unique_key;
  int64_t unique_for_us; /* 0: 5 minutes; less: free at once */
  allot_str partition_key;
  int64_t expires_in_us;
  int64_t expires_at_us;
  /* Without a valid traceparent the task is a child of the running one in the trace of that, if it
   * has one. */
  uint32_t max_attempts; /* 1 to 100000; 0: as its type or queue says */
  allot_str traceparent;
  allot_str tracestate;
  /* Limit of each attempt, 1 s to 720 h; 0: as its type says. */
  int64_t time_limit_ms;
} allot_submission;

#define ALLOT_DEFAULT_PRIO UINT32_C(1)

enum {
  ALLOT_NULL = 0,
  ALLOT_INT = 1,
  ALLOT_UINT = 2,
  ALLOT_DOUBLE = 3,
  ALLOT_TEXT = 4, /* UTF-8 */
  ALLOT_BYTES = 5
};

/* A value for a statement of SQL. Only the field of its kind is looked at. */
typedef struct allot_value {
  int32_t kind;
  int64_t int_value;
  uint64_t uint_value;
  double double_value;
  allot_str text; /* of ALLOT_TEXT and ALLOT_BYTES */
} allot_value;

/* Takes one row of a result, each field as text; data is NULL where it is NULL. */
typedef void (*allot_row_function)(void* context, const allot_str* fields, size_t count);

/* Takes one type, or one id, which it copies. */
typedef void (*allot_offer_function)(void* context, allot_str type);

/* Why a handler is asked to end soon. */
enum {
  ALLOT_STOP_NONE = 0,
  ALLOT_STOP_CANCELLED = 1,  /* someone asked for the end of the task: it will not run again */
  ALLOT_STOP_TIME_LIMIT = 2, /* the time of this attempt is nearly over */
  ALLOT_STOP_LEASE = 3,      /* the lease is in doubt: another worker may run the task soon */
  ALLOT_STOP_WORKER = 4      /* the worker leaves: the daemon stops, reloads or replaces it */
};

/* What a handler may ask of its worker while it runs. */
typedef struct allot_host {
  size_t struct_size;
  void* context;                                                /* first argument of all below */
  void (*log)(void* context, int32_t level, allot_str message); /* one line of the log */
  int32_t (*stop_requested)(void* context);                     /* not 0: end soon */
  void (*heartbeat)(void* context); /* "I make progress", see progress_every_ms */
  /* Each of the calls below returns ALLOT_OK or one of the other codes, and waits for the database,
   * but not for longer than the lease stands. */

  /* From now on the task has this payload: each further attempt starts from it. It is written when
   * the call returns. task->payload stays as it is. Not while a transaction is open. */
  int32_t (*checkpoint)(void* context, allot_str payload, allot_result* result);
  /* Submits all or none, at once, whatever becomes of this task: a repeated attempt submits again.
   * id, which may be NULL, is called for each of them, in their order. Not while a transaction is
   * open. */
  int32_t (*submit)(void* context, const allot_submission* const* tasks, size_t count,
                    allot_offer_function id, void* id_context, allot_result* result);
  /* These are submitted in the transaction that acknowledges this task, if run ends with success;
   * else never. May be called several times: they add up. */
  int32_t (*replace_with)(void* context, const allot_submission* const* tasks, size_t count,
                          allot_result* result);
  /* Executes one statement (SELECT, INSERT, UPDATE, DELETE, REPLACE, WITH, VALUES or CALL) in the
   * transaction that acknowledges this task, if run ends with success, and is rolled back
   * otherwise. A `?` in the statement stands for the next of the values. row may be NULL. */
  int32_t (*execute)(void* context, allot_str statement, const allot_value* values, size_t count,
                     allot_row_function row, void* row_context, allot_result* result);
  /* Why stop_requested is not 0, as ALLOT_STOP_...; the first of them that applies. */
  int32_t (*stop_reason)(void* context);
  /* How far the task is, in percent (more than 100 counts as 100), with a word of up to 47 bytes
   * for people, which may be empty. Costs no statement: shown by `allot top`, and of a detached
   * task also by `allot task show`, some seconds later. It counts as a heartbeat. */
  void (*progress)(void* context, uint32_t percent, allot_str word);
} allot_host;

enum {
  ALLOT_SUCCESS = 0,
  ALLOT_RETRY = 1,
  ALLOT_FAIL = 2,
  /* Neither of the next two charges an attempt. */
  ALLOT_SNOOZE = 3,    /* not now: again after delay_ms */
  ALLOT_RELEASE = 4,   /* given back: again at once, behind what is due already */
  ALLOT_EXCEPTION = 5, /* an exception ended the handler: a retry by policy, recorded as such */
  /* What does the work could not begin, which is not the task's fault: a retry that charges no
   * attempt, up to 100 times for one task. */
  ALLOT_NOT_STARTED = 6
};

#define ALLOT_DELAY_BY_POLICY INT64_C(-1)

/* The verdict on a task. Set by the host to success, no reason and delay by policy. */
typedef struct allot_outcome {
  size_t struct_size;
  int32_t kind;      /* ALLOT_SUCCESS, ALLOT_RETRY ... */
  int64_t delay_ms;  /* of a retry, a snooze or what did not start: the pause before it, or
                        ALLOT_DELAY_BY_POLICY */
  allot_text reason; /* of all but success, for people: what happened, in its first line, such as
                      * "exit code 1"; what follows only explains it */
  /* Of a failed attempt: the output or the stack trace of what failed. The last stack trace in it
   * says in the reason's place what happened, and where: errors are grouped by that. Where it has
   * none, its first line stands behind that of the reason, except of ALLOT_EXCEPTION. Where the
   * handler itself ended what ran (a timeout), the reason says why: write the output behind its
   * first line instead. */
  allot_text detail;
} allot_outcome;

/* A handler of one task type, or of those that the configuration names. */
typedef struct allot_handler {
  size_t struct_size;
  allot_str type;    /* 1 to 127 of A-Z a-z 0-9 . _ -; may be empty where types is set. Or a
                      * prefix, "mail.*": an exact type wins, then the longest prefix. */
  allot_str summary; /* one line for people; may be empty */
  /* Makes the handler's state from the configuration, once per worker; not at all where types
   * offers nothing. Not 0: failed, and why goes to error. May be NULL: no state. */
  int32_t (*create)(const allot_pair* config, size_t config_count, void** self, allot_text* error);
  /* Runs one task. Never NULL. */
  void (*run)(void* self, const allot_task* task, const allot_host* host, allot_outcome* outcome);
  /* Frees the state when the worker leaves in an orderly way. May be NULL. */
  void (*destroy)(void* self);
  /* The types that the configuration names: calls offer for each. Does nothing
   * else, as it is also called when a plugin is only looked at. Not 0: the configuration is wrong,
   * and why goes to error. May be NULL: type is the only one. */
  int32_t (*types)(const allot_pair* config, size_t config_count, allot_offer_function offer,
                   void* context, allot_text* error);
  /* Not 0: run promises to call heartbeat at least this often. When it does not,
   * its worker is killed and the attempt charged, long before the time limit of the task. Less than
   * a second is taken as a second. */
  uint64_t progress_every_ms;
  /* Not 0: run may be called by several threads at once, also with one self. */
  uint64_t concurrent;
  /* More than 1: run_many may be called in place of run, with 2 to `max_batch` tasks of one type
   * and queue, 64 at most; run still is for what comes alone. 0 and 1: never. */
  uint64_t max_batch;
  /* Runs `count` tasks in one call; tasks[i], hosts[i] and outcomes[i] belong together. Returns 0:
   * the outcomes say what became of each, as that of run does. Not 0: they say nothing of any, and
   * why goes to error; each task is then run by itself, with run. So it must have done nothing that
   * may not be done again. The time limit is that of the type, for the whole call, and a heartbeat
   * of any host counts for all; stop_requested is asked of each, as one of them may be cancelled.
   * checkpoint, replace_with and execute answer ALLOT_BAD_INPUT. Not NULL where max_batch is more
   * than 1. */
  int32_t (*run_many)(void* self, const allot_task* const* tasks, const allot_host* const* hosts,
                      size_t count, allot_outcome* const* outcomes, allot_text* error);
  /* Called once by each thread that may call run, before its first call and without a task: when
   * the worker starts. Concurrent handlers are called by all threads at once. May be NULL. */
  void (*begin_thread)(void* self);
} allot_handler;

typedef struct allot_plugin {
  uint32_t magic;       /* ALLOT_PLUGIN_MAGIC */
  uint32_t abi_version; /* the ALLOT_ABI_VERSION that it was compiled with */
  size_t struct_size;
  allot_str name;    /* its section in the configuration; empty: the name of its file */
  allot_str version; /* for people; may be empty */
  const allot_handler* const* handlers;
  size_t handler_count;
} allot_plugin;

typedef const allot_plugin* (*allot_describe_function)(void);

/* The one symbol that a plugin exports. */
ALLOT_EXPORT const allot_plugin* allot_plugin_describe(void);

#ifdef __cplusplus
}
#endif

#endif
