/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI of Allot: the contract between a worker (the host) and a plugin. C11 and C++. Most
 * plugins use the C++ SDK on top of it (allot/plugin.hpp).
 *
 * Conventions
 *  1. A plugin is a shared object that exports one symbol, allot_plugin_describe. It returns a
 *     description that stays constant until the process ends, and has no side effects: no file, no
 *     thread, no output. It is also called when a plugin is only inspected.
 *  2. Strings are allot_str: pointer and size, UTF-8 unless said otherwise, not NUL-terminated.
 *     An argument is valid until the function returns; the function copies text that it keeps.
 *     Strings of the description are valid until the process ends.
 *  3. Ownership never crosses: each side frees its own memory. Texts for the host go into buffers
 *     that the host provides (allot_text), and are truncated to their capacity.
 *  4. No exception, longjmp or signal handler crosses the border, in either direction.
 *  5. Threads: create, run, run_many and destroy are called one at a time across all handlers; run
 *     and run_many are called by one thread. The only exception is a handler that sets
 *     `concurrent`: several threads may call its run at once if the configuration says so. Any
 *     thread may call the functions of allot_host, but only during the call that received them.
 *  6. Every struct that may grow carries its struct_size, set by the side that fills it. Fields are
 *     only appended; a field is read only if struct_size covers it. ABI.md lists the changes with
 *     their dates.
 *  7. Plugins are never unloaded. Install a new version by rename, never by writing into the file;
 *     it takes effect with new workers (HUP).
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

/* One key of the plugin's configuration section, with its value as text. A list is one pair per
 * element, in order. A key of a nested section has a joined name as in TOML: deeper.key, or
 * "with.dot".key. */
typedef struct allot_pair {
  allot_str key;
  allot_str value;
} allot_pair;

/* A host buffer for a text of the plugin. Write up to capacity bytes to data, then set size. */
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
  /* The task's trace in W3C Trace Context form, as submitted; data is NULL without a trace. Pass
   * both to the services that the handler calls. */
  allot_str traceparent;
  allot_str tracestate;
} allot_task;

enum { ALLOT_LOG_DEBUG = 0, ALLOT_LOG_INFO = 1, ALLOT_LOG_WARN = 2, ALLOT_LOG_ERROR = 3 };

/* Results of the host calls that write. */
enum {
  ALLOT_OK = 0,
  /* Another worker has the task, or may have it: nothing was written, and later writes of this run
   * are discarded too. End soon, with any outcome. */
  ALLOT_LEASE_LOST = 1,
  ALLOT_BAD_INPUT = 2, /* an argument is not allowed, or not at this time: nothing was sent */
  /* The database refused only this statement; error_number is the server's error number. */
  ALLOT_DATABASE_ERROR = 3,
  /* The transaction of this run was rolled back (deadlock, lost connection). The task is not
   * acknowledged whatever the outcome, and runs again. */
  ALLOT_TRANSACTION_LOST = 4,
  /* The reply to a submission was lost: either all tasks exist or none. */
  ALLOT_OUTCOME_UNKNOWN = 5
};

/* Filled in by the host. The plugin sets struct_size and provides the buffer of error. */
typedef struct allot_result {
  size_t struct_size;
  uint64_t affected;     /* execute: number of rows matched, inserted or deleted */
  uint64_t insert_id;    /* execute: value of the AUTO_INCREMENT column */
  uint32_t error_number; /* database error number; 0: not a database error */
  allot_text error;      /* one line: what is wrong, where, and how to fix it */
} allot_result;

