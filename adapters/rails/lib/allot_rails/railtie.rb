# SPDX-License-Identifier: Apache-2.0
require 'rails/railtie'

module AllotRails
  # Reads `config.allot`, and makes `config.active_job.queue_adapter = :allot` known.
  class Railtie < ::Rails::Railtie
    config.allot = ActiveSupport::OrderedOptions.new

    initializer 'allot.settings', before: 'active_job.set_configs' do |app|
      name = app.class.name.to_s.deconstantize.underscore.tr('/', '.')
      AllotRails.settings = Settings.new({ application: name.presence }.compact.merge(app.config.allot))
    end

    initializer 'allot.adapter', before: 'active_job.set_configs' do
      ActiveSupport.on_load(:active_job) { require 'active_job/queue_adapters/allot_adapter' }
    end
  end
end
