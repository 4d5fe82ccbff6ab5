# SPDX-License-Identifier: Apache-2.0
# Records what happened to jobs.
class Seen < OtherRecord
  self.table_name = 'seen'
end
