// SPDX-License-Identifier: Apache-2.0
//
// Something that the SDK must not have: an inline variable that is visible.
inline int allot_test_unique = 0;
int* use() {
  return &allot_test_unique;
}
