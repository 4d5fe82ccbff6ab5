/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ALLOT_TESTS_ABI_C_HOST_H
#define ALLOT_TESTS_ABI_C_HOST_H

#include <allot/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

struct c_host_result {
  int32_t kind;
  int64_t delay_ms;
  char reason[256]; /* ends with NUL */
  char log[256];    /* the last line */
  int beats;
};

/* Runs one task in handler number `index`, from its create to its destroy. 0: create failed. */
int c_host_run(const allot_plugin* plugin, size_t index, const char* payload,
               struct c_host_result* result);

#ifdef __cplusplus
}
#endif

#endif
