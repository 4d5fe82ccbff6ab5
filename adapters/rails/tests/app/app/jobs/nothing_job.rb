# SPDX-License-Identifier: Apache-2.0
class NothingJob < ActiveJob::Base
  def perform; end
end
