/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin in C11, over the bare ABI. Its state is the number of tasks that it ran; the payload
 * says how it ends, well-behaved or not. */
#include <allot/plugin.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

static int32_t create(const allot_pair* config, size_t config_count, void** self,
                      allot_text* error) {
  unsigned* runs = calloc(1, sizeof(*runs));
  (void)config;
  (void)config_count;
  (void)error;
  *self = runs;
  return runs == NULL ? 1 : 0;
}

static int says(const allot_task* task, const char* word) {
  return task->payload.size == strlen(word) &&
         memcmp(task->payload.data, word, task->payload.size) == 0;
}

static void run(void* self, const allot_task* task, const allot_host* host,
                allot_outcome* outcome) {
  unsigned* runs = self;
  ++*runs;
  host->heartbeat(host->context);
  if (says(task, "unknown")) {
    outcome->kind = 99;
  } else if (task->payload.size == 1) {
    outcome->kind = task->payload.data[0] - '0';
  } else if (says(task, "greedy")) {
    /* Claims to have written more than there was room for. */
    memset(outcome->reason.data, 'g', outcome->reason.capacity);
    outcome->reason.size = SIZE_MAX;
    outcome->kind = ALLOT_FAIL;
  } else if (says(task, "negative delay")) {
    outcome->kind = ALLOT_RETRY;
    outcome->delay_ms = -1000;
  } else if (says(task, "endless delay")) {
    outcome->kind = ALLOT_RETRY;
    outcome->delay_ms = INT64_MAX;
  } else if (says(task, "count")) {
    const int size = snprintf(outcome->reason.data, outcome->reason.capacity,
                              "run %u of attempt %" PRIu32, *runs, task->attempt);
    outcome->reason.size = (size_t)size;
    outcome->kind = ALLOT_FAIL;
  } else if (says(task, "submit")) {
    /* Its reason is what the host answers. */
    const allot_submission one = {.struct_size = sizeof one, .type = TEXT("test.c")};
    const allot_submission* const list[] = {&one};
    allot_result result = {.struct_size = sizeof result, .error = outcome->reason};
    if (host->submit(host->context, list, 1, NULL, NULL, &result) != ALLOT_OK) {
      outcome->kind = ALLOT_FAIL;
    }
    outcome->reason.size = result.error.size;
  }
  /* Anything else: what the host set, a success. */
}

/* Each as run ends it. The first payload may say that the call says nothing. */
static int32_t run_many(void* self, const allot_task* const* tasks, const allot_host* const* hosts,
                        size_t count, allot_outcome* const* outcomes, allot_text* error) {
  if (says(tasks[0], "say nothing")) {
    error->size = (size_t)snprintf(error->data, error->capacity, "nothing of %zu", count);
    return 7;
  }
  if (says(tasks[0], "say too much")) {
    memset(error->data, 'e', error->capacity);
    error->size = SIZE_MAX;
    return -1;
  }
  for (size_t i = 0; i < count; ++i) run(self, tasks[i], hosts[i], outcomes[i]);
  return 0;
}

static const allot_handler kHandler = {.struct_size = sizeof(allot_handler),
                                       .type = TEXT("test.c"),
                                       .summary = TEXT("ends as its payload says"),
                                       .create = create,
                                       .run = run,
                                       .max_batch = 4,
                                       .run_many = run_many,
                                       .destroy = free};

static const allot_handler* const kHandlers[] = {&kHandler};

static const allot_plugin kPlugin = {.magic = ALLOT_PLUGIN_MAGIC,
                                     .abi_version = ALLOT_ABI_VERSION,
                                     .struct_size = sizeof(allot_plugin),
                                     .name = TEXT("c"),
                                     .version = TEXT("1.0"),
                                     .handlers = kHandlers,
                                     .handler_count = 1};

const allot_plugin* allot_plugin_describe(void) {
  return &kPlugin;
}
