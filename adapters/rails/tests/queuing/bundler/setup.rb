# SPDX-License-Identifier: Apache-2.0
# In place of Bundler, for an application that has no Gemfile.
module Bundler
  def self.require(*) = nil
end
