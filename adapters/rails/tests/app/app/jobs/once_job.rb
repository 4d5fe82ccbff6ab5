# SPDX-License-Identifier: Apache-2.0
class OnceJob < NoteJob
  def allot_options = { unique_key: arguments.first, unique_for: '0s' }
end
