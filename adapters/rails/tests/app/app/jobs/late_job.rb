# SPDX-License-Identifier: Apache-2.0
# Enqueued after the commit, as the framework offers it since 7.2.
class LateJob < NoteJob
  self.enqueue_after_transaction_commit = :always if respond_to?(:enqueue_after_transaction_commit=)
end
