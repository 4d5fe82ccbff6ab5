# SPDX-License-Identifier: Apache-2.0
class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true
end
ActiveRecord::Base.connects_to database: { writing: :primary, reading: :reader }
