# SPDX-License-Identifier: Apache-2.0
# Notes which version of the application its process has loaded.
class VersionJob < ApplicationJob
  VERSION = File.exist?("#{ENV['APP_WORK']}/version") ? File.read("#{ENV['APP_WORK']}/version") : '0'

  def perform(name) = note('version', VERSION, name)
end
