# SPDX-License-Identifier: Apache-2.0
# In place of bootsnap, which is not needed.