/* A task to submit. Passed by pointer, because the struct may grow. */
typedef struct allot_submission {
  size_t struct_size;
  allot_str queue; /* empty: the queue of the running task */
  allot_str type;
  allot_str payload;
  uint32_t prio; /* priority class, 0 (first) to 3; usually ALLOT_DEFAULT_PRIO */
  /* A field below is unset if it is 0 or its data is NULL. Durations are microseconds; moments are
   * microseconds since 1970. docs/cli.md describes the fields under the same names. */
  int64_t delay_us;
  int64_t run_at_us;
  allot_str unique_key;
  int64_t unique_for_us; /* 0: 5 minutes; negative: free at once */
  allot_str partition_key;
  int64_t expires_in_us;
  int64_t expires_at_us;
  /* Without a valid traceparent, the task becomes a child of the running task in its trace, if
   * the running task has one. */
  uint32_t max_attempts; /* 1 to 100000; 0: set by its type or queue */
  allot_str traceparent;
  allot_str tracestate;
  /* Time limit of each attempt, 1 s to 720 h; 0: set by its type. */
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

/* A value for an SQL statement. Only the field that matches kind is read. */
typedef struct allot_value {
  int32_t kind;
  int64_t int_value;
  uint64_t uint_value;
  double double_value;
  allot_str text; /* for ALLOT_TEXT and ALLOT_BYTES */
} allot_value;

/* Receives one result row, each field as text; data is NULL for an SQL NULL. */
typedef void (*allot_row_function)(void* context, const allot_str* fields, size_t count);

/* Receives one type, or one id, and copies it. */
typedef void (*allot_offer_function)(void* context, allot_str type);

/* Why a handler is asked to end soon. */
enum {
  ALLOT_STOP_NONE = 0,
  ALLOT_STOP_CANCELLED = 1,  /* the task was cancelled: it will not run again */
  ALLOT_STOP_TIME_LIMIT = 2, /* the time limit of this attempt is near */
  ALLOT_STOP_LEASE = 3,      /* the lease is uncertain: another worker may run the task soon */
  ALLOT_STOP_WORKER = 4      /* the worker exits: the daemon stops, reloads or replaces it */
};

/* Functions of the worker that a handler may call while it runs. */
typedef struct allot_host {
  size_t struct_size;
  void* context; /* first argument of all functions */
  void (*log)(void* context, int32_t level, allot_str message); /* one line of the log */
  int32_t (*stop_requested)(void* context);                     /* not 0: end soon */
  void (*heartbeat)(void* context); /* "I make progress", see progress_every_ms */
  /* checkpoint, submit, replace_with and execute return ALLOT_OK or another code above. They wait
   * for the database, but not beyond the end of the lease. */

  /* Replaces the task's payload: each further attempt starts from this one. It is stored when the
   * call returns. task->payload does not change. Not allowed while a transaction is open. */
  int32_t (*checkpoint)(void* context, allot_str payload, allot_result* result);
  /* Submits all or none, at once, whatever the outcome of this task: a repeated attempt submits
   * again. id, which may be NULL, is called for each task, in order. Not allowed while a
   * transaction is open. */
  int32_t (*submit)(void* context, const allot_submission* const* tasks, size_t count,
                    allot_offer_function id, void* id_context, allot_result* result);
  /* Submits the tasks in the transaction that acknowledges this task, if run ends with success;
   * otherwise never. Tasks of several calls add up. */
  int32_t (*replace_with)(void* context, const allot_submission* const* tasks, size_t count,
                          allot_result* result);
  /* Executes one statement (SELECT, INSERT, UPDATE, DELETE, REPLACE, WITH, VALUES or CALL) in the
   * transaction that acknowledges this task if run ends with success, and that is rolled back
   * otherwise. Each `?` in the statement takes the next value. row may be NULL. */
  int32_t (*execute)(void* context, allot_str statement, const allot_value* values, size_t count,
                     allot_row_function row, void* row_context, allot_result* result);
  /* Reason why stop_requested is not 0: the first ALLOT_STOP_... code that applies. */
  int32_t (*stop_reason)(void* context);
  /* Reports progress in percent (more than 100 counts as 100), with a word of up to 47 bytes for
   * people, which may be empty. Executes no statement: `allot top` shows it, and for a detached
   * task also `allot task show`, some seconds later. Counts as a heartbeat. */
  void (*progress)(void* context, uint32_t percent, allot_str word);
} allot_host;

enum {
  ALLOT_SUCCESS = 0,
  ALLOT_RETRY = 1,
  ALLOT_FAIL = 2,
  /* Neither of the next two charges an attempt. */
  ALLOT_SNOOZE = 3,    /* not now: runs again after delay_ms */
  ALLOT_RELEASE = 4,   /* given back: runs again at once, behind the tasks already due */
  ALLOT_EXCEPTION = 5, /* an exception ended the handler: a retry by policy, recorded as such */
  /* The work could not start, through no fault of the task: a retry that charges no attempt, up to
   * 100 times for one task. */
  ALLOT_NOT_STARTED = 6
};

#define ALLOT_DELAY_BY_POLICY INT64_C(-1)

/* The verdict on a task. Set by the host to success, no reason and delay by policy. */
typedef struct allot_outcome {
  size_t struct_size;
  int32_t kind;      /* ALLOT_SUCCESS, ALLOT_RETRY ... */
  int64_t delay_ms;  /* for ALLOT_RETRY, ALLOT_SNOOZE and ALLOT_NOT_STARTED: delay before the next
                        attempt, or ALLOT_DELAY_BY_POLICY */
  allot_text reason; /* for all but success, for people: the first line says what happened, such as
                      * "exit code 1"; further lines only explain it */
  /* Output or stack trace of a failed attempt. Errors are grouped by the last stack trace in it,
   * which replaces the reason as the cause. Without a stack trace its first line is appended to
   * the first line of the reason, except for ALLOT_EXCEPTION. If the handler itself ended the work
   * (a timeout), the reason says why: write the output behind its first line instead. */
  allot_text detail;
} allot_outcome;

/* A handler of one task type, or of the types that the configuration names. */
typedef struct allot_handler {
  size_t struct_size;
  allot_str type;    /* 1 to 127 of A-Z a-z 0-9 . _ -; may be empty if types is set. Or a
                      * prefix, "mail.*": an exact type wins, then the longest prefix. */
  allot_str summary; /* one line for people; may be empty */
  /* Creates the handler's state from the configuration, once per worker; not called if types
   * offers nothing. Returns 0, or another value on failure, with the cause in error. NULL: the
   * handler has no state. */
  int32_t (*create)(const allot_pair* config, size_t config_count, void** self, allot_text* error);
  /* Runs one task. Never NULL. */
  void (*run)(void* self, const allot_task* task, const allot_host* host, allot_outcome* outcome);
  /* Frees the state on an orderly exit of the worker. May be NULL. */
  void (*destroy)(void* self);
  /* Calls offer for each type that the configuration names, and has no other effect, because it is
   * also called when a plugin is only inspected. Returns 0, or another value if the configuration
   * is wrong, with the cause in error. NULL: type is the only one. */
  int32_t (*types)(const allot_pair* config, size_t config_count, allot_offer_function offer,
                   void* context, allot_text* error);
  /* Not 0: run promises to call heartbeat at least this often. If it does not, the worker is
   * killed and the attempt charged, long before the task's time limit. Values below 1000 count as
   * 1000. */
  uint64_t progress_every_ms;
  /* Not 0: several threads may call run at once, also with the same self. */
  uint64_t concurrent;
  /* More than 1: run_many may be called instead of run, with 2 to `max_batch` tasks of one type
   * and queue, at most 64; a single task still goes to run. 0 and 1: never. */
  uint64_t max_batch;
  /* Runs `count` tasks in one call; tasks[i], hosts[i] and outcomes[i] belong together. Returns 0
   * if outcomes has the verdict on each task, as for run. Otherwise all outcomes are ignored, the
   * cause is in error, and each task then runs by itself, with run: return not 0 only if the work
   * so far may be repeated. The time limit of the type covers the whole call, and a heartbeat of
   * any host counts for all. Check stop_requested of each host, because a single task may be
   * cancelled. checkpoint, replace_with and execute return ALLOT_BAD_INPUT. Not NULL if max_batch
   * is more than 1. */
  int32_t (*run_many)(void* self, const allot_task* const* tasks, const allot_host* const* hosts,
                      size_t count, allot_outcome* const* outcomes, allot_text* error);
  /* Called once at worker start by each thread that may call run, without a task. All threads of
   * a concurrent handler call it at once. May be NULL. */
  void (*begin_thread)(void* self);
} allot_handler;

typedef struct allot_plugin {
  uint32_t magic;       /* ALLOT_PLUGIN_MAGIC */
  uint32_t abi_version; /* ALLOT_ABI_VERSION at compile time of the plugin */
  size_t struct_size;
  allot_str name;    /* name of its configuration section; empty: its file name */
  allot_str version; /* for people; may be empty */
  const allot_handler* const* handlers;
  size_t handler_count;
} allot_plugin;

typedef const allot_plugin* (*allot_describe_function)(void);

/* The only symbol that a plugin exports. */
ALLOT_EXPORT const allot_plugin* allot_plugin_describe(void);

#ifdef __cplusplus
}
#endif

#endif
