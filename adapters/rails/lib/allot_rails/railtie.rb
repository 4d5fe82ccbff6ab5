# SPDX-License-Identifier: Apache-2.0
require 'rails/railtie'
require 'active_job/railtie' # an application that was made without it has it by this gem

module AllotRails
  # Reads `config.allot`.
  class Railtie < ::Rails::Railtie
    config.allot = ActiveSupport::OrderedOptions.new

    initializer 'allot.settings', before: 'active_job.set_configs' do |app|
      name = app.class.name.to_s.deconstantize.underscore.tr('/', '.')
      AllotRails.settings = Settings.new({ application: name.presence }.compact.merge(app.config.allot))
    end
  end
end
