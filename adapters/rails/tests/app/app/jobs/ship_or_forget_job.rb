# SPDX-License-Identifier: Apache-2.0
class ShipOrForgetJob < ShipJob
  discard_on ActiveJob::DeserializationError
end
