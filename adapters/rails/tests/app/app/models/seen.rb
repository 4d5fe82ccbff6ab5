# SPDX-License-Identifier: Apache-2.0
# What happened to jobs.
class Seen < OtherRecord
  self.table_name = 'seen'
end
