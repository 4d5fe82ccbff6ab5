// SPDX-License-Identifier: Apache-2.0
//
// A shared object that is not a plugin.
extern "C" __attribute__((visibility("default"))) int allot_test_not_a_plugin();

int allot_test_not_a_plugin() {
  return 0;
}
