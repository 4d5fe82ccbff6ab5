# SPDX-License-Identifier: Apache-2.0
class OrderMailer < ActionMailer::Base
  def shipped(name)
    Seen.create!(job: name, what: 'mailed', detail: '', executions: 0, task: '', pid: Process.pid)
    mail(to: 'ada@example.org', from: 'shop@example.org', subject: 'Shipped', body: name)
  end
end
