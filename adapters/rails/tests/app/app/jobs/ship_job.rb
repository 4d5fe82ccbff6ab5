# SPDX-License-Identifier: Apache-2.0
# A job with a model.
class ShipJob < ApplicationJob
  def perform(name, order) = note('ran', order.name, name)
end
