# SPDX-License-Identifier: Apache-2.0
# Comes to an end whatever is killed around it.
class CountsJob < ApplicationJob
  retry_on StandardError, wait: 0, attempts: 50

  def perform(_name) = note('ran')
end
