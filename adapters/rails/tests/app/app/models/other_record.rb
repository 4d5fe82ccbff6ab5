# SPDX-License-Identifier: Apache-2.0
# Another connection to the same server, whose rows stay when the transaction of a job is rolled back.
class OtherRecord < ActiveRecord::Base
  self.abstract_class = true
  connects_to database: { writing: :other, reading: :other }
end
