# SPDX-License-Identifier: Apache-2.0
# What a Gemfile loads.
require 'allot_rails'
