# SPDX-License-Identifier: Apache-2.0
class NoteJob < ApplicationJob
  def perform(_name, *) = note('ran', "#{I18n.locale} #{Time.zone&.name}")
end
