# SPDX-License-Identifier: Apache-2.0
class NoteJob < ApplicationJob
  def perform(_name, more = nil, *) = note('ran', "#{I18n.locale} #{Time.zone&.name}|#{more.to_s[0, 100]}")
end
