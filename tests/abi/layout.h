/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of ABI 1, frozen: for C and C++. A row here is never changed; a new version adds
 * rows for what it appended (plugin-api/ABI.md). */
#ifndef ALLOT_TESTS_ABI_LAYOUT_H
#define ALLOT_TESTS_ABI_LAYOUT_H

#include <allot/plugin.h>
#include <assert.h>

#define ALLOT_AT(type, field, offset) \
  static_assert(offsetof(type, field) == (offset), #type "." #field " has moved")
/* Nothing is appended without a new number. */
#define ALLOT_SIZE_V1(type, size)                                                           \
  static_assert(sizeof(type) == (size) || (ALLOT_ABI_VERSION > 1 && sizeof(type) > (size)), \
                #type " has another size")

static_assert(sizeof(void*) == 8 && sizeof(size_t) == 8, "the table is for a 64 bit platform");

static_assert(ALLOT_PLUGIN_MAGIC == 0x31544c41, "magic");
static_assert(ALLOT_ABI_VERSION >= 1, "version");
static_assert(ALLOT_SUCCESS == 0 && ALLOT_RETRY == 1 && ALLOT_FAIL == 2, "outcomes");
static_assert(ALLOT_SNOOZE == 3 && ALLOT_RELEASE == 4 && ALLOT_EXCEPTION == 5 &&
                  ALLOT_NOT_STARTED == 6,
              "outcomes");
static_assert(ALLOT_LOG_DEBUG == 0 && ALLOT_LOG_INFO == 1, "log levels");
static_assert(ALLOT_LOG_WARN == 2 && ALLOT_LOG_ERROR == 3, "log levels");
static_assert(ALLOT_DELAY_BY_POLICY == -1, "delay");
static_assert(ALLOT_OK == 0 && ALLOT_LEASE_LOST == 1 && ALLOT_BAD_INPUT == 2, "codes");
static_assert(ALLOT_DATABASE_ERROR == 3 && ALLOT_TRANSACTION_LOST == 4, "codes");
static_assert(ALLOT_OUTCOME_UNKNOWN == 5 && ALLOT_DEFAULT_PRIO == 1, "codes");
static_assert(ALLOT_NULL == 0 && ALLOT_INT == 1 && ALLOT_UINT == 2, "kinds of values");
static_assert(ALLOT_DOUBLE == 3 && ALLOT_TEXT == 4 && ALLOT_BYTES == 5, "kinds of values");

/* Passed by value or in arrays: these never grow. */
ALLOT_AT(allot_str, data, 0);
ALLOT_AT(allot_str, size, 8);
static_assert(sizeof(allot_str) == 16, "allot_str");
ALLOT_AT(allot_pair, key, 0);
ALLOT_AT(allot_pair, value, 16);
static_assert(sizeof(allot_pair) == 32, "allot_pair");
ALLOT_AT(allot_text, data, 0);
ALLOT_AT(allot_text, capacity, 8);
ALLOT_AT(allot_text, size, 16);
static_assert(sizeof(allot_text) == 24, "allot_text");
ALLOT_AT(allot_value, kind, 0);
ALLOT_AT(allot_value, int_value, 8);
ALLOT_AT(allot_value, uint_value, 16);
ALLOT_AT(allot_value, double_value, 24);
ALLOT_AT(allot_value, text, 32);
static_assert(sizeof(allot_value) == 48, "allot_value");

/* These grow at their ends. */
ALLOT_AT(allot_task, struct_size, 0);
ALLOT_AT(allot_task, id, 8);
ALLOT_AT(allot_task, queue, 24);
ALLOT_AT(allot_task, type, 40);
ALLOT_AT(allot_task, payload, 56);
ALLOT_AT(allot_task, attempt, 72);
ALLOT_AT(allot_task, max_attempts, 76);
ALLOT_AT(allot_task, soft_deadline_ns, 80);
ALLOT_AT(allot_task, traceparent, 88);
ALLOT_AT(allot_task, tracestate, 104);
ALLOT_SIZE_V1(allot_task, 120);

ALLOT_AT(allot_result, struct_size, 0);
ALLOT_AT(allot_result, affected, 8);
ALLOT_AT(allot_result, insert_id, 16);
ALLOT_AT(allot_result, error_number, 24);
ALLOT_AT(allot_result, error, 32);
ALLOT_SIZE_V1(allot_result, 56);

ALLOT_AT(allot_submission, struct_size, 0);
ALLOT_AT(allot_submission, queue, 8);
ALLOT_AT(allot_submission, type, 24);
ALLOT_AT(allot_submission, payload, 40);
ALLOT_AT(allot_submission, prio, 56);
ALLOT_AT(allot_submission, delay_us, 64);
ALLOT_AT(allot_submission, run_at_us, 72);
ALLOT_AT(allot_submission, unique_key, 80);
ALLOT_AT(allot_submission, unique_for_us, 96);
ALLOT_AT(allot_submission, partition_key, 104);
ALLOT_AT(allot_submission, expires_in_us, 120);
ALLOT_AT(allot_submission, expires_at_us, 128);
ALLOT_AT(allot_submission, max_attempts, 136);
ALLOT_AT(allot_submission, traceparent, 144);
ALLOT_AT(allot_submission, tracestate, 160);
ALLOT_AT(allot_submission, time_limit_ms, 176);
ALLOT_SIZE_V1(allot_submission, 184);

ALLOT_AT(allot_host, struct_size, 0);
ALLOT_AT(allot_host, context, 8);
ALLOT_AT(allot_host, log, 16);
ALLOT_AT(allot_host, stop_requested, 24);
ALLOT_AT(allot_host, heartbeat, 32);
ALLOT_AT(allot_host, checkpoint, 40);
ALLOT_AT(allot_host, submit, 48);
ALLOT_AT(allot_host, replace_with, 56);
ALLOT_AT(allot_host, execute, 64);
ALLOT_AT(allot_host, stop_reason, 72);
ALLOT_AT(allot_host, progress, 80);
ALLOT_SIZE_V1(allot_host, 88);

ALLOT_AT(allot_outcome, struct_size, 0);
ALLOT_AT(allot_outcome, kind, 8);
ALLOT_AT(allot_outcome, delay_ms, 16);
ALLOT_AT(allot_outcome, reason, 24);
ALLOT_AT(allot_outcome, detail, 48);
ALLOT_SIZE_V1(allot_outcome, 72);

ALLOT_AT(allot_handler, struct_size, 0);
ALLOT_AT(allot_handler, type, 8);
ALLOT_AT(allot_handler, summary, 24);
ALLOT_AT(allot_handler, create, 40);
ALLOT_AT(allot_handler, run, 48);
ALLOT_AT(allot_handler, destroy, 56);
ALLOT_AT(allot_handler, types, 64);
ALLOT_AT(allot_handler, progress_every_ms, 72);
ALLOT_AT(allot_handler, concurrent, 80);
ALLOT_AT(allot_handler, max_batch, 88);
ALLOT_AT(allot_handler, run_many, 96);
ALLOT_AT(allot_handler, begin_thread, 104);
ALLOT_SIZE_V1(allot_handler, 112);

ALLOT_AT(allot_plugin, magic, 0);
ALLOT_AT(allot_plugin, abi_version, 4);
ALLOT_AT(allot_plugin, struct_size, 8);
ALLOT_AT(allot_plugin, name, 16);
ALLOT_AT(allot_plugin, version, 32);
ALLOT_AT(allot_plugin, handlers, 48);
ALLOT_AT(allot_plugin, handler_count, 56);
ALLOT_SIZE_V1(allot_plugin, 64);

#endif
