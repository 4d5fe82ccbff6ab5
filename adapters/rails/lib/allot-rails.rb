# SPDX-License-Identifier: Apache-2.0
# Loaded by a Gemfile.
require 'allot_rails'
