# SPDX-License-Identifier: Apache-2.0
class Order < ApplicationRecord
end
