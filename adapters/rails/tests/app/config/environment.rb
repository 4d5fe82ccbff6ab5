# SPDX-License-Identifier: Apache-2.0
# A small application. It has no Gemfile, because its gems come from an unpacked Debian.
ENV['RAILS_ENV'] ||= 'production'
$LOAD_PATH.unshift File.expand_path('../../../lib', __dir__)
require 'rails'
require 'active_record/railtie'
require 'active_job/railtie'
require 'action_mailer/railtie'
require 'delayed_job_active_record' if ENV['APP_QUEUE'] == 'delayed_job'
require 'allot-rails'

module Shop
  class Application < Rails::Application
    work = ENV.fetch('APP_WORK')
    config.load_defaults Rails::VERSION::STRING[/\A\d+\.\d+/]
    config.root = File.expand_path('..', __dir__)
    config.paths['config/database'] = File.join(config.root, 'config/database.yml')
    config.paths['log'] = "#{work}/rails.log"
    config.paths['tmp'] = "#{work}/tmp"
    config.eager_load = true
    config.logger = ActiveSupport::TaggedLogging.new(Logger.new("#{work}/rails.log"))
    config.log_level = ENV.fetch('APP_LOG_LEVEL', 'info').to_sym
    config.secret_key_base = ENV.fetch('APP_SECRET', 'k' * 64)
    config.active_job.queue_adapter = ENV.fetch('APP_QUEUE', 'allot').to_sym
    config.i18n.available_locales = %i[en de]
    config.allot.crashes = ENV.fetch('APP_CRASHES', '2').to_i
    config.allot.start_seconds = 14
    config.action_mailer.delivery_method = :test
  end
end
Rails.application.initialize!
