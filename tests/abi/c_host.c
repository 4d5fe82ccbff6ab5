/* SPDX-License-Identifier: Apache-2.0
 *
 * A host in C11: what a program in another language than C++ would do with a plugin. */
#include "abi/c_host.h"

#include <string.h>

#include "abi/layout.h"

static allot_str text(const char* from) {
  const allot_str result = {from, strlen(from)};
  return result;
}

static void log_line(void* context, int32_t level, allot_str message) {
  struct c_host_result* result = context;
  const size_t room = sizeof(result->log) - 1;
  const size_t size = message.size < room ? message.size : room;
  (void)level;
  memcpy(result->log, message.data, size);
  result->log[size] = '\0';
}

static int32_t stop_requested(void* context) {
  (void)context;
  return 1;
}

static void heartbeat(void* context) {
  ++((struct c_host_result*)context)->beats;
}

int c_host_run(const allot_plugin* plugin, size_t index, const char* payload,
               struct c_host_result* result) {
  const allot_handler* handler = plugin->handlers[index];
  const allot_pair config = {text("word"), text("from C")};
  const allot_host host = {.struct_size = sizeof host,
                           .context = result,
                           .log = log_line,
                           .stop_requested = stop_requested,
                           .heartbeat = heartbeat};
  const allot_task task = {.struct_size = sizeof task,
                           .id = text("id-7"),
                           .queue = text("mail"),
                           .type = handler->type,
                           .payload = text(payload),
                           .attempt = 3,
                           .max_attempts = 5};
  allot_outcome outcome = {.struct_size = sizeof outcome,
                           .kind = ALLOT_SUCCESS,
                           .delay_ms = ALLOT_DELAY_BY_POLICY,
                           .reason = {result->reason, sizeof(result->reason) - 1, 0}};
  char why[64];
  allot_text error = {why, sizeof why, 0};
  void* self = NULL;

  memset(result, 0, sizeof *result);
  if (handler->create != NULL && handler->create(&config, 1, &self, &error) != 0) return 0;
  handler->run(self, &task, &host, &outcome);
  if (handler->destroy != NULL) handler->destroy(self);
  result->kind = outcome.kind;
  result->delay_ms = outcome.delay_ms;
  result->reason[outcome.reason.size] = '\0';
  return 1;
}
